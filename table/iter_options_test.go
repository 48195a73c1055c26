package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// firstFour is a FilterKey that returns a prefix.
func firstFour(key []byte) []byte {
	if len(key) < 4 {
		return nil
	}
	return key[:4:4]
}

// A scan of a prefix checks the filters, and returns the same entries as without them: from the first block on,
// across blocks, in both directions.
func TestIterFilter(t *testing.T) {
	t.Parallel()
	var keys []string
	for i := range 400 {
		for j := range i % 4 {
			keys = append(keys, fmt.Sprintf("%03d.%03d", 2*i, j))
		}
	}
	pairs := pairsOf(keys...)
	for _, o := range []table.WriterOptions{
		{FilterPolicy: filter.NewBloom(20)},
		{TableFilterPolicy: filter.NewTableBloom(16)},
		{FilterPolicy: filter.NewBloom(20), TableFilterPolicy: filter.NewTableBloom(16)},
		{},
	} {
		for _, o.BlockSize = range []int{1, 50, 200} {
			o.FilterKey = firstFour
			contents := build(t, &o, pairs)
			var with, without table.Metrics
			asking := open(t, contents, &table.ReaderOptions{FilterKey: firstFour, Metrics: &with})
			plain := open(t, contents, &table.ReaderOptions{FilterKey: firstFour, Metrics: &without})
			for i := range 802 {
				prefix := fmt.Sprintf("%03d.", i)
				bounds := table.IterOptions{Lower: []byte(prefix), Upper: []byte(fmt.Sprintf("%03d/", i))}
				want := forward(t, plain.NewIter(&bounds))
				bounds.FilterKey = []byte(prefix)
				checkIter(t, prefix+" with filter", asking.NewIter(&bounds), want)
			}
			none := o.FilterPolicy == nil && o.TableFilterPolicy == nil
			if reads, most := with.BlocksRead.Load()/2, without.BlocksRead.Load(); !none && reads > most*2/3 || none && reads != most {
				t.Errorf("%+v: %d blocks read, and %d without asking", o, reads, most)
			}
		}
	}
}

// Blocks outside of the bounds are not read.
func TestIterReadsWithinBounds(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	r := open(t, build(t, oneKeyBlocks, pairsOf("a", "c", "e", "g", "i")), &table.ReaderOptions{Metrics: &m})
	it := r.NewIter(&table.IterOptions{Lower: []byte("c"), Upper: []byte("h")})
	checkPairs(t, "within bounds", pairsOf("c", "e", "g"), forward(t, it))
	if n := m.BlocksRead.Load(); n != 3 {
		t.Errorf("%d blocks read forward, want 3", n)
	}
}

// Reading ahead takes fewer reads for the same entries, and returns none from corrupt blocks.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	pairs := numbered(2000)
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs)
	const data = 12 // blocks
	for _, tt := range []struct {
		ahead       int
		least, most int64
	}{
		{-1, data, 1000}, {0, data, 1000}, {1, data, 1000}, {4096, data, 1000}, {10_000, data / 3, data*3/4 + 2}, {1 << 20, 1, 2}, {math.MaxInt, 1, 2},
	} {
		src := &countingReader{ReaderAt: bytes.NewReader(contents)}
		r := newReader(t, src, len(contents), nil)
		src.n.Store(0)
		it := r.NewIter(&table.IterOptions{ReadAhead: tt.ahead})
		for it.Next() {
		}
		if n := src.n.Load(); n < tt.least || n > tt.most {
			t.Errorf("%d bytes ahead: %d reads, want %d to %d", tt.ahead, n, tt.least, tt.most)
		}
		checkIter(t, fmt.Sprintf("%d bytes ahead", tt.ahead), it, pairs)
	}
}

// A failed read ahead is not an error if the block itself can be read.
func TestReadAheadFails(t *testing.T) {
	t.Parallel()
	pairs := numbered(2000)
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs)
	r := openHooked(t, contents, nil, func(off, end int64) error {
		if end-off > 5000 && off < 10_000 {
			return errBroken
		}
		return nil
	})
	checkPairs(t, "read ahead", pairs, forward(t, r.NewIter(&table.IterOptions{ReadAhead: 9000})))
	contents[20_000] ^= 1
	it := open(t, contents, nil).NewIter(&table.IterOptions{ReadAhead: 1 << 20})
	if n := count(it.First, it.Next); !errors.Is(it.Error(), table.ErrCorrupt) || n < 200 || n > 1500 {
		t.Errorf("%d entries and %v, want ErrCorrupt at the damaged block", n, it.Error())
	}
}

func TestApproximateOffset(t *testing.T) {
	t.Parallel()
	contents := build(t, oneKeyBlocks, pairsOf("b", "d"))
	r := open(t, contents, nil)
	var got []int64
	for _, k := range []string{"", "b", "c", "d", "e", "f"} {
		got = append(got, r.ApproximateOffset([]byte(k)))
	}
	checkDiff(t, "offsets", []int64{0, 0, 0, 27, 27, 54}, got)
	if off := open(t, contents, &table.ReaderOptions{Comparer: table.AnyOrder}).ApproximateOffset([]byte("b")); off != 0 {
		t.Errorf("offset %d with AnyOrder, which cannot find keys", off)
	}
}

// If a source fails in one place, little is read repeatedly. Nothing is read outside of the bounds, or of blocks
// that are too large.
func TestReadAheadReadsOnce(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, numbered(5000))
	for _, tt := range []struct {
		name string
		bad  int64
		o    table.IterOptions
		most int64 // percent of the file's size
	}{
		{"sound", -1, table.IterOptions{ReadAhead: math.MaxInt}, 100},
		{"bad near the end", 80_000, table.IterOptions{ReadAhead: math.MaxInt}, 210},
		{"with a bound", -1, table.IterOptions{ReadAhead: math.MaxInt, Upper: []byte("key000100")}, 10},
	} {
		read := int64(0)
		r := openHooked(t, contents, &table.ReaderOptions{IgnoreFilter: true}, func(off, end int64) error {
			if read += end - off; off <= tt.bad && tt.bad < end {
				return errBroken
			}
			return nil
		})
		read = 0
		it := r.NewIter(&tt.o)
		for it.Next() {
		}
		if (it.Error() == nil) != (tt.bad < 0) || read*100 > tt.most*int64(len(contents)) {
			t.Errorf("%s: %v, %d bytes read of %d", tt.name, it.Error(), read, len(contents))
		}
	}
}

// FuzzIter makes random moves over tables of a few random entries, and compares each move with a sorted slice: with
// blocks of one and many entries, restart intervals of one to four, any bounds, scans of a prefix with filters,
// cached blocks, reading ahead, and a corrupt block that is skipped.
func FuzzIter(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(seed, uint8(seed), uint8(3*seed), uint16(7*seed), uint8(5*seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, entries, restart uint8, blockSize uint16, ways uint8) {
		rng := rand.New(rand.NewPCG(seed, 17))
		pairs := fewPairs(rng, int(entries%64))
		wo := &table.WriterOptions{
			BlockSize: 1 + int(blockSize%300), RestartInterval: 1 + int(restart%4), FilterKey: firstByte, FilterBaseLg: 3,
		}
		if ways&1 != 0 {
			wo.FilterPolicy = filter.NewBloom(10)
		}
		if ways&2 != 0 {
			wo.TableFilterPolicy = filter.NewTableBloom(10)
		}
		ro := &table.ReaderOptions{FilterKey: firstByte}
		if ways&4 != 0 {
			ro.Cache = table.NewCache(int64(seed % 5000))
		}
		o := randomBounds(rng)
		if ways&8 != 0 {
			o.ReadAhead = int(seed % 1000)
		}
		if ways&16 != 0 {
			c := byte('a' + rng.IntN(4))
			o.Lower, o.Upper, o.FilterKey = []byte{c}, []byte{c + 1}, []byte{c}
		}
		name := fmt.Sprintf("%d entries, %+v, %+v", len(pairs), wo, o)
		contents := build(t, wo, pairs)
		if ways&32 != 0 && len(pairs) > 0 {
			blocks := layoutOf(t, contents).Data
			damaged := blocks[rng.IntN(len(blocks))].Handle
			all := pairs
			var lost []workload.Pair
			pairs, lost = withoutBlock(t, open(t, contents, &table.ReaderOptions{FilterKey: firstByte}), all, damaged)
			contents[damaged.Offset] ^= 1
			o.OnLoss = func(l table.Loss) bool {
				checkLost(t, "fuzz", l.Err.(*table.CorruptionError), damaged, all, lost)
				return true
			}
		}
		it := open(t, contents, ro).NewIter(&o)
		moveAgainstModel(t, rng, name, it, newModel(pairs, &o), func() []byte { return fewBytes(rng) })
	})
}

// firstByte is a FilterKey that returns a prefix of one byte.
func firstByte(key []byte) []byte {
	if len(key) == 0 {
		return nil
	}
	return key[:1:1]
}

func fewPairs(rng *rand.Rand, n int) []workload.Pair {
	var pairs []workload.Pair
	for range n {
		pairs = append(pairs, workload.Pair{Key: fewBytes(rng), Value: make([]byte, rng.IntN(20))})
	}
	slices.SortFunc(pairs, func(a, b workload.Pair) int { return bytes.Compare(a.Key, b.Key) })
	return slices.CompactFunc(pairs, func(a, b workload.Pair) bool { return bytes.Equal(a.Key, b.Key) })
}

func randomBounds(rng *rand.Rand) (o table.IterOptions) {
	if rng.IntN(2) == 0 {
		o.Lower = fewBytes(rng)
	}
	if rng.IntN(2) == 0 {
		o.Upper = fewBytes(rng)
	}
	return o
}
