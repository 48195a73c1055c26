package rates

import (
	"cmp"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

func planBloom(keys int, rate float64) (int, error) {
	s, err := filter.SizeForSingleRate(uint64(keys), rate)
	if err != nil {
		return 0, cli.UsageErrorf("-p is %g, and one bloom filter of %d keys has more false positives, however many bits it has: use a higher rate, or --policy fuse", rate, keys)
	}
	return s.BitsPerKey, nil
}

// A dimension is the size of a Bloom filter: m bits, of which a lookup probes k.
type dimension struct{ m, k int }

func dimensionOf(keys, bitsPerKey, k int) dimension {
	return dimension{int(bloom.Bits(uint64(keys), uint64(bitsPerKey))), cmp.Or(k, bloom.K(uint64(bitsPerKey)))}
}

func (d dimension) size() (m, k int) { return d.m, d.k }

// A blockBloom is a filter of filter.Bloom.
type blockBloom struct {
	dimension
	*filter.DynamicBloom
}

func emptyBloom(keys, bitsPerKey, k int) (measuredFilter, error) {
	d := dimensionOf(keys, bitsPerKey, k)
	f, err := filter.OpenDynamicBloom(append(make([]byte, d.m/8), byte(d.k)))
	return blockBloom{d, f}, err
}

func (b blockBloom) add(keys [][]byte) error {
	for _, key := range keys {
		b.Add(key)
	}
	return nil
}

func (b blockBloom) contains(key []byte) bool { return b.Contains(key) }

func (b blockBloom) formula(keys float64) float64 { return formulaRate(keys, int64(b.m), b.k) }

// An independent filter is a Bloom filter as textbooks have it: each bit of a key comes from a hash
// function of its own. It has the size and the k of LevelDB's, whose bits all come from one hash of 32
// bits. No table has such filters, because k hashes take too long.
type independent struct {
	dimension
	bits []byte
}

func emptyIndependent(keys, bitsPerKey, k int) (measuredFilter, error) {
	d := dimensionOf(keys, bitsPerKey, k)
	return independent{d, make([]byte, d.m/8)}, nil
}

// at returns the bit of a key that the hash function with this seed picks.
func (f independent) at(key []byte, seed int) uint64 {
	at, _ := bits.Mul64(xxh3.HashSeed(key, uint64(seed)), uint64(f.m))
	return at
}

func (f independent) add(keys [][]byte) error {
	for _, key := range keys {
		for seed := range f.k {
			at := f.at(key, seed)
			f.bits[at/8] |= 1 << (at % 8)
		}
	}
	return nil
}

func (f independent) contains(key []byte) bool {
	for seed := range f.k {
		if at := f.at(key, seed); f.bits[at/8]>>(at%8)&1 == 0 {
			return false
		}
	}
	return true
}

func (f independent) formula(keys float64) float64 { return bloom.Rate(float64(f.m)/keys, f.k) }
