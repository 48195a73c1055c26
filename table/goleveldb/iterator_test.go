package goleveldb_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/goleveldb"
)

// Iterators of both packages make the same moves, within the same ranges.
func TestIteratorMovesAsGoleveldb(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for _, c := range tableCases() {
		for _, n := range []int{1, 2, 100} { // with no entries, goleveldb's ranges are errors
			entries := c.entries(n)
			theirs, ours := openBoth(t, theirTable(t, &c.o, entries), &c.o)
			probes := c.probes(entries)
			for range 40 {
				slice := c.randomRange(rng, probes)
				a, b := theirs.NewIterator(slice, nil), ours.NewIterator(slice, nil)
				compareMoves(t, fmt.Sprintf("%s, %d entries, %q", c.name, n, slice), rng, probes, a, b)
				a.Release()
				b.Release()
			}
		}
	}
}

// randomRange returns a range between two of the keys, or one without a bound on one side.
func (c *tableCase) randomRange(rng *rand.Rand, keys [][]byte) *util.Range {
	a, b := keys[rng.IntN(len(keys))], keys[rng.IntN(len(keys))]
	if c.o.GetComparer().Compare(a, b) > 0 {
		a, b = b, a
	}
	return []*util.Range{nil, {}, {Start: a}, {Limit: b}, {Start: a, Limit: b}}[rng.IntN(5)]
}

// compareMoves makes random moves with two iterators, and compares their positions.
func compareMoves(t *testing.T, where string, rng *rand.Rand, keys [][]byte, theirs, ours iterator.Iterator) {
	t.Helper()
	moves := "" // so far
	for range 60 {
		var move func(it iterator.Iterator) bool
		switch n := rng.IntN(12); {
		case n < 5:
			move, moves = iterator.Iterator.Next, moves+" Next"
		case n < 8:
			move, moves = iterator.Iterator.Prev, moves+" Prev"
		case n == 8:
			move, moves = iterator.Iterator.First, moves+" First"
		case n == 9:
			move, moves = iterator.Iterator.Last, moves+" Last"
		default:
			key := keys[rng.IntN(len(keys))]
			move = func(it iterator.Iterator) bool { return it.Seek(key) }
			moves += fmt.Sprintf(" Seek(%q)", key)
		}
		if want, got := moved(theirs, move), moved(ours, move); got != want {
			t.Fatalf("%s:%s: at %s, want %s", where, moves, got, want)
		}
	}
}

// moved returns an iterator's position after a move.
func moved(it iterator.Iterator, move func(iterator.Iterator) bool) string {
	found := move(it)
	return fmt.Sprintf("%v, %v, %q, %q, %v", found, it.Valid(), it.Key(), it.Value(), it.Error())
}

// A released iterator fails with goleveldb's error, and calls its releaser once.
func TestReleasedIterator(t *testing.T) {
	t.Parallel()
	c := tableCase{}
	theirs, ours := openBoth(t, theirTable(t, &c.o, c.entries(9)), &c.o)
	for _, r := range []reader{theirs, ours} {
		it := r.NewIterator(nil, nil)
		var released releases
		it.SetReleaser(&released)
		if got := errtest.PanicOf(func() { it.SetReleaser(&released) }); got != util.ErrHasReleaser {
			t.Errorf("%T: a second SetReleaser panics with %v", r, got)
		}
		it.Next()
		it.Release()
		it.Release()
		if it.Error() != nil || released != 1 {
			t.Errorf("%T: %v, %d releases, want 1", r, it.Error(), released)
		}
		if got := errtest.PanicOf(func() { it.SetReleaser(&released) }); got != util.ErrReleased {
			t.Errorf("%T: SetReleaser after Release panics with %v", r, got)
		}
		for _, move := range []func() bool{it.Next, it.Prev, it.First, it.Last, func() bool { return it.Seek(nil) }} {
			if move() || it.Valid() || it.Key() != nil || it.Value() != nil || it.Error() != goleveldb.ErrIterReleased {
				t.Errorf("%T: after Release: %q, %v", r, it.Key(), it.Error())
			}
		}
	}
}

type releases int

func (r *releases) Release() { *r++ }

// A range whose Start is after its Limit is empty.
func TestInvertedRange(t *testing.T) {
	t.Parallel()
	c := tableCases()[3]
	entries := c.entries(100)
	_, r := openBoth(t, theirTable(t, &c.o, entries), &c.o)
	it := r.NewIterator(&util.Range{Start: entries[90].key, Limit: entries[5].key}, nil)
	defer it.Release()
	if it.Next() || it.Last() || it.Seek(entries[50].key) || it.Error() != nil {
		t.Errorf("at %q, %v", it.Key(), it.Error())
	}
}
