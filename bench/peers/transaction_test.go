package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/database"
)

// A slowFlush is a storage in which the first new table is not created before release is closed.
type slowFlush struct {
	storage.Storage
	isSlow           atomic.Bool // the first table waits, or has waited
	waiting, release chan struct{}
}

func (s *slowFlush) Create(fd storage.FileDesc) (storage.Writer, error) {
	if fd.Type == storage.TypeTable && s.isSlow.CompareAndSwap(false, true) {
		close(s.waiting)
		<-s.release
	}
	return s.Storage.Create(fd)
}

// writeTransactions returns a copy of a database as if goleveldb was killed while it wrote a log of two writes to a
// table: each of the transactions has written some keys in that order, and then the next log has one write.
func writeTransactions(t *testing.T, transactions ...[]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files, err := storage.OpenFile(dir, false)
	noError(t, err)
	defer files.Close()
	s := &slowFlush{Storage: files, waiting: make(chan struct{}), release: make(chan struct{})}
	db, err := leveldb.Open(s, nil)
	noError(t, err)
	var flush sync.WaitGroup
	var flushed error
	defer func() {
		close(s.release)
		flush.Wait()
		noError(t, errors.Join(flushed, db.Close()))
	}()
	put := func(key string) { noError(t, db.Put([]byte(key), []byte(key), nil)) }
	put("log1")
	put("log2")
	flush.Go(func() { flushed = db.CompactRange(util.Range{}) }) // begins the next log
	<-s.waiting
	for _, keys := range transactions {
		tr, err := db.OpenTransaction()
		noError(t, err)
		for _, key := range keys {
			noError(t, tr.Put([]byte(key), []byte(key), nil))
		}
		noError(t, tr.Commit())
	}
	put("log3")
	return copyOf(t, dir)
}

// The writes of a transaction are in tables, and in no log. They do not count as lost between two logs, unless the
// first log is cut.
func TestGoleveldbTransactionBetweenLogs(t *testing.T) {
	t.Parallel()
	sst := buildSST(t)
	const unless = ": unless a transaction has them, "
	const two, three = "the write with sequence number 2 is lost", "the write with sequence number 3 is lost"
	for name, tt := range map[string]struct {
		transactions [][]string
		cut          int    // bytes that the first log lacks
		status       int    // of sst scan
		note         bool   // that writes may be lost
		open         string // error of Open
		certain      int    // pairs that are certain
	}{
		"one":                       {transactions: [][]string{{"a", "b"}}, certain: 5},
		"two":                       {transactions: [][]string{{"a", "c", "b"}, {"e", "d", "f"}}, certain: 9},
		"the first write is inside": {transactions: [][]string{{"b", "a", "c"}}, note: true, open: unless + three, certain: 3},
		"a log without its end":     {transactions: [][]string{{"a", "b"}}, cut: 30, note: true, open: unless + two, certain: 3},
		"an empty log":              {transactions: [][]string{{"a", "b"}}, cut: 60, note: true, open: unless + "writes with sequence numbers < 3 may be lost", certain: 3},
		"an empty log, two":         {transactions: [][]string{{"a", "c", "b"}, {"e", "d", "f"}}, cut: 60, note: true, open: unless + "writes with sequence numbers < 7 may be lost", certain: 3},
		"a log that ends torn":      {transactions: [][]string{{"a", "b"}}, cut: 10, status: 3, open: ": " + two, certain: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeTransactions(t, tt.transactions...)
			change(t, filesOf(t, dir, "*.log", 2)[0], func(log []byte) []byte { return log[:len(log)-tt.cut] })
			db, err := database.Open(dir, nil)
			if err == nil {
				noError(t, db.Close())
			}
			if got := fmt.Sprint(err); (err != nil) != (tt.open != "") || !strings.Contains(got, tt.open) {
				t.Errorf("Open = %v, want %q", err, tt.open)
			}
			status, out, stderr := sst.call("scan", dir)
			if n := strings.Count(out, "\n"); status != tt.status || strings.Contains(stderr, unless) != tt.note || tt.cut == 0 && n != 3+len(slices.Concat(tt.transactions...)) {
				t.Errorf("sst scan: status %d, %d keys, %s; want %+v", status, n, stderr, tt)
			}
			// goleveldb ignores the writes of the first log, and sst verify says so.
			if _, out, _ := sst.call("verify", dir); strings.Contains(out, ": "+two) != (tt.status == 3) || strings.Contains(out, ": "+three) {
				t.Errorf("sst verify: %s", out)
			}
			// A repair is not complete while a write may be lost, even if all pairs left are certain.
			if status, out, stderr := sst.call("repair", "--certain", dir, "-o", dir+".new"); (status == 0) != (tt.open == "") || !strings.Contains(out, fmt.Sprintf("wrote %d pair", tt.certain)) {
				t.Errorf("sst repair: status %d, %s%s", status, out, stderr)
			}
		})
	}
}

// A machine that lost power can have lost the log, but not the table with its writes, which the MANIFEST does not
// list. A repair has these writes, whether or not a transaction may have them.
func TestRepairOfALogBeforeATransaction(t *testing.T) {
	t.Parallel()
	sst := buildSST(t)
	for _, keys := range [][]string{{"a", "b"}, {"b", "a", "c"}} {
		dir := writeTransactions(t, keys)
		log := filesOf(t, dir, "*.log", 2)[0]
		sst.run(t, nil, "repair", log, "-o", filepath.Join(dir, versions.TableName(1000)))
		change(t, log, func([]byte) []byte { return nil })
		sst.call("repair", dir, "-o", dir+".new")
		if got := string(sst.run(t, nil, "scan", "--keys", dir+".new")); !strings.Contains(got, "log1\nlog2\nlog3\n") {
			t.Errorf("%v: the repaired database has %q", keys, got)
		}
	}
}
