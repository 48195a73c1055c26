package filter

import (
	"fmt"
	"math"
)

const (
	goleveldbName = "leveldb.BuiltinBloomFilter"
	levelDBName   = "leveldb.BuiltinBloomFilter2"

	// A small set of keys gets at least this many bits: fewer would give it a
	// high false-positive rate.
	minBits = 64

	// Bit positions are 32-bit hashes: more bits could not be reached, and
	// whole bytes of them leave 2³²−8.
	maxBits = math.MaxUint32 - 7

	// A stored k above maxK is reserved for other encodings, which a reader
	// that does not know them takes for "may contain".
	maxK = 30
)

// Bloom is LevelDB's Bloom filter, as a [Policy]. Its filters are the ones that
// goleveldb and C++ LevelDB write and read, bit for bit. The zero value is
// NewBloom(0).
type Bloom struct {
	bitsPerKey int
}

// NewBloom returns a Bloom filter policy that spends bitsPerKey bits on each
// key: 10 gives about 1 % false positives, and [SizeForRate] tells how many
// give another rate. Values below 0 behave as 0, the smallest filter. The
// number only matters for writing: a filter stores what reading it takes.
//
// A key sets k = bitsPerKey·69/100 bits, at least 1 and at most 30. A filter
// takes at least 64 bits, and at most 2³²−8 whatever is asked for.
func NewBloom(bitsPerKey int) Bloom {
	return Bloom{bitsPerKey: max(bitsPerKey, 0)}
}

// Name returns the name that goleveldb gives these filters.
func (Bloom) Name() string { return goleveldbName }

// Aliases returns the name that C++ LevelDB gives these filters.
func (Bloom) Aliases() []string { return []string{levelDBName} }

// NewGenerator returns an empty Generator, which takes 4 bytes of memory for
// each key added.
func (p Bloom) NewGenerator() Generator {
	return &bloomGenerator{bitsPerKey: uint64(p.bitsPerKey)}
}

// Contains reports whether key may be in filter. A filter of fewer than two
// bytes contains nothing, and one with a reserved k (over 30) everything, as in
// goleveldb and C++ LevelDB.
func (Bloom) Contains(filter, key []byte) bool {
	return mayContain(filter, hash(key))
}

// Check returns an error for a filter that no engine writes: one shorter than
// 64 bits and the byte for k, or with k = 0.
func (Bloom) Check(filter []byte) error {
	if len(filter) < minBits/8+1 {
		return fmt.Errorf("Bloom filter of %d bytes, want at least %d", len(filter), minBits/8+1)
	}
	if filter[len(filter)-1] == 0 {
		return fmt.Errorf("Bloom filter with k = 0, want at least 1")
	}
	return nil
}

type bloomGenerator struct {
	bitsPerKey uint64
	hashes     []uint32
}

func (g *bloomGenerator) Add(key []byte) {
	h := hash(key)
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

// filterBits returns how many bits a filter of n keys takes, a multiple of 8.
func filterBits(n, bitsPerKey uint64) uint64 {
	if bitsPerKey > 0 && n > maxBits/bitsPerKey {
		return maxBits
	}
	return (max(n*bitsPerKey, minBits) + 7) / 8 * 8
}

// probes returns k, the bits that each key sets: ln 2 ≈ 0.69 of the bits per
// key, rounded down to save a probe, and clamped before it is narrowed.
func probes(bitsPerKey uint64) int {
	if bitsPerKey > 100 {
		return maxK
	}
	return int(max(1, min(bitsPerKey*69/100, maxK)))
}
