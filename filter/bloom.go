package filter

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/internal/hashlist"
)

// Bloom is LevelDB's Bloom filter, a [Policy]. Its filters are identical to goleveldb's and C++ LevelDB's. The zero
// value is NewBloom(0). A Bloom is safe for concurrent use.
type Bloom struct {
	bitsPerKey int
}

// NewBloom returns a Bloom with bitsPerKey bits for each key. The usual choice is 10, with about 1 % false positives.
// [ForRate] chooses the bits for other rates. Negative values mean 0. Readers ignore bitsPerKey.
//
// A key sets bitsPerKey*69/100 bits, at least 1 and at most 30. A filter has 64 to 2^32-8 bits.
func NewBloom(bitsPerKey int) Bloom {
	return Bloom{bitsPerKey: max(bitsPerKey, 0)}
}

// BitsPerKey returns the argument of NewBloom, or 0 if it is negative.
func (p Bloom) BitsPerKey() int { return p.bitsPerKey }

// K returns the number of bits that a key sets, 1 to 30.
func (p Bloom) K() int { return bloom.K(uint64(p.bitsPerKey)) }

// Size returns the length in bytes of a filter of n keys, 9 or more.
func (p Bloom) Size(n uint64) int { return int(bloom.Bits(n, uint64(p.bitsPerKey))/8) + 1 }

// Rate returns the false-positive rate of n random keys that [PredictRate] predicts.
func (p Bloom) Rate(n uint64) float64 {
	return PredictRate(n, bloom.Bits(n, uint64(p.bitsPerKey)), p.K())
}

// Name returns "leveldb.BuiltinBloomFilter", goleveldb's name.
func (Bloom) Name() string { return "leveldb.BuiltinBloomFilter" }

// Aliases returns "leveldb.BuiltinBloomFilter2", C++ LevelDB's name.
func (Bloom) Aliases() []string { return []string{"leveldb.BuiltinBloomFilter2"} }

// NewGenerator returns an empty Generator, which takes 4 bytes for each key.
func (p Bloom) NewGenerator() Generator {
	return &bloomGenerator{policy: p}
}

// Contains reports whether key may be in filter. As in LevelDB, it returns false if filter is shorter than 2 bytes,
// and true if k > 30.
func (Bloom) Contains(filter, key []byte) bool {
	return bloom.MayContain(filter, bloom.Hash(key, bloom.UnsignedTail))
}

// Check returns an error if filter is shorter than 9 bytes or k is 0. No engine writes such filters.
func (Bloom) Check(filter []byte) error {
	if len(filter) < bloom.MinBits/8+1 {
		return fmt.Errorf("filter: Bloom filter of %d bytes is too short (minimum %d)", len(filter), bloom.MinBits/8+1)
	}
	if filter[len(filter)-1] == 0 {
		return errors.New("filter: Bloom filter with k = 0 (minimum 1)")
	}
	return nil
}

type bloomGenerator struct {
	policy Bloom
	hashes hashlist.List[uint32]
}

func (g *bloomGenerator) Add(key []byte) { g.hashes.Add(bloom.Hash(key, bloom.UnsignedTail)) }

func (g *bloomGenerator) Generate(b Buffer) {
	filter := b.Alloc(g.policy.Size(uint64(g.hashes.Len())))
	array, k := filter[:len(filter)-1], g.policy.K()
	clear(array)
	for _, hashes := range g.hashes.Chunks() {
		bloom.SetAll(array, hashes, k)
	}
	filter[len(array)] = byte(k)
	g.hashes.Reset()
}

// EitherHash returns a Policy like p that also reads filters which C++ LevelDB wrote before 1.18, with another
// hash. It rules out a key only if both hashes do.
//
// The hashes differ only if one of the last len(key)%4 bytes is >= 0x80. Such keys have about twice the false
// positives. Package table uses EitherHash for filter blocks that are listed only under
// "leveldb.BuiltinBloomFilter", the name that goleveldb and these versions share.
func EitherHash(p Policy) Policy {
	if _, either := p.(eitherHash); either {
		return p
	}
	return eitherHash{checked{p}}
}

type eitherHash struct{ checked }

func (e eitherHash) Contains(filter, key []byte) bool {
	return e.Policy.Contains(filter, key) || bloom.MayContainSigned(filter, key)
}

// Aliases returns the Policy's aliases, if it has any.
func (e eitherHash) Aliases() []string {
	if p, ok := e.Policy.(interface{ Aliases() []string }); ok {
		return p.Aliases()
	}
	return nil
}
