// Package blocked has Bloom filters for up to billions of keys that accept new keys while being queried. All
// bits of a key are in one line of the processor's cache, so that a lookup costs at most one miss of
// it. The bits come from a hash of 64 bits, so that a filter of 10⁹ keys has the rate of one of 10³.
//
//	f, err := blocked.New(1_000_000_000, 0.01) // 1.25 GB
//	f.Add(key)
//	f.Contains(key)
//
// If the number of keys is unknown, a [Growing] keeps the false-positive rate at any number:
//
//	g, err := blocked.NewGrowing(0, 0.01)
//	absent, err := g.AddIfAbsent(key)
//
// LevelDB's engines do not read these filters: filter.DynamicBloom has theirs.
//
// # The bits of a key
//
// A filter has n lines of 8 words of 64 bits. The hash h of a key is its XXH3 of 64 bits. The line
// of the key is h·n / 2⁶⁴, rounded down. In the line the key sets k bits, two at a time in one word:
//
//	k/2 times:  h = h·0xd1342543de82ef95 mod 2⁶⁴
//	            the word is h>>61, and its bits are h>>55 mod 64 and h>>49 mod 64
//
// Two bits in one word cost one access to memory. If each bit had a word of its own, filters of the same
// rate would take 1 to 2 % less memory.
//
// # What is stored
//
//	┌────────────┬────────────┬────────┬────────┬────────────┬───────────────┬────────────┐
//	│ "SieveBlk" │ version, 1 │ k      │ n      │ checksum   │ n lines of    │ checksum   │
//	│            │ u32le      │ u32le  │ u64le  │ u32le      │ 8 words u64le │ u32le      │
//	└────────────┴────────────┴────────┴────────┴────────────┴───────────────┴────────────┘
//
// The first checksum is the CRC-32C of the 24 bytes before it, and the second that of the lines.
//
// # A Growing
//
// A Growing is a chain of filters, as in Almeida et al., "Scalable Bloom Filters", 2007. The first filter holds 16384
// keys. When the last filter is full, a filter for twice as many keys is added. The first filter gets 1/4 of the rate,
// and each new filter 1/4 of the remaining rate. The sum of all rates therefore stays below the rate of the chain.
//
// A lookup checks the filters from the last one on, and for an absent key all of them. At 1 %, beside one filter of
// the right size (at 10^6 keys the chain is almost full; when it has just grown, it takes twice the memory):
//
//	                       10^4 keys         10^6 keys
//	                     one    chain      one    chain
//	filters                1        1        1        6
//	bytes per key       1.28     2.79     1.26     2.13
//	lookup, absent    8.8 ns   7.6 ns    11 ns    37 ns
//	lookup, present   7.3 ns   9.0 ns     9 ns    20 ns
//	new key           19 ns    42 ns     19 ns    78 ns
//
// What is stored begins with a header: "SieveGro", the version 1 and the number of filters as u32le, the rate and what
// is left of it as float64. For each filter its bytes as above follow, and as u64le for how many keys it is made, and
// how many it has. A CRC-32C as u32le ends the header, and each pair of numbers.
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

	// maxLines are 256 GiB: some 10¹¹ keys with a rate of 1 %.
	maxLines = 1 << 32

	// maxProbes is how many words of a line a key has bits in, at most.
	maxProbes = 8

	// multiplier steps from one word of a key to the next: a multiplier of Steele and Vigna
	// ("Computationally easy, spectrally good multipliers for congruential pseudorandom number
	// generators", 2022).
	multiplier = 0xd1342543de82ef95
)

// A Filter is a Bloom filter of a fixed size, which accepts new keys while being queried. All methods
// are safe for concurrent use. None of them waits for another. Those that add or query
// allocate nothing.
//
// Contains is true for a key from the moment on at which an Add or AddIfAbsent of the key has
// returned. It may be true earlier. Only [Filter.Intersect] makes keys absent again.
//
// Nothing stops a filter from getting more keys than it was made for: its false-positive rate
// grows, and [Filter.Inspect] returns it. A [Growing] grows instead.
type Filter struct {
	lines  []line
	probes int // words of the line that a key has two bits in
}

type line [lineWords]uint64

// New returns an empty filter for that number of keys and that false-positive rate, from 10⁻⁹ to 0.5.
// It has the size at which the expected rate, plus three standard deviations of it among filters of
// that size, is ≤ rate. For 10⁶ keys this takes
//
//	rate             10 %    1 %   0.1 %  0.01 %  0.001 %
//	bits per key      4.9   10.1    15.8     22.4      30.2
//
// Filters of few keys take more: 10.8 for 1000 keys and 1 %. Stored, they also have a header and checksums:
// see [Filter.Size]. A filter has at least 64 bytes.
//
// New returns an error if the filter takes more than 256 GiB, or 2 GiB on a 32-bit machine. It also returns
// an error if the filter takes more memory than debug.SetMemoryLimit allows or, on Unix and Windows, than the
// system grants. If a container limits the memory, compare [SizeFor] with that limit first.
func New(keys uint64, rate float64) (*Filter, error) {
	if err := checkRate(rate); err != nil {
		return nil, err
	}
	return newBeside(0, keys, rate)
}

// newBeside is New where so many bytes of memory are taken already. The rate may be lower.
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

// SizeFor returns the [Filter.Size] in bytes of the filter that [New] returns for these arguments. The filter
// takes as much memory. SizeFor allocates nothing.
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

// checkLines returns an error if a filter cannot have so many lines.
func checkLines(n uint64) error {
	if most := uint64(min(maxLines, math.MaxInt/lineSize)); n > most {
		return fmt.Errorf("blocked: filter of %d lines of %d bytes, want at most %d: take several filters",
			n, lineSize, most)
	}
	return nil
}

// Add adds a key. It does not keep the slice.
func (f *Filter) Add(key []byte) { f.AddHash(xxh3.Hash(key)) }

// AddIfAbsent adds a key and reports whether it was absent. If so, it was certainly not added
// before. If not, it was added before, or is a false positive: the filter had all its bits, and the
// call changed none of them.
//
// If several goroutines add the same absent key at once, AddIfAbsent is true for at least one of
// them, and can be true for more than one.
func (f *Filter) AddIfAbsent(key []byte) bool { return f.AddHashIfAbsent(xxh3.Hash(key)) }

// Contains reports whether key may have been added. If it returns false, no Add of the key had
// returned before the call.
func (f *Filter) Contains(key []byte) bool { return f.ContainsHash(xxh3.Hash(key)) }

// AddHash is Add for a key whose hash is h: its XXH3, if Add and Contains shall know the key too, or
// else any hash of which all 64 bits are good.
func (f *Filter) AddHash(h uint64) {
	line := f.line(h)
	for range f.probes {
		h *= multiplier
		atomic.OrUint64(&line[h>>61], pair(h))
	}
}

// AddHashIfAbsent is AddIfAbsent for a key whose hash is h: see [Filter.AddHash].
func (f *Filter) AddHashIfAbsent(h uint64) bool {
	line := f.line(h)
	var set uint64 // bits that this call has set
	for range f.probes {
		h *= multiplier
		set |= pair(h) &^ atomic.OrUint64(&line[h>>61], pair(h))
	}
	return set != 0
}

// ContainsHash is Contains for a key whose hash is h: see [Filter.AddHash].
func (f *Filter) ContainsHash(h uint64) bool {
	line := f.line(h)
	for range f.probes {
		h *= multiplier
		// The fewer instructions there are, the more lookups wait for memory at the same time.
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

// pair returns the two bits in the word h>>61.
func pair(h uint64) uint64 { return 1<<(h>>55%wordBits) | 1<<(h>>49%wordBits) }
