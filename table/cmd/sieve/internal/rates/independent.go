package rates

import (
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/internal/bloom"
)

// An independent filter is a Bloom filter as textbooks have it: each bit of a key comes from a hash
// function of its own. It has the size and the k of LevelDB's, whose bits all come from one hash of 32
// bits. No table has such filters, because k hashes take too long.
type independent struct{ blockBloom }

func emptyIndependent(keys, bitsPerKey, k int) (measuredFilter, error) {
	f, err := emptyBloom(keys, bitsPerKey, k)
	if err != nil {
		return nil, err
	}
	return independent{f.(blockBloom)}, nil
}

// bit returns the bit of a key that the hash function with this seed picks, of m bits.
func bit(key []byte, seed, m int) uint64 {
	at, _ := bits.Mul64(xxh3.HashSeed(key, uint64(seed)), uint64(m))
	return at
}

func (f independent) add(keys [][]byte) error {
	m, k := f.size()
	for _, key := range keys {
		for seed := range k {
			at := bit(key, seed, m)
			f.blockBloom[at/8] |= 1 << (at % 8)
		}
	}
	return nil
}

func (f independent) contains(key []byte) bool {
	m, k := f.size()
	for seed := range k {
		if at := bit(key, seed, m); f.blockBloom[at/8]>>(at%8)&1 == 0 {
			return false
		}
	}
	return true
}

func (f independent) formula(keys float64) float64 {
	m, k := f.size()
	return bloom.Rate(float64(m)/keys, k)
}
