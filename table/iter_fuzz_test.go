package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// FuzzIter moves Iters over tables of a few random entries in random ways, and
// holds each move to a sorted slice: blocks of one entry and of many, restart points
// after one to four, bounds anywhere, scans of a prefix that ask filters, blocks
// from a cache and read ahead, a damaged block that is passed over.
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

// firstByte is a FilterKey that is a prefix of one byte.
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
