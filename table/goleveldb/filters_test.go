package goleveldb_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/goleveldb/internal/leveldb"
)

// filter.From also works in package table for the filter of goleveldb's engine, which shortens keys by itself:
// filters are the same as goleveldb's, and lookups check them.
func TestFromTakesTheEnginesFilter(t *testing.T) {
	t.Parallel()
	policy := filter.From(leveldb.NewFilter(lfilter.NewBloomFilter(10)))
	whole := func(key []byte) []byte {
		if len(key) < 8 {
			return nil
		}
		return key
	}
	c := tableCase{internal: true, o: opt.Options{
		Comparer: leveldb.NewComparer(comparer.DefaultComparer), Filter: leveldb.NewFilter(lfilter.NewBloomFilter(10)), Compression: opt.NoCompression,
	}}
	entries := c.entries(300)
	order := table.InternalComparer(nil)
	var b bytes.Buffer
	w, err := table.NewWriter(&b, &table.WriterOptions{
		Comparer: order, FilterPolicy: filter.Rename(policy, policy.Name()), FilterKey: whole, Compression: table.NoCompression,
	})
	noError(t, err)
	for _, e := range entries {
		noError(t, w.Append(e.key, e.value))
	}
	noError(t, w.Close())
	if !bytes.Equal(b.Bytes(), theirTable(t, &c.o, entries)) {
		t.Error("the table is not goleveldb's")
	}
	var m table.Metrics
	o := &table.ReaderOptions{Comparer: order, FilterPolicies: []filter.Policy{policy}, FilterKey: whole, Metrics: &m}
	r, err := table.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), o)
	noError(t, err)
	defer r.Close()
	for _, e := range entries {
		if got, err := r.Get(e.key); err != nil || !bytes.Equal(got, e.value) {
			t.Errorf("Get(%q) = %q, %v", e.key, got, err)
		}
	}
	if _, err := r.Get([]byte("short")); err != table.ErrNotFound {
		t.Errorf("a key that is too short: %v", err)
	}
	if got := m.FilterChecks.Load(); got != uint64(len(entries)) {
		t.Errorf("%d checks of filters, want %d", got, len(entries))
	}
}

// The filters of LevelDB 1.17 have goleveldb's name and another hash. They rule out no key.
func TestFiltersOfAnotherHash(t *testing.T) {
	t.Parallel()
	contents, err := os.ReadFile("../../testdata/leveldb-1.17/byte-edges.ldb")
	noError(t, err)
	_, r := openBoth(t, contents, &opt.Options{Filter: lfilter.NewBloomFilter(10)})
	n := 0
	for it := r.NewIterator(nil, nil); it.Next(); n++ {
		if _, _, err := r.Find(it.Key(), true, nil); err != nil {
			t.Errorf("Find(%q): %v", it.Key(), err)
		}
	}
	if n != 781 {
		t.Errorf("%d entries, want 781", n)
	}
}
