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

// Bloom is LevelDB's Bloom filter, as a [Policy], [Aliaser] and [Checker]. Its
// filters are those of goleveldb and C++ LevelDB, bit for bit. The zero value is
// NewBloom(0). A Bloom is safe for concurrent use.
type Bloom struct {
	bitsPerKey int
}

// NewBloom returns a Bloom that builds filters of bitsPerKey bits for each key. With
// 10, about 1 % of the answers for absent keys are false positives. [SizeForRate]
// gives the bits per key for other rates. Values < 0 count as 0.
//
// A key sets k = bitsPerKey·69/100 bits, at least 1 and at most 30. A filter has at
// least 64 bits and at most 2³²−8. For reading, bitsPerKey does not matter, since a
// filter stores its own k.
func NewBloom(bitsPerKey int) Bloom {
	return Bloom{bitsPerKey: max(bitsPerKey, 0)}
}

// Name returns "leveldb.BuiltinBloomFilter", goleveldb's name for these filters.
func (Bloom) Name() string { return goleveldbName }

// Aliases returns "leveldb.BuiltinBloomFilter2", C++ LevelDB's name for these filters.
func (Bloom) Aliases() []string { return []string{levelDBName} }

// NewGenerator returns an empty Generator. It takes 4 bytes of memory for each key.
func (p Bloom) NewGenerator() Generator {
	return &bloomGenerator{bitsPerKey: uint64(p.bitsPerKey)}
}

// Contains reports whether key may be in filter. For filters of C++ LevelDB before version 1.18,
// see [EitherHash]. As in goleveldb and C++ LevelDB, it
// is false for every key if the filter has less than 2 bytes, and true for every key
// if k > 30.
func (Bloom) Contains(filter, key []byte) bool {
	return bloom.MayContain(filter, bloom.Hash(key, bloom.UnsignedTail))
}

// Check returns an error if filter is shorter than 9 bytes or has k = 0. No engine
// writes such filters.
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
