package fuse_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// The fingerprints, the seed and the segments are identical to package xorfilter's, with which Pebble builds its
// filters. For some sizes it tries several seeds.
func TestFiltersAreThoseOfXorfilter(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 1))
	for range 150 {
		n := 1 + rng.IntN(1<<rng.IntN(17))
		want, err := xorfilter.NewBinaryFuse[uint8](hashesOf(n))
		noError(t, err)
		contents := append([]byte(nil), want.Fingerprints...)
		contents = binary.LittleEndian.AppendUint64(contents, want.Seed)
		contents = binary.LittleEndian.AppendUint32(contents, want.SegmentCount)
		contents = append(contents, byte(bits.TrailingZeros32(want.SegmentLength)), 8)
		if got := build(t, newPolicy(t, 8), n); !bytes.Equal(got, contents) {
			t.Errorf("%d keys: %d bytes that end in %x, want %d that end in %x",
				n, len(got), tail(got), len(contents), tail(contents))
		}
	}
}

// hashesOf returns the hashes of the keys of build.
func hashesOf(n int) []uint64 {
	hashes, keys := make([]uint64, n), newKeys(1)
	for i := range hashes {
		hashes[i] = xxh3.Hash(keys.next())
	}
	return hashes
}

// BenchmarkBuild builds filters of 8 bits, and for comparison package xorfilter's, with a reused builder.
func BenchmarkBuild(b *testing.B) {
	for n := 10_000; n <= long.Size(10_000, 1_000_000); n *= 10 {
		keys := sixteenBytes(1, n)
		perKey := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
		}
		b.Run(fmt.Sprintf("of=fuse/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g := newPolicy(b, 8).NewTableGenerator()
				for _, key := range keys {
					g.Add(key)
				}
				if _, err := g.Generate(); err != nil {
					b.Fatal(err)
				}
			}
			perKey(b)
		})
		b.Run(fmt.Sprintf("of=xorfilter/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var builder xorfilter.BinaryFuseBuilder
			var hashes []uint64
			for b.Loop() {
				hashes = hashes[:0]
				for _, key := range keys {
					hashes = append(hashes, xxh3.Hash(key))
				}
				if _, err := xorfilter.BuildBinaryFuse[uint8](&builder, hashes); err != nil {
					b.Fatal(err)
				}
			}
			perKey(b)
		})
	}
}

// sixteenBytes returns n different keys.
func sixteenBytes(seed uint32, n int) [][]byte {
	keys, next := make([][]byte, n), newKeys(seed)
	for i := range keys {
		keys[i] = append([]byte(nil), next.next()...)
	}
	return keys
}

// BenchmarkContains looks up absent keys in filters of 8 bits, one by one and in batches of 64, and for comparison
// in package xorfilter's.
func BenchmarkContains(b *testing.B) {
	absent := sixteenBytes(2, 1<<16)
	for n := 10_000; n <= long.Size(10_000, 10_000_000); n *= 10 {
		f := open(b, build(b, newPolicy(b, 8), n)).(filtertest.ManyFilter)
		peer, err := xorfilter.NewBinaryFuse[uint8](hashesOf(n))
		noError(b, err)
		b.Run(fmt.Sprintf("of=fuse/n=%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				f.Contains(absent[i%len(absent)])
			}
		})
		b.Run(fmt.Sprintf("of=fuse in batches/n=%d", n), func(b *testing.B) {
			var results [64]bool
			for i := 0; i < b.N; i += len(results) {
				at := i % len(absent)
				f.ContainsMany(absent[at:at+len(results)], results[:])
			}
		})
		b.Run(fmt.Sprintf("of=xorfilter/n=%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				peer.Contains(xxh3.Hash(absent[i%len(absent)]))
			}
		})
	}
}
