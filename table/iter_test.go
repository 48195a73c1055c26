package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

func newModel(pairs []workload.Pair, o *table.IterOptions) *tabletest.Model {
	return &tabletest.Model{Pairs: within(pairs, o, bytes.Compare), Compare: bytes.Compare, At: -1}
}

// within returns the pairs within bounds.
func within(pairs []workload.Pair, o *table.IterOptions, compare func(a, b []byte) int) (all []workload.Pair) {
	for _, p := range pairs {
		if (o.Lower == nil || compare(p.Key, o.Lower) >= 0) && (o.Upper == nil || compare(p.Key, o.Upper) < 0) {
			all = append(all, p)
		}
	}
	return all
}

// Random moves within random bounds, in tables of many small blocks, agree with a sorted slice, even for cached
// blocks, and for blocks whose keys are too long to be cached or decoded at once.
func TestIterAgainstModel(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	all := dataset(t, "byte-edges")
	for i := range 500 {
		prefix := []byte(strings.Repeat("k", []int{0, 20, 3000, 0, 0}[i%5]))
		var pairs []workload.Pair
		for _, p := range all {
			if rng.IntN(20) == 0 {
				pairs = append(pairs, workload.Pair{Key: slices.Concat(prefix, p.Key), Value: p.Value})
			}
		}
		anyKey := func() []byte {
			return slices.Concat(prefix, all[rng.IntN(len(all))].Key, make([]byte, rng.IntN(2)))
		}
		wo := &table.WriterOptions{
			BlockSize: 1 + rng.IntN(pick(rng, 100, 5000)), RestartInterval: 1 + rng.IntN(pick(rng, 4, 100)),
		}
		var ro table.ReaderOptions
		if i%5 < 3 {
			ro.Cache = table.NewCache(int64(rng.IntN(20_000)))
		}
		var o table.IterOptions
		if rng.IntN(2) == 0 {
			o.Lower = anyKey()
		}
		if rng.IntN(2) == 0 {
			o.Upper = anyKey()
		}
		name := fmt.Sprintf("table %d: %d pairs, %+v, bounds %q to %q", i, len(pairs), wo, o.Lower, o.Upper)
		moveAgainstModel(t, rng, name, open(t, build(t, wo, pairs), &ro).NewIter(&o), newModel(pairs, &o), anyKey)
	}
}

// moveAgainstModel makes 100 random moves with both, and compares their entries. A seek may be given the start of
// the Iter's own key.
func moveAgainstModel(t *testing.T, rng *rand.Rand, name string, it merge.Iterator, m *tabletest.Model, anyKey func() []byte) {
	t.Helper()
	history := name + ":"
	for range 100 {
		key := anyKey()
		if it.Valid() && rng.IntN(5) == 0 {
			key = it.Key()[:rng.IntN(len(it.Key())+1)]
		}
		move, got, want := tabletest.Step(rng, it, m, key)
		history += " " + move
		if got != want || it.Valid() != want || it.Error() != nil {
			t.Fatalf("%s: moved %v, want %v; Error = %v", history, got, want, it.Error())
		}
		if want && (!bytes.Equal(it.Key(), m.Pairs[m.At].Key) || !bytes.Equal(it.Value(), m.Pairs[m.At].Value)) {
			t.Fatalf("%s: at %q, want %q", history, it.Key(), m.Pairs[m.At].Key)
		}
	}
}

// No keys are within bounds that are equal or reversed, or if the upper bound is empty. The caller may change the
// bounds afterwards.
func TestIterBounds(t *testing.T) {
	t.Parallel()
	r := open(t, build(t, &table.WriterOptions{BlockSize: 1}, pairsOf("a", "b", "c", "d")), nil)
	for _, tt := range []struct {
		lower, upper string
		want         []string
	}{
		{"b", "d", []string{"b", "c"}}, {"", "cc", []string{"a", "b", "c"}}, {"b", "b", nil}, {"d", "b", nil}, {"", "", nil},
	} {
		o := &table.IterOptions{Lower: []byte(tt.lower), Upper: []byte(tt.upper)}
		it := r.NewIter(o)
		copy(o.Lower, "~")
		copy(o.Upper, "~")
		checkIter(t, fmt.Sprintf("[%s, %s)", tt.lower, tt.upper), it, pairsOf(tt.want...))
	}
}

func TestIterAfterClose(t *testing.T) {
	t.Parallel()
	it := open(t, build(t, nil, pairsOf("a")), nil).NewIter(nil)
	it.First()
	noError(t, it.Close())
	if it.Valid() || it.Next() || it.Prev() || it.First() || it.Last() || it.SeekGE(nil) || it.SeekLT([]byte("z")) {
		t.Error("a closed Iter moved")
	}
	if it.Key() != nil || it.Value() != nil || !errors.Is(it.Error(), table.ErrClosed) {
		t.Errorf("a closed Iter is at %q=%q, %v; want ErrClosed", it.Key(), it.Value(), it.Error())
	}
}

// All yields the same entries as an Iter with the options, in each loop from the start, and without an error.
func TestReaderAll(t *testing.T) {
	t.Parallel()
	pairs := numbered(300)
	r := open(t, build(t, nil, pairs), nil)
	for _, o := range []*table.IterOptions{nil, {ReadAhead: 1000}, {Lower: pairs[100].Key, Upper: pairs[200].Key}} {
		all, want := r.All(o), forward(t, r.NewIter(o))
		for range 2 {
			var got []workload.Pair
			for e, err := range all {
				noError(t, err)
				got = append(got, workload.Pair{Key: bytes.Clone(e.Key), Value: bytes.Clone(e.Value)})
			}
			checkPairs(t, fmt.Sprintf("%+v", o), want, got)
		}
	}
}

// An error, of a corrupt block or a closed Reader, is yielded once, without an entry, and ends the loop. A loop that
// ends early gets no error.
func TestReaderAllErrors(t *testing.T) {
	t.Parallel()
	contents := build(t, oneKeyBlocks, numbered(10))
	contents[layoutOf(t, contents).Data[4].Offset] ^= 1
	damaged, closed := open(t, contents, nil), open(t, contents, nil)
	noError(t, closed.Close())
	for _, tt := range []struct {
		r              *table.Reader
		leave, entries int
		want           []error
	}{{damaged, 2, 2, nil}, {damaged, 100, 4, []error{table.ErrCorrupt}}, {closed, 100, 0, []error{table.ErrClosed}}} {
		n, errs := 0, []error(nil)
		for e, err := range tt.r.All(nil) {
			if err != nil {
				errs = append(errs, err)
			} else if n++; n == tt.leave {
				break
			}
			if (e.Key == nil) != (err != nil) || (e.Value == nil) != (err != nil) {
				t.Errorf("error %v with %q=%q", err, e.Key, e.Value)
			}
		}
		if n != tt.entries || !slices.EqualFunc(errs, tt.want, errors.Is) {
			t.Errorf("%d entries, %v; want %d, %v", n, errs, tt.entries, tt.want)
		}
	}
}

// All closes its Iter, even if the loop panics.
func TestReaderAllCloses(t *testing.T) {
	r := open(t, build(t, nil, numbered(1000)), nil)
	loop := func() {
		defer func() { recover() }()
		n := 0
		for range r.All(nil) {
			if n++; n == 500 {
				panic("in the loop")
			}
		}
	}
	loop()
	if got := testing.AllocsPerRun(100, loop); got > 6 && !long.Race { // 14 without Close
		t.Errorf("%v allocations in a loop that panics", got)
	}
}

// Moves take no memory, and an Iter that is closed leaves its memory to the next one: a seek takes none.
func TestIterAllocations(t *testing.T) {
	pairs := numbered(10_000)
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		contents := build(t, &table.WriterOptions{Compression: codec}, pairs)
		for name, cache := range map[string]*table.Cache{"no cache": nil, "a small cache": table.NewCache(1), "a cache": table.NewCache(4 << 20)} {
			r := open(t, contents, &table.ReaderOptions{Cache: cache})
			it, i := r.NewIter(nil), 0
			scan := func() { count(it.First, it.Next); count(it.Last, it.Prev) }
			scan() // takes the buffers
			scans := testing.AllocsPerRun(10, scan)
			seeks := testing.AllocsPerRun(500, func() {
				i += 97
				it := r.NewIter(&table.IterOptions{ReadAhead: 20_000 + i%1000})
				for ok, n := it.SeekGE(pairs[i%len(pairs)].Key), 0; ok && n < 400; n++ {
					ok = it.Next()
				}
				noError(t, it.Close())
			})
			if scans+seeks > 0 && !long.Race {
				t.Errorf("codec %d, %s: a scan there and back allocates %v times, a seek %v times", codec.ID(), name, scans, seeks)
			}
		}
	}
}

// Iters that reuse the memory of others, and concurrent lookups, get the right entries, even after blocks that are
// too large to be pooled.
func TestItersShareNoMemory(t *testing.T) {
	t.Parallel()
	small, large := numbered(500), numbered(30)
	for i := range large {
		large[i].Value = bytes.Repeat([]byte{byte(i)}, 400_000)
	}
	readers := []*table.Reader{open(t, build(t, nil, small), nil), open(t, build(t, nil, large), nil)}
	var users sync.WaitGroup
	for u := range 4 {
		users.Go(func() {
			for round := range 6 {
				pairs, r := small, readers[0]
				if (u+round)%3 == 0 {
					pairs, r = large, readers[1]
				}
				it, other := r.NewIter(nil), r.NewIter(nil)
				i := u
				for ok := it.SeekGE(pairs[i].Key); ok; ok = it.Next() {
					if !other.SeekGE(pairs[i].Key) || !bytes.Equal(it.Value(), pairs[i].Value) || !bytes.Equal(other.Value(), pairs[i].Value) {
						t.Errorf("entry %d: %.40q and %.40q", i, it.Value(), other.Value())
					}
					i++
				}
				if i != len(pairs) || it.Close() != nil || other.Close() != nil || it.Next() {
					t.Errorf("%d entries, want %d, and nothing after Close", i, len(pairs))
				}
			}
		})
	}
	users.Wait()
}

// An Iter that has not moved can be copied into reused memory.
func TestIterIsCopied(t *testing.T) {
	pairs := numbered(1000)
	r := open(t, build(t, nil, pairs), &table.ReaderOptions{Cache: table.NewCache(1 << 20)})
	var it table.Iter
	o := table.IterOptions{DontFillCache: true}
	if got := testing.AllocsPerRun(100, func() {
		it = *r.NewIter(&o)
		if !it.SeekGE(pairs[500].Key) || !bytes.Equal(it.Key(), pairs[500].Key) || !it.Last() || !it.Prev() {
			t.Errorf("at %q, %v", it.Key(), it.Error())
		}
		if err := it.Close(); err != nil || it.Next() || it.Error() != table.ErrClosed {
			t.Errorf("%v, after Close %v", err, it.Error())
		}
	}); got > 0 && !long.Race {
		t.Errorf("%v allocations for each Iter", got)
	}
}
