// Package blocked has live Bloom filters, which accept keys while being queried, for up to billions of keys. All
// bits of a key are in one cache line, so a lookup has at most one cache miss. Hashes have 64 bits, so the
// false-positive rate does not depend on the number of keys.
//
//	f, err := blocked.New(1_000_000_000, 0.01) // 1.25 GB
//	f.Add(key)
//	f.Contains(key)
//
// If the number of keys is unknown, a [Growing] keeps the rate at any number:
//
//	g, err := blocked.NewGrowing(0, 0.01)
//	absent, err := g.AddIfAbsent(key)
//
// LevelDB does not read these filters: see filter.DynamicBloom.
//
// # Filter or Growing
//
// At 1 %, a Growing takes more memory and time than a [Filter] of the right size. At 10^6 keys its last filter is
// almost full. When it has just grown, it takes twice the memory:
//
//	                       10^4 keys         10^6 keys
//	                   Filter  Growing   Filter  Growing
//	filters                1        1        1        6
//	bytes per key       1.28     2.79     1.26     2.13
//	lookup, absent    8.8 ns   7.6 ns    11 ns    37 ns
//	lookup, present   7.3 ns   9.0 ns     9 ns    20 ns
//	new key           19 ns    42 ns     19 ns    78 ns
//
// # Format of a Filter
//
//	+------------+------------+-------+-------+----------+-------------------+----------+
//	| "SieveBlk" | version, 1 | k     | n     | checksum | n lines of        | checksum |
//	|            | u32le      | u32le | u64le | u32le    | 8 words, u64le    | u32le    |
//	+------------+------------+-------+-------+----------+-------------------+----------+
//
// The checksums are CRC-32Cs of the 24 bytes before the first one, and of the lines. The hash h of a key is its
// 64-bit XXH3. The key is in line h*n >> 64, where it sets k bits, two at a time in one word:
//
//	k/2 times:  h = h*0xd1342543de82ef95 mod 2^64
//	            in word h>>61, set the bits h>>55 mod 64 and h>>49 mod 64
//
// # Format of a Growing
//
// A Growing is a chain of filters, as in Almeida et al., "Scalable Bloom Filters", 2007. Each filter has room for
// twice as many keys as the one before, and gets 1/4 of the rate that the earlier ones leave.
//
// It is stored as a header and the filters, each followed by its capacity and its number of keys, as u64le. The
// header is "SieveGro", the version 1 and the number of filters as u32le, and the rate and the part of it left for
// later filters as float64. A CRC-32C as u32le follows the header and each pair of numbers.
package blocked

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/zeebo/xxh3"
)

const (
	wordBits  = 64
	lineWords = 8
	lineSize  = wordBits / 8 * lineWords

	// maxLines is the maximum number of lines, 256 GiB: some 10¹¹ keys at a rate of 1 %.
	maxLines = 1 << 32

	// maxProbes is the maximum number of words in which a key sets bits.
	maxProbes = 8

	// multiplier steps from one word of a key to the next. It is from Steele and Vigna, "Computationally easy,
	// spectrally good multipliers for congruential pseudorandom number generators", 2022.
	multiplier = 0xd1342543de82ef95
)

// A Filter is a Bloom filter of a fixed size, which accepts keys while being queried. All methods are safe for
// concurrent use and do not wait for each other. The ones that add or query do not allocate memory.
//
// If more keys are added than planned, the false-positive rate grows: see [Filter.Inspect]. A [Growing] keeps the
// rate.
type Filter struct {
	lines  []line
	probes int // number of words of the line in which a key sets two bits
}

type line [lineWords]uint64

// New returns an empty filter for that number of keys and that false-positive rate, from 1e-9 to 0.5. Its expected
// rate is three standard deviations lower. With 10^6 keys:
//
//	rate             10 %    1 %   0.1 %  0.01 %  0.001 %
//	bits per key      4.9   10.1    15.8     22.4      30.2
//
// Smaller filters take more: 10.8 for 1000 keys at 1 %. If the filter exceeds 256 GiB (2 GiB on a 32-bit machine),
// or the memory that debug.SetMemoryLimit or the system grants, New returns an error. In a container with a memory
// limit, check [SizeFor] first.
func New(keys uint64, rate float64) (*Filter, error) {
	if err := checkRate(rate); err != nil {
		return nil, err
	}
	return newBeside(0, keys, rate)
}

// newBeside is like New for a filter alongside others that take that many bytes. It also accepts lower rates.
func newBeside(taken, keys uint64, rate float64) (*Filter, error) {
	lines, probes, err := size(keys, rate)
	if err != nil {
		return nil, err
	}
	if err := checkLines(lines); err != nil {
		return nil, err
	}
	if err := alloc.Check(taken + lines*lineSize); err != nil {
		return nil, fmt.Errorf("blocked: filter of %d keys with a rate of %g %w", keys, rate, err)
	}
	return &Filter{lines: make([]line, lines), probes: probes}, nil
}

// SizeFor returns the [Filter.Size] in bytes of the filter that [New] returns, about the memory that it takes.
func SizeFor(keys uint64, rate float64) (uint64, error) {
	if err := checkRate(rate); err != nil {
		return 0, err
	}
	lines, _, err := size(keys, rate)
	if err != nil {
		return 0, err
	}
	return storedSize(lines), nil
}

// checkLines returns an error if a filter cannot have that many lines.
func checkLines(n uint64) error {
	if most := uint64(min(maxLines, math.MaxInt/lineSize)); n > most {
		return fmt.Errorf("blocked: filter of %d lines of %d bytes (maximum %d): use several filters",
			n, lineSize, most)
	}
	return nil
}

// Add adds a key. It does not keep the slice.
func (f *Filter) Add(key []byte) { f.AddHash(xxh3.Hash(key)) }

// AddIfAbsent adds a key and reports whether it was absent. If not, the key was added before or is a false
// positive. If several goroutines add the same absent key at once, AddIfAbsent returns true in at least one of
// them.
func (f *Filter) AddIfAbsent(key []byte) bool { return f.AddHashIfAbsent(xxh3.Hash(key)) }

// Contains reports whether key may have been added. If it returns false, no Add of key had returned before the
// call.
func (f *Filter) Contains(key []byte) bool { return f.ContainsHash(xxh3.Hash(key)) }

// AddHash is Add for the key with hash h: its 64-bit XXH3, as Add and Contains use, or another good 64-bit hash.
func (f *Filter) AddHash(h uint64) {
	line := f.line(h)
	for range f.probes {
		h *= multiplier
		atomic.OrUint64(&line[h>>61], pair(h))
	}
}

// AddHashIfAbsent is AddIfAbsent for the key with hash h: see [Filter.AddHash].
func (f *Filter) AddHashIfAbsent(h uint64) bool {
	line := f.line(h)
	var set uint64 // bits that this call has set
	for range f.probes {
		h *= multiplier
		set |= pair(h) &^ atomic.OrUint64(&line[h>>61], pair(h))
	}
	return set != 0
}

// ContainsHash is Contains for the key with hash h: see [Filter.AddHash].
func (f *Filter) ContainsHash(h uint64) bool {
	line := f.line(h)
	for range f.probes {
		h *= multiplier
		// The fewer instructions a lookup has, the more lookups' memory accesses the processor can overlap.
		word := atomic.LoadUint64(&line[h>>61])
		if word>>(h>>55%wordBits)&(word>>(h>>49%wordBits))&1 == 0 {
			return false
		}
	}
	return true
}

// line returns the line of the key with hash h.
func (f *Filter) line(h uint64) *line {
	i, _ := bits.Mul64(h, uint64(len(f.lines)))
	return &f.lines[i]
}

// pair returns the two bits in the word h>>61. Two bits in one word take a single memory access. With a word for
// each bit, filters of the same rate would be 1 to 2 % smaller.
func pair(h uint64) uint64 { return 1<<(h>>55%wordBits) | 1<<(h>>49%wordBits) }
