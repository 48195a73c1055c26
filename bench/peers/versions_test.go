package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/history"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// usersOf returns all keys that were written, and some that were not.
func usersOf(rounds [][]workload.Write) [][]byte {
	seen := map[string]bool{}
	for _, w := range slices.Concat(rounds...) {
		seen[string(w.Key)] = true
		if len(seen)%4 == 0 {
			seen[string(w.Key)+"~"] = true
		}
	}
	var keys [][]byte
	for _, k := range slices.Sorted(maps.Keys(seen)) {
		keys = append(keys, []byte(k))
	}
	return keys
}

// From databases that held snapshots while they were compacted, a DB reads each version as the engine did.
func TestDatabaseVersions(t *testing.T) {
	t.Parallel()
	rounds := workload.Writes(4, 2500, 1200)
	ops, sequences := history.Of(rounds, usersOf(rounds))
	eachLived(t, opt.NoCompression, ops, func(t *testing.T, engine, dir string, want []history.Answer) {
		var m table.Metrics
		db, err := database.Open(dir, &database.Options{Reader: table.ReaderOptions{Cache: table.NewCache(8 << 20), Metrics: &m}})
		closing(t, db, err)
		gets := slices.DeleteFunc(slices.Clone(ops), func(op history.Op) bool { return op.Kind != history.Get })
		for i, op := range gets {
			value, err := db.At(sequences[op.Snapshot]).Get(op.Key)
			if want := want[i]; !bytes.Equal(value, want.Value) || want.Found && err != nil || !want.Found && !errors.Is(err, table.ErrNotFound) {
				t.Fatalf("%q at snapshot %d: %q, %v; %s has %v, %q", op.Key, op.Snapshot, value, err, engine, want.Found, want.Value)
			}
		}
		if m.FilterNegatives.Load() == 0 {
			t.Error("no filter ruled anything out")
		}
		checkSnapshots(t, db, sequences, gets, want)
		checkTables(t, dir, map[string]string{"goleveldb": goleveldbName, "C++ LevelDB": levelDBName}[engine], rounds)
	})
}

// eachLived has each engine do the ops in a new database, and calls test with the answers. Only goleveldb
// compresses, with c.
func eachLived(
	t *testing.T, c opt.Compression, ops []history.Op, test func(t *testing.T, engine, dir string, answers []history.Answer),
) {
	run := func(engine string, live func(t *testing.T, dir string) ([]history.Answer, error)) {
		t.Run(engine, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "db")
			answers, err := live(t, dir)
			noError(t, err)
			test(t, engine, dir, answers)
		})
	}
	run("goleveldb", func(_ *testing.T, dir string) ([]history.Answer, error) {
		o := &opt.Options{Filter: lfilter.NewBloomFilter(10), CompactionTableSize: 400 << 10, Compression: c}
		return goleveldb.Live(dir, o, ops)
	})
	run("C++ LevelDB", func(t *testing.T, dir string) ([]history.Answer, error) { return levelDBDatabase(t).Live(dir, ops) })
}

// checkSnapshots checks that iterators return, in both directions, the keys that the engine found.
func checkSnapshots(t *testing.T, db *database.DB, sequences []uint64, gets []history.Op, answers []history.Answer) {
	t.Helper()
	want := make([][]workload.Pair, len(sequences))
	for i, op := range gets {
		if answers[i].Found {
			want[op.Snapshot] = append(want[op.Snapshot], workload.Pair{Key: op.Key, Value: answers[i].Value})
		}
	}
	for snapshot, sequence := range sequences {
		checkPairs(t, fmt.Sprint("snapshot ", snapshot), want[snapshot])(scan(db.At(sequence), nil))
	}
}

// checkTables checks the tables of a database. Together they contain all versions, since a snapshot was held from
// the beginning. Each equals the table that we write for its entries.
func checkTables(t *testing.T, dir, filterName string, rounds [][]workload.Write) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for _, p := range workload.Versions(rounds) {
		want[string(p.Key)] = string(p.Value)
	}
	for _, name := range filesOf(t, dir, "*.ldb", 2) {
		contents, err := os.ReadFile(name)
		noError(t, err)
		o := &table.WriterOptions{
			Comparer: table.InternalComparer(nil), FilterKey: internalkey.UserKey, Compression: table.NoCompression,
			FilterPolicy: filter.Rename(filter.NewBloom(10), filterName),
		}
		r := tabletest.Open(t, contents, &table.ReaderOptions{Comparer: o.Comparer, FilterKey: o.FilterKey})
		pairs, err := collect(r.All(nil))
		noError(t, errors.Join(err, r.FilterErr(), r.Verify()))
		for _, p := range pairs {
			got[string(p.Key)] = string(p.Value)
		}
		if !bytes.Equal(tabletest.Build(t, o, pairs), contents) {
			t.Errorf("%s: written again, its %d bytes differ", name, len(contents))
		}
	}
	if !maps.Equal(want, got) {
		t.Errorf("%d versions, want %d others", len(got), len(want))
	}
}
