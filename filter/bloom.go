package filter

import (
	"errors"
	"fmt"
	"math"
)

const (
	goleveldbName = "leveldb.BuiltinBloomFilter"
	levelDBName   = "leveldb.BuiltinBloomFilter2"

	// A filter has at least minBits. With fewer, a filter of few keys would have a
	// high false-positive rate.
	minBits = 64

	// Bit positions are 32-bit hashes, so that no more than 2³² bits can be
	// reached. The largest array of whole bytes below that has 2³²−8 bits.
	maxBits = math.MaxUint32 - 7

	// A stored k > maxK is reserved for other encodings. A reader that does not
	// know them treats the filter as "may contain".
	maxK = 30
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
	return mayContain(filter, hash(key, unsignedTail))
}

// Check returns an error if filter is shorter than 9 bytes or has k = 0. No engine
// writes such filters.
func (Bloom) Check(filter []byte) error {
	if len(filter) < minBits/8+1 {
		return fmt.Errorf("filter: Bloom filter of %d bytes, want at least %d", len(filter), minBits/8+1)
	}
	if filter[len(filter)-1] == 0 {
		return errors.New("filter: Bloom filter with k = 0, want at least 1")
	}
	return nil
}

type bloomGenerator struct {
	bitsPerKey uint64
	hashes     []uint32
}

func (g *bloomGenerator) Add(key []byte) {
	h := hash(key, unsignedTail)
	g.hashes = append(g.hashes, h)
}

func (g *bloomGenerator) Generate(b Buffer) {
	size := filterBits(uint64(len(g.hashes)), g.bitsPerKey)
	k := probes(g.bitsPerKey)
	filter := b.Alloc(int(size/8) + 1)
	array := filter[:size/8]
	clear(array)
	setAll(array, g.hashes, k)
	filter[len(array)] = byte(k)
	g.hashes = g.hashes[:0]
}

// filterBits returns how many bits a filter of n keys has, a multiple of 8.
func filterBits(n, bitsPerKey uint64) uint64 {
	if bitsPerKey > 0 && n > maxBits/bitsPerKey {
		return maxBits
	}
	return (max(n*bitsPerKey, minBits) + 7) / 8 * 8
}

// probes returns k, the number of bits that each key sets: 0.69 ≈ ln 2 times the bits
// per key, rounded down to save a probe. It is clamped before the conversion to a
// byte: goleveldb's wraps at 372 bits per key.
func probes(bitsPerKey uint64) int {
	if bitsPerKey > 100 {
		return maxK
	}
	return int(max(1, min(bitsPerKey*69/100, maxK)))
}
