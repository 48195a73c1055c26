package table_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// passOver collects the errors passed to OnLoss, and continues.
type passOver struct{ met []*table.CorruptionError }

func (p *passOver) onLoss(l table.Loss) bool {
	p.met = append(p.met, l.Err.(*table.CorruptionError))
	return true
}

// withoutBlock returns the pairs of all blocks except the one at h, and that block's pairs.
func withoutBlock(t *testing.T, r *table.Reader, pairs []workload.Pair, h layout.Handle) (kept, lost []workload.Pair) {
	t.Helper()
	for _, p := range pairs {
		switch at, err := r.Locate(p.Key); {
		case err != nil:
			t.Fatal(err)
		case at == h:
			lost = append(lost, p)
		default:
			kept = append(kept, p)
		}
	}
	return kept, lost
}

// checkLost checks that the error's key range covers exactly the lost keys.
func checkLost(t *testing.T, name string, e *table.CorruptionError, h layout.Handle, pairs, lost []workload.Pair) {
	t.Helper()
	var named []workload.Pair
	for _, p := range pairs {
		if (e.KeysAfter == nil || bytes.Compare(p.Key, e.KeysAfter) > 0) && bytes.Compare(p.Key, e.KeysUpTo) <= 0 {
			named = append(named, p)
		}
	}
	if e.Block != layout.DataBlock || e.Offset != int64(h.Offset) {
		t.Errorf("%s: OnLoss(%v), want the block at %d", name, e, h.Offset)
	}
	checkPairs(t, fmt.Sprintf("%s: lost keys, named as > %q and ≤ %q", name, e.KeysAfter, e.KeysUpTo), lost, named)
}

// damageEach corrupts each data block of a table in turn.
func damageEach(
	t *testing.T, contents []byte, pairs []workload.Pair,
	f func(name string, damaged []byte, h layout.Handle, kept, lost []workload.Pair),
) {
	t.Helper()
	blocks := layoutOf(t, contents).Data
	for i, b := range blocks {
		kept, lost := withoutBlock(t, open(t, contents, nil), pairs, b.Handle)
		damaged := bytes.Clone(contents)
		damaged[b.Offset] ^= 1 // in a block's first entry, which then claims to share a byte
		f(fmt.Sprintf("block %d of %d", i, len(blocks)), damaged, b.Handle, kept, lost)
	}
}

// Each block of a table is corrupted in turn: an Iter with OnLoss returns exactly the entries of all others, and
// calls OnLoss once in each direction with the lost keys. A block with many entries is not decoded.
func TestOnLoss(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	large := table.WriterOptions{BlockSize: 500_000, Compression: table.NoCompression}
	for way, o := range map[string]struct {
		n  int // entries; 0: 300
		w  table.WriterOptions
		r  table.ReaderOptions
		it table.IterOptions
	}{
		"Snappy":        {w: table.WriterOptions{BlockSize: 300}},
		"a key a block": {w: *oneKeyBlocks},
		"one block":     {},
		"a cache":       {w: table.WriterOptions{BlockSize: 300}, r: table.ReaderOptions{Cache: table.NewCache(1 << 20)}},
		"read ahead":    {w: table.WriterOptions{BlockSize: 300}, it: table.IterOptions{ReadAhead: 1000}},
		"bounds":        {w: table.WriterOptions{BlockSize: 300}, it: table.IterOptions{Lower: []byte("key000080"), Upper: []byte("key000520")}},
		"many entries":  {n: 40_000, w: large},
		"no checksums":  {n: 40_000, w: large, r: table.ReaderOptions{SkipChecksums: true}},
	} {
		pairs := numbered(cmp.Or(o.n, 300))
		contents := build(t, &o.w, pairs)
		damageEach(t, contents, pairs, func(name string, damaged []byte, h layout.Handle, kept, lost []workload.Pair) {
			name = way + ", " + name
			var met passOver
			o.it.OnLoss = met.onLoss
			it := open(t, damaged, &o.r).NewIter(&o.it)
			want := within(kept, &o.it, bytes.Compare)
			checkPairs(t, name, want, forward(t, it))
			calls := len(met.met)
			checkPairs(t, name+", backward", want, backward(t, it))
			inBounds := len(within(lost, &o.it, bytes.Compare)) > 0
			if calls > 1 || len(met.met) != 2*calls || calls == 0 && inBounds {
				t.Errorf("%s: OnLoss was called %d times forward, %d in all", name, calls, len(met.met))
			}
			for _, e := range met.met {
				checkLost(t, name, e, h, pairs, lost)
			}
		})
	}
}

func layoutOf(t *testing.T, contents []byte) *layout.Layout {
	t.Helper()
	l, err := open(t, contents, nil).Layout()
	noError(t, err)
	return l
}

// Random moves in a table with a corrupt block agree with the entries of the others. A seek calls OnLoss once if it
// reaches that block.
func TestOnLossMoves(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(31, 31))
	pairs := numbered(60)
	contents := build(t, &table.WriterOptions{BlockSize: 100}, pairs)
	damageEach(t, contents, pairs, func(name string, damaged []byte, _ layout.Handle, kept, lost []workload.Pair) {
		var met passOver
		r, o := open(t, damaged, nil), &table.IterOptions{OnLoss: met.onLoss}
		it := r.NewIter(o)
		for _, p := range pairs {
			isLost := slices.ContainsFunc(lost, func(l workload.Pair) bool { return bytes.Equal(l.Key, p.Key) })
			if met.met = nil; it.SeekGE(p.Key) && bytes.Equal(it.Key(), p.Key) == isLost || isLost != (len(met.met) == 1) {
				t.Errorf("SeekGE(%q) is at %q after %d calls of OnLoss; lost: %v", p.Key, it.Key(), len(met.met), isLost)
			}
		}
		moveAgainstModel(t, rng, name, r.NewIter(o), newModel(kept, o), func() []byte {
			return pick(rng, around(pairs[rng.IntN(len(pairs))].Key)...)
		})
	})
}

// Corrupt blocks with valid checksums are skipped too, whatever their fault.
func TestOnLossOfAnyKind(t *testing.T) {
	t.Parallel()
	for _, tt := range damagedBlocks() {
		p := sound()
		p.data2 = tt.block
		contents := p.build()
		for _, cache := range []*table.Cache{nil, table.NewCache(1 << 20)} {
			var met passOver
			it := open(t, contents, &table.ReaderOptions{Cache: cache}).NewIter(&table.IterOptions{OnLoss: met.onLoss})
			checkIter(t, tt.name, it, soundPairs[:2])
			if len(met.met) != 2 {
				t.Errorf("%s: OnLoss was called %d times", tt.name, len(met.met))
			}
			for _, e := range met.met {
				if string(e.KeysAfter) != "b" || string(e.KeysUpTo) != "e" || !strings.Contains(textOf(e), tt.want) {
					t.Errorf("%s: OnLoss(%v), keys > %q and ≤ %q", tt.name, e, e.KeysAfter, e.KeysUpTo)
				}
			}
		}
	}
}

// One move skips many small blocks. Their errors take no more memory than a file of this size may cost.
func TestOnLossOfManyBlocks(t *testing.T) {
	const blocks = 50_000
	var f rawtable.File
	index := make([]byte, 0, 16*blocks)
	for i := range blocks {
		h := f.Block("\x00") // too short for a block
		index = append(index, rawtable.Entry(0, string([]byte{byte(i >> 16), byte(i >> 8), byte(i)}), h)...)
	}
	contents := f.Footer(f.Block(rawtable.Entries()), f.Block(string(index)+rawtable.Restarts(0)))
	calls, before := 0, allocated()
	it := open(t, contents, nil).NewIter(&table.IterOptions{OnLoss: func(table.Loss) bool { calls++; return true }})
	if it.First() || it.Error() != nil || calls != blocks {
		t.Errorf("First finds %q, %v, after %d calls of OnLoss", it.Key(), it.Error(), calls)
	}
	if got, most := allocated()-before, uint64(32*len(contents)); got > most {
		t.Errorf("First allocated %d bytes, want at most %d", got, most)
	}
}

// The move fails if OnLoss returns false, and for errors other than corruption.
func TestOnLossRefuses(t *testing.T) {
	t.Parallel()
	contents := build(t, oneKeyBlocks, numbered(10))
	at := int64(layoutOf(t, contents).Data[5].Offset)
	damaged := bytes.Clone(contents)
	damaged[at] ^= 1
	inner := &table.CorruptionError{Block: layout.DataBlock, Err: errors.New("of another table")}
	broken := openHooked(t, contents, nil, func(off, _ int64) error {
		if off == at {
			return inner
		}
		return nil
	})
	for isBroken, r := range map[bool]*table.Reader{true: broken, false: open(t, damaged, nil)} {
		calls := 0
		it := r.NewIter(&table.IterOptions{OnLoss: func(table.Loss) bool { calls++; return isBroken }})
		n := count(it.First, it.Next)
		var got *table.CorruptionError
		if n != 5 || !errors.As(it.Error(), &got) || (got == inner) != isBroken || (calls == 0) != isBroken || it.Next() {
			t.Errorf("source broken %v: %d entries, %v, after %d calls of OnLoss", isBroken, n, it.Error(), calls)
		}
	}
}

// After a panic in OnLoss, as after one in the source, the Iter needs First, Last or a seek.
func TestOnLossThatPanics(t *testing.T) {
	t.Parallel()
	pairs := numbered(10)
	contents := build(t, oneKeyBlocks, pairs)
	contents[layoutOf(t, contents).Data[5].Offset] ^= 1
	panics := true
	it := open(t, contents, nil).NewIter(&table.IterOptions{OnLoss: func(table.Loss) bool {
		if panics {
			panic("OnLoss")
		}
		return true
	}})
	if panicOf(func() { count(it.First, it.Next) }) == nil {
		t.Error("no panic")
	}
	if it.Valid() || it.Key() != nil || it.Next() || it.Prev() || it.Error() == nil {
		t.Errorf("after a panic: at %q, Error = %v", it.Key(), it.Error())
	}
	panics = false
	checkPairs(t, "moved anew", slices.Delete(pairs, 5, 6), forward(t, it))
}
