package main

import (
	"bytes"
	"errors"
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
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
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
	for k := range seen {
		keys = append(keys, []byte(k))
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

// databaseTables opens all tables of a database.
func databaseTables(t *testing.T, dir string, m *table.Metrics) []*table.Reader {
	t.Helper()
	cache := table.NewCache(8 << 20)
	var readers []*table.Reader
	for _, name := range filesOf(t, dir, "*.ldb", 2) {
		r, err := table.Open(name, &table.ReaderOptions{
			Comparer: table.InternalComparer(table.BytewiseComparer), FilterKey: internalkey.UserKey, Cache: cache, Metrics: m,
		})
		noError(t, err)
		t.Cleanup(func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := errors.Join(r.FilterErr(), r.Verify()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		readers = append(readers, r)
	}
	return readers
}

// get answers what a database answers: by the newest version in any table that the
// snapshot sees.
func get(t *testing.T, tables []*table.Reader, user []byte, sequence uint64) history.Answer {
	t.Helper()
	var newest internalkey.Key
	var a history.Answer
	seek := internalkey.SearchKey(nil, user, sequence)
	for _, r := range tables {
		k, v, err := r.Find(seek)
		if errors.Is(err, table.ErrNotFound) {
			continue
		}
		noError(t, err)
		if key, ok := internalkey.Parse(k); !ok || !bytes.Equal(key.UserKey, user) || key.Sequence > sequence {
			t.Fatalf("Find(%q) at %d = %q", user, sequence, k)
		} else if newest.UserKey == nil || key.Sequence > newest.Sequence {
			newest, a = key, history.Answer{Found: key.Kind == internalkey.Set, Value: v}
		}
	}
	if !a.Found {
		return history.Answer{}
	}
	return a
}

// Databases that lived, with snapshots held while they were compacted, read back
// version by version as they answered themselves.
func TestDatabaseVersions(t *testing.T) {
	t.Parallel()
	rounds := workload.Writes(4, 2500, 1200)
	ops, sequences := history.Of(rounds, usersOf(rounds))
	eachLived(t, opt.NoCompression, ops, func(t *testing.T, engine, dir string, want []history.Answer) {
		var m table.Metrics
		tables := databaseTables(t, dir, &m)
		var gets []history.Op
		for _, op := range ops {
			if op.Kind == history.Get {
				gets = append(gets, op)
			}
		}
		for i, op := range gets {
			got := get(t, tables, op.Key, sequences[op.Snapshot])
			if got.Found != want[i].Found || !bytes.Equal(got.Value, want[i].Value) {
				t.Fatalf("%q at snapshot %d: %v, %q; %s has %v, %q", op.Key, op.Snapshot, got.Found, got.Value, engine, want[i].Found, want[i].Value)
			}
		}
		if m.FilterNegatives.Load() == 0 {
			t.Error("no filter ruled anything out")
		}
		checkAllVersions(t, tables, rounds)
		checkSnapshots(t, tables, sequences, gets, want)
		checkRewritten(t, dir, map[string]string{"goleveldb": goleveldbName, "C++ LevelDB": levelDBName}[engine])
	})
}

// eachLived tests a database of each engine that did the ops, with the answers that it gave. The compression is
// goleveldb's.
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

// checkAllVersions checks that the tables, together, have all versions: a snapshot
// was held from the beginning.
func checkAllVersions(t *testing.T, tables []*table.Reader, rounds [][]workload.Write) {
	t.Helper()
	got := map[string]string{}
	for _, r := range tables {
		for e, err := range r.All(nil) {
			if err != nil {
				t.Error(err)
			}
			got[string(e.Key)] = string(e.Value)
		}
	}
	want := map[string]string{}
	for _, p := range workload.Versions(rounds) {
		want[string(p.Key)] = string(p.Value)
	}
	if len(got) != len(want) {
		t.Errorf("%d versions, want %d", len(got), len(want))
	}
	for k, v := range want {
		if g, ok := got[k]; !ok || g != v {
			t.Fatalf("version %q: %q, %v; want %q", k, g, ok, v)
		}
	}
}

// checkSnapshots checks that a SnapshotIter over the tables shows, in both directions,
// the keys that the database found.
func checkSnapshots(t *testing.T, tables []*table.Reader, sequences []uint64, gets []history.Op, answers []history.Answer) {
	t.Helper()
	want := make([][]string, len(sequences))
	for i, op := range gets {
		if answers[i].Found {
			want[op.Snapshot] = append(want[op.Snapshot], string(op.Key)+"="+string(answers[i].Value))
		}
	}
	for snapshot, sequence := range sequences {
		var its []merge.Iterator
		for _, r := range tables {
			its = append(its, r.NewIter(nil))
		}
		it := merge.NewSnapshotIter(table.BytewiseComparer, merge.New(table.InternalComparer(table.BytewiseComparer), its...), sequence)
		var up, down []string
		for ok := it.First(); ok; ok = it.Next() {
			up = append(up, string(it.Key())+"="+string(it.Value()))
		}
		for ok := it.Prev(); ok; ok = it.Prev() {
			down = append(down, string(it.Key())+"="+string(it.Value()))
		}
		slices.Reverse(down)
		if err := it.Close(); err != nil || !slices.Equal(want[snapshot], up) || !slices.Equal(want[snapshot], down) {
			t.Errorf("snapshot %d: %d entries going up, %d going down, %v; the database found %d", snapshot, len(up), len(down), err, len(want[snapshot]))
		}
	}
}

// checkRewritten writes each table of a database again, to the same bytes.
func checkRewritten(t *testing.T, dir, filterName string) {
	t.Helper()
	order := table.InternalComparer(table.BytewiseComparer)
	for _, name := range filesOf(t, dir, "*.ldb", 2) {
		want, err := os.ReadFile(name)
		noError(t, err)
		pairs, err := collect(tabletest.Open(t, want, &table.ReaderOptions{Comparer: order, FilterKey: internalkey.UserKey}))
		noError(t, err)
		got := tabletest.Build(t, &table.WriterOptions{
			Comparer: order, FilterKey: internalkey.UserKey, Compression: table.NoCompression,
			FilterPolicy: filter.Rename(filter.NewBloom(10), filterName),
		}, pairs)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: written again, its %d bytes are %d others", name, len(want), len(got))
		}
	}
}
