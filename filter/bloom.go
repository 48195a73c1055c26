package filter

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/bloom"
)

const (
	goleveldbName = "leveldb.BuiltinBloomFilter"
	levelDBName   = "leveldb.BuiltinBloomFilter2"
)

// Bloom is LevelDB's Bloom filter, as a [Policy]. Its filters are identical to those of
// goleveldb and C++ LevelDB. The zero value is NewBloom(0). A Bloom is safe for concurrent
// use.
type Bloom struct {
	bitsPerKey int
}

// NewBloom returns a Bloom that builds filters of bitsPerKey bits for each key. 10 is the
// usual choice, with a false-positive rate of about 1 %. [ForRate] chooses the bits per key for
// other rates. Negative values mean 0.
//
// A key sets k = bitsPerKey*69/100 bits, at least 1 and at most 30. A filter has at least
// 64 bits and at most 2^32-8. Readers take k from the filter and ignore bitsPerKey.
func NewBloom(bitsPerKey int) Bloom {
	return Bloom{bitsPerKey: max(bitsPerKey, 0)}
}

// BitsPerKey returns the argument of NewBloom, or 0 if that is negative.
func (p Bloom) BitsPerKey() int { return p.bitsPerKey }

// K returns how many bits a key sets, 1 to 30.
func (p Bloom) K() int { return bloom.K(uint64(p.bitsPerKey)) }

// Size returns the length in bytes of a filter of n keys, 9 or more.
func (p Bloom) Size(n uint64) int { return int(bloom.Bits(n, uint64(p.bitsPerKey))/8) + 1 }

// Rate returns the false-positive rate, 0 to 1, that [PredictRate] predicts for a filter of n random keys.
// Bits of a key come from one 32-bit hash: ten billion keys need many filters.
func (p Bloom) Rate(n uint64) float64 {
	return PredictRate(n, bloom.Bits(n, uint64(p.bitsPerKey)), p.K())
}

// Name returns "leveldb.BuiltinBloomFilter", goleveldb's name for these filters.
func (Bloom) Name() string { return goleveldbName }

// Aliases returns "leveldb.BuiltinBloomFilter2", C++ LevelDB's name for these filters.
func (Bloom) Aliases() []string { return []string{levelDBName} }

// NewGenerator returns an empty Generator. It takes 4 bytes of memory for each key.
func (p Bloom) NewGenerator() Generator {
	return &bloomGenerator{bitsPerKey: uint64(p.bitsPerKey)}
}

// Contains reports whether key may be in filter. As in LevelDB, it returns false if filter
// is shorter than 2 bytes, and true if k > 30.
func (Bloom) Contains(filter, key []byte) bool {
	return bloom.MayContain(filter, bloom.Hash(key, bloom.UnsignedTail))
}

// Check returns an error if filter is shorter than 9 bytes or has k = 0. No engine writes
// such filters.
func (Bloom) Check(filter []byte) error {
	if len(filter) < bloom.MinBits/8+1 {
		return fmt.Errorf("filter: Bloom filter of %d bytes, want at least %d", len(filter), bloom.MinBits/8+1)
	}
	if filter[len(filter)-1] == 0 {
		return errors.New("filter: Bloom filter with k = 0, want at least 1")
	}
	return nil
}

type bloomGenerator struct {
	bitsPerKey uint64
	hashes     bloom.Hashes
}

func (g *bloomGenerator) Add(key []byte) { g.hashes.Add(bloom.Hash(key, bloom.UnsignedTail)) }

func (g *bloomGenerator) Generate(b Buffer) {
	filter := b.Alloc(bloom.Size(g.hashes.Len(), g.bitsPerKey))
	bloom.Build(filter, &g.hashes, g.bitsPerKey)
	g.hashes.Reset()
}

// EitherHash returns a Policy that is like p but also reads filters of C++ LevelDB before
// version 1.18, which have a different hash. A key is ruled out only if it is by both hashes.
//
// The two hashes differ only for keys with a byte >= 0x80 among the 1 to 3 bytes that follow
// the last whole 4 bytes. The older hash takes these bytes as signed. Such keys have about
// twice the false positives.
//
// goleveldb and C++ LevelDB before 1.18 use the name "leveldb.BuiltinBloomFilter". Package
// table applies EitherHash to a filter block that is listed under this name only.
func EitherHash(p Policy) Policy { return eitherHash{checked{p}} }

type eitherHash struct{ checked }

func (e eitherHash) Contains(filter, key []byte) bool {
	return e.Policy.Contains(filter, key) || bloom.MayContainSigned(filter, key)
}

// Aliases are those of the Policy, if it has some.
func (e eitherHash) Aliases() []string {
	if p, ok := e.Policy.(interface{ Aliases() []string }); ok {
		return p.Aliases()
	}
	return nil
}
