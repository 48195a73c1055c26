package set_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// keysOf returns the keys of the numbers.
func keysOf(first, end int) (keys []string) {
	for i := first; i < end; i++ {
		keys = append(keys, key(i))
	}
	return keys
}

// A loop over All that ends early leaves the Iter at the current entry.
func TestIterAllStopsEarly(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	it := open(t, m, src, nil).NewIter(background, nil)
	n := 0
	for _, err := range it.All() {
		if n++; err != nil || n == perTable+3 {
			break
		}
	}
	if got, want := string(it.Key()), key(perTable+2); got != want || it.Error() != nil {
		t.Errorf("after %d entries the Iter is at %q, %v; want %q", n, got, it.Error(), want)
	}
	noError(t, it.Close())
	if it.First() || it.Next() || !errors.Is(it.Error(), table.ErrClosed) || !errors.Is(it.Close(), table.ErrClosed) {
		t.Error("after Close an Iter moves")
	}
}

// moveAround moves an Iter randomly over the keys in shown.
func moveAround(t *testing.T, name string, rng *rand.Rand, it *set.Iter, shown []string) {
	t.Helper()
	m := &tabletest.Model{Pairs: tabletest.PairsOf(shown...), Compare: bytes.Compare}
	it.First()
	for range 60 {
		k := key(rng.IntN(600)) + strings.Repeat("x", rng.IntN(2))
		move, got, want := tabletest.Step(rng, it, m, []byte(k))
		name += ", " + move
		if got != want || it.Valid() != want || want && string(it.Key()) != shown[m.At] {
			t.Fatalf("%s: at %q, %v; want entry %d of %d", name, it.Key(), it.Error(), m.At, len(shown))
		}
	}
}

// An Iter has one table open at a time, and opens only tables that it reaches.
func TestIterOpensOneTable(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 20, filtered)
	one := tableMemory(t, src, m, new(table.ReaderOptions))
	s := open(t, m, src, &set.Options{MemorySize: 1})
	it := s.NewIter(background, &table.IterOptions{Lower: []byte(key(3 * perTable)), Upper: []byte(key(6 * perTable))})
	src.ranges = []string{}
	n := 0
	for range it.All() {
		n++
		if got := s.MemorySize(); got > one+one/2 {
			t.Fatalf("open tables take %d bytes, want about %d", got, one)
		}
	}
	if err := it.Close(); err != nil || n != 3*perTable {
		t.Errorf("%d entries, %v; want %d", n, err, 3*perTable)
	}
	tables := map[string]bool{}
	for _, r := range src.ranges {
		tables[r[:4]] = true
	}
	checkDiff(t, "tables read", map[string]bool{"t003": true, "t004": true, "t005": true}, tables)
	if got := s.MemorySize(); got != 0 {
		t.Errorf("after Close, open tables take %d bytes", got)
	}
}

// The context of an Iter ends its moves.
func TestIterWithContext(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	s := open(t, m, src, nil)
	ctx, cancel := context.WithCancel(background)
	it := s.NewIter(ctx, nil)
	defer it.Close()
	if !it.First() {
		t.Fatal(it.Error())
	}
	cancel()
	for it.Next() {
	}
	checkError(t, "Next", it.Error(), context.Canceled, "")
	checkError(t, "SeekGE", moved(it, it.SeekGE([]byte(key(60)))), context.Canceled, "")
}

// A table with keys outside its range is corrupt, not out of order.
func TestIterOfAWrongRange(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, &table.WriterOptions{BlockSize: 1 << 20})
	m.Tables[0].Smallest = []byte(key(3)) // Open does not notice
	s := open(t, m, src, nil)
	it := s.NewIter(background, nil)
	checkError(t, "First", moved(it, it.First()), table.ErrCorrupt, "t000")
	it.Close()
	checkError(t, "Verify", s.Verify(background, nil), set.ErrMismatch, "smallest")
}

// With OnLoss, an Iter continues after a corrupt block, in the same table and the next, and reports the table and
// the range of the lost keys.
func TestIterOnLoss(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	src.files["t001"][0] ^= 1
	lost := 0
	it := open(t, m, src, nil).NewIter(background, &table.IterOptions{OnLoss: func(l table.Loss) bool {
		for _, key := range keysOf(perTable, 2*perTable) {
			if l.From == nil && key <= string(l.To) {
				lost++
			}
		}
		return l.File == "t001"
	}})
	var got []string
	for e := range it.All() {
		got = append(got, string(e.Key))
	}
	want := append(keysOf(0, perTable), keysOf(perTable+lost, 3*perTable)...)
	if diff := cmp.Diff(want, got); diff != "" || lost == 0 || lost == perTable || it.Close() != nil {
		t.Errorf("%d keys lost, %v (-want +got):\n%s", lost, it.Error(), diff)
	}
}

// An Iter of a set returns the keys with the prefix, which it copies, and checks filters for it.
func TestIterOfAPrefix(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(20), FilterPrefix: filter.PrefixOfLength(len(key(0)))})
	s := open(t, m, src, nil)
	for prefix, want := range map[string]int{key(0): 1, key(perTable): 1, key(3 * perTable): 0} {
		asked := []byte(prefix)
		it := s.NewIter(background, &table.IterOptions{Prefix: asked})
		copy(asked, "other")
		n, found := 0, false
		for e, err := range it.All() {
			noError(t, err)
			n++
			found = found || string(e.Key) == prefix
		}
		if n != want || found != (want > 0) {
			t.Errorf("prefix %q: %d entries are shown, want %d; it is among them: %v", prefix, n, want, found)
		}
		noError(t, it.Close())
	}
}
