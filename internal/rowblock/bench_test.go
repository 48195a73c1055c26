package rowblock_test

import (
	"testing"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/internal/workload"
)

// w1Block is a data block of 4 KiB of the W1 workload.
func w1Block(b *testing.B) ([]byte, workload.Set) {
	b.Helper()
	set := workload.W1(35)
	w, err := block.NewWriter(block.DefaultRestartInterval, block.Order{})
	noError(b, err)
	for i, k := range set.Keys {
		noError(b, w.Append(k, set.Values[i]))
	}
	return w.Finish(), set
}

func BenchmarkOpen(b *testing.B) {
	data, _ := w1Block(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rowblock.Open(data, rowblock.Order{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	data, set := w1Block(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, _, err := rowblock.Get(data, rowblock.Order{}, set.Keys[i%len(set.Keys)], nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIter(b *testing.B) {
	data, set := w1Block(b)
	blk, err := rowblock.Open(data, rowblock.Order{})
	noError(b, err)
	it := newIter(blk)
	b.Run("SeekGE", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			it.SeekGE(set.Keys[i%len(set.Keys)])
		}
	})
	b.Run("Next", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !it.Next() {
				it.First()
			}
		}
	})
	b.Run("Prev", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !it.Prev() {
				it.Last()
			}
		}
	})
}

func BenchmarkEntries(b *testing.B) {
	data, set := w1Block(b)
	var e rowblock.Decoded
	b.Run("Decode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			noError(b, e.Decode(data, rowblock.Order{}))
		}
	})
	b.Run("Pack", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.ForCache()
		}
	})
	packed := e.ForCache().Block(rowblock.Order{})
	for _, form := range []struct {
		name string
		e    *rowblock.Decoded
	}{{"decoded", &e}, {"packed", &packed}} {
		b.Run("Get/form="+form.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, found := form.e.Get(set.Keys[i%len(set.Keys)]); !found {
					b.Fatal("not found")
				}
			}
		})
	}
}
