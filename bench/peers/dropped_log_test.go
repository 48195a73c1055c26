package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	goleveldb "github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// droppedKeys is the number of keys in a batch that is larger than the write buffer.
const droppedKeys = 3000

// writeWithoutLog has goleveldb write a batch that goes directly into tables, and then more batches of one key
// each. goleveldb removes the log without writes that its MANIFEST names.
func writeWithoutLog(t *testing.T, more int) (dir string) {
	t.Helper()
	db, dir := openWithoutLog(t)
	var err error
	for i := range more {
		err = errors.Join(err, db.Put(fmt.Appendf(nil, "more%d", i), []byte("value"), nil))
	}
	noError(t, errors.Join(err, db.Close()))
	names, err := os.ReadDir(dir)
	noError(t, err)
	v, err := versions.Read(dir)
	noError(t, err)
	var all []string
	for _, n := range names {
		all = append(all, n.Name())
	}
	if live, missing := v.LiveLogs(all); len(live) != 1 || len(missing) != 1 {
		t.Fatalf("live logs %v, missing %v; want one of each", live, missing)
	}
	return dir
}

// openWithoutLog opens a database like writeWithoutLog.
func openWithoutLog(t *testing.T) (db *goleveldb.DB, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "db")
	db, err := goleveldb.OpenFile(dir, &opt.Options{WriteBuffer: 64 << 10})
	noError(t, err)
	b := new(goleveldb.Batch)
	for i := range droppedKeys {
		b.Put(fmt.Appendf(nil, "key%08d", i), make([]byte, 100))
	}
	noError(t, errors.Join(db.Write(b, nil), db.CompactRange(util.Range{})))
	return db, dir
}

// A running goleveldb has tables that the MANIFEST does not list yet, and two empty logs while it drops the older one.
// In a copy, the tables may have the writes of a lost log.
func TestGoleveldbDropsEmptyLogWhileItWrites(t *testing.T) {
	t.Parallel()
	sst := buildSST(t)
	db, dir := openWithoutLog(t)
	defer db.Close() // nothing was written since
	if versions.LockHolder(dir) == 0 {
		t.Skip("this system does not list locks")
	}
	for _, name := range []string{versions.TableName(1000), versions.LogName(1001)} {
		noError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	checkOpen(t, dir, droppedKeys, false)
	checkCommands(t, sst, dir, droppedKeys, false)
	checkOpen(t, copyOf(t, dir), droppedKeys, true)
}

// goleveldb removes a log without writes, but its MANIFEST still names it. Nothing is lost, unless the next log
// lacks its first writes.
func TestGoleveldbDropsEmptyLog(t *testing.T) {
	t.Parallel()
	sst := buildSST(t)
	for name, tt := range map[string]struct {
		more int  // writes in the next log
		gap  bool // the first of them is lost
	}{
		"the next log is empty":     {},
		"the next log has writes":   {more: 10},
		"the next log lacks writes": {more: 10, gap: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, n := writeWithoutLog(t, tt.more), droppedKeys+tt.more
			if tt.gap {
				n--
				change(t, newest(t, dir, "*.log"), func(log []byte) []byte { return log[len(log)/tt.more:] })
			}
			checkOpen(t, dir, n, tt.gap)
			checkCommands(t, sst, dir, n, tt.gap)
		})
	}
}

// checkOpen checks that an opened database has n pairs. If it lost some, Open must fail without OnLoss.
func checkOpen(t *testing.T, dir string, n int, lost bool) {
	t.Helper()
	losses := 0
	for _, o := range []*database.Options{nil, {OnLoss: func(table.Loss) bool { losses++; return true }}} {
		db, err := database.Open(dir, o)
		if o == nil && lost {
			if !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), ".log does not exist, but the MANIFEST names it") {
				t.Errorf("Open = %v, want an error that names the missing log", err)
			}
			continue
		}
		noError(t, err)
		defer db.Close() // it was only read
		got := 0
		for _, err := range db.All(nil) {
			noError(t, err)
			got++
		}
		if got != n {
			t.Errorf("%d pairs, want %d", got, n)
		}
	}
	if (losses > 0) != lost {
		t.Errorf("%d losses, want some: %t", losses, lost)
	}
}

// checkCommands checks that the commands output n pairs, and report damage only for a database that lost some.
func checkCommands(t *testing.T, sst sstCommand, dir string, n int, lost bool) {
	t.Helper()
	repaired := dir + ".new"
	for _, args := range [][]string{{"verify", dir}, {"scan", dir}, {"repair", dir, "-o", repaired}, {"scan", repaired}} {
		status, stdout, stderr := sst.call(args...)
		damaged := lost && args[len(args)-1] != repaired || lost && args[0] == "repair"
		if (status != 0) != damaged || strings.Contains(stdout+stderr, "missing (named in") != damaged {
			t.Errorf("sst %v: status %d, want damage: %t\n%.2000s", args, status, damaged, stderr)
		}
		if got := strings.Count(stdout, "\n"); args[0] == "scan" && got != n {
			t.Errorf("sst %v: %d lines, want %d", args, got, n)
		}
	}
}
