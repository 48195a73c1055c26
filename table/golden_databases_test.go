package table_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// Tables of databases by both engines, which kept all versions of their keys as
// snapshots were held: they read as they were written, and written again they are
// the same bytes. Command bench/peers/goldens made them.
func TestDatabaseTables(t *testing.T) {
	rounds := workload.FewWrites()
	want := workload.Versions(rounds)
	order := table.InternalComparer(table.BytewiseComparer)
	for _, engine := range []struct{ name, filterName string }{
		{"goleveldb", "leveldb.BuiltinBloomFilter"},
		{"leveldb", "leveldb.BuiltinBloomFilter2"},
	} {
		contents, err := os.ReadFile("testdata/databases/" + engine.name + ".ldb")
		if err != nil {
			t.Fatal(err)
		}
		r := open(t, contents, &table.ReaderOptions{Comparer: order, FilterKey: table.InternalFilterKey})
		if err := errors.Join(r.FilterErr(), r.Verify()); err != nil {
			t.Errorf("%s: %v", engine.name, err)
		}
		if diff := diffPairs(want, forward(t, r.NewIter(nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", engine.name, diff)
		}
		checkSnapshots(t, engine.name, r, rounds)
		again := build(t, &table.WriterOptions{
			Comparer: order, FilterKey: table.InternalFilterKey, Compression: table.NoCompression,
			FilterPolicy: filter.Rename(filter.NewBloom(10), engine.filterName),
		}, want)
		if !bytes.Equal(again, contents) {
			t.Errorf("%s: written again, its %d bytes are %d others", engine.name, len(contents), len(again))
		}
	}
}

// checkSnapshots finds each key as it was after each round of writes.
func checkSnapshots(t *testing.T, name string, r *table.Reader, rounds [][]workload.Write) {
	t.Helper()
	sequence := uint64(0)
	state := map[string]*workload.Write{}
	for _, w := range slices.Concat(rounds...) {
		state[string(w.Key)] = nil
	}
	check := func() {
		for user, w := range state {
			k, v, err := r.Find(table.SearchKey(nil, []byte(user), sequence))
			if w == nil {
				if !errors.Is(err, table.ErrNotFound) {
					t.Fatalf("%s: %q at %d: %q, %v; want ErrNotFound", name, user, sequence, k, err)
				}
				continue
			}
			key, ok := table.ParseInternalKey(k)
			if err != nil || !ok || (key.Kind == table.KindDelete) != w.Delete || !bytes.Equal(v, w.Value) {
				t.Fatalf("%s: %q at %d: %q = %q, %v; want %+v", name, user, sequence, k, v, err, w)
			}
		}
	}
	check()
	for _, writes := range rounds {
		for _, w := range writes {
			sequence++
			state[string(w.Key)] = &w
		}
		check()
	}
}
