package merge_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// If one iterator is far ahead, a move takes one comparison. No move allocates.
func TestMergingComparesOnceAndAllocatesNothing(t *testing.T) {
	compared := 0
	order := tabletest.Order{Comparer: table.BytewiseComparer, Func: func(a, b []byte) int {
		compared++
		return bytes.Compare(a, b)
	}}
	pairs := tabletest.Numbered(1000)
	m := merge.New(order, iterOf(t, nil, tabletest.PairsOf("x", "y")), iterOf(t, nil, pairs), iterOf(t, nil, tabletest.PairsOf("z")))
	m.First()
	compared = 0
	for m.Source() == 1 && m.Next() {
	}
	if compared > len(pairs)+2 {
		t.Errorf("%d comparisons for %d entries, want one each", compared, len(pairs))
	}
	internal := table.InternalComparer(table.BytewiseComparer)
	var versions [2][]workload.Pair
	for i := range 2000 {
		k := internalkey.Key{UserKey: fmt.Appendf(nil, "key%06d", i/3), Sequence: uint64(9000 - i), Kind: internalkey.Kind(min(1, i%4))}
		versions[i%2] = append(versions[i%2], workload.Pair{Key: k.Append(nil), Value: make([]byte, i%30)})
	}
	s := merge.NewSnapshotIter(table.BytewiseComparer, merge.New(internal, iterOf(t, internal, versions[0]), iterOf(t, internal, versions[1])), 8990)
	seek := []byte("key000300")
	for name, it := range map[string]merge.Iterator{"merging": m, "snapshot": s} {
		scan := func() {
			for ok := it.First(); ok; ok = it.Next() {
			}
			for ok := it.Last(); ok; ok = it.Prev() {
			}
			for range 10 {
				it.SeekGE(seek)
				it.Prev()
				it.Next()
				it.SeekLT(seek)
			}
		}
		scan() // takes the buffers
		if got := testing.AllocsPerRun(10, scan); got != 0 && !long.Race {
			t.Errorf("%s: %v allocations in a scan there and back, want 0", name, got)
		}
	}
}

// New calls no method of an Iterator that embeds an Iter, which may be nil until its first move.
func TestNewMovesNothing(t *testing.T) {
	type lazy struct{ *table.Iter }
	if merge.New(nil, lazy{}).Valid() {
		t.Error("a new Iter is valid")
	}
}
