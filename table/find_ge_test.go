package table_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// FindGE finds what SeekGE of an Iter finds, for keys that the table has and those around them,
// with and without a cache. Values stay as they are.
func TestFindGE(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mixed", "long-prefix", "byte-edges", "empty-key"} {
		pairs := dataset(t, name)
		for _, o := range []table.ReaderOptions{{}, {Cache: table.NewCache(1 << 20)}} {
			r := open(t, build(t, &table.WriterOptions{BlockSize: 500}, pairs), &o)
			checkFindGE(t, r, pairs)
		}
	}
}

func checkFindGE(t *testing.T, r *table.Reader, pairs []workload.Pair) {
	t.Helper()
	it := r.NewIter(nil)
	defer it.Close()
	for i := range min(len(pairs), 500) {
		for _, key := range append(around(pairs[i].Key), pairs[i].Key, nil) {
			k, v, err := r.With(context.Background(), table.LookupOptions{DontFillCache: i%2 == 0}).FindGE(key)
			if !it.SeekGE(key) {
				if err != table.ErrNotFound {
					t.Fatalf("FindGE(%.100q) = %.100q, %v, want ErrNotFound", key, k, err)
				}
				continue
			}
			if err != nil || !bytes.Equal(k, it.Key()) || !bytes.Equal(v, it.Value()) {
				t.Fatalf("FindGE(%.100q) = %.100q, %.100q, %v; want %.100q", key, k, v, err, it.Key())
			}
			if cap(k) > len(k) || cap(v) > len(v) {
				t.Fatalf("FindGE(%.100q): key or value has capacity behind it", key)
			}
		}
	}
}

// A key between the last one of a block and its separator is looked for in the next block too.
// The filters are not asked, and damage is an error.
func TestFindGEReadsTwoBlocks(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("a", "x")
	contents := build(t, &table.WriterOptions{BlockSize: 1, FilterPolicy: withBloom.FilterPolicy, Compression: table.NoCompression}, pairs)
	var m table.Metrics
	r := open(t, contents, &table.ReaderOptions{Metrics: &m})
	k, _, err := r.FindGE([]byte("a0"))
	if got := m.Snapshot(); err != nil || string(k) != "x" || got.BlocksRead > 2 || got.FilterChecks > 0 {
		t.Errorf("FindGE = %q, %v, after %v", k, err, got)
	}
	contents = slices.Clone(contents)
	contents[0] ^= 1
	if _, _, err := open(t, contents, nil).FindGE([]byte("a")); !errors.Is(err, table.ErrCorrupt) {
		t.Errorf("FindGE in a damaged block = %v", err)
	}
	r.Close()
	if _, _, err := r.FindGE(nil); err != table.ErrClosed {
		t.Errorf("FindGE after Close = %v", err)
	}
}
