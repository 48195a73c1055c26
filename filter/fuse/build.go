package fuse

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/sievetable/sievetable/internal/hashlist"
)

const (
	// maxAttempts bounds the number of seeds to try. A few percent of all attempts fail.
	maxAttempts = 1024

	// maxPooled is the maximum number of keys for which a builder is kept for the next filter.
	maxPooled = 100_000

	// maxUnsorted is the maximum number of keys that are not sorted by segment: the counts and sums of about that
	// many fit in the processor's second-level cache.
	maxUnsorted = 40_000
)

// A builder computes the fingerprints of a filter. The next filter reuses its memory.
//
// If only one key has a place, the fingerprint there can be set last, to whatever this key needs. So the builder
// removes the key, which can leave other places with only one key, and so on. Once all keys are removed, it sets
// their fingerprints in reverse order. If some keys are left, it tries another seed.
type builder struct {
	shape
	counts []uint8  // of the hashes at each place
	sums   []uint64 // the exclusive or of the hashes at each place
	hashes []uint64 // mixed with the seed, in the order of segments or keys, then of removal
	owns   []uint8  // for each removed hash, which of its three places it sets
	alone  []uint32 // places that had only one hash when they were appended
}

var builderPool = sync.Pool{New: func() any { return new(builder) }}

func (b *builder) release() {
	if cap(b.hashes) <= maxPooled {
		builderPool.Put(b)
	}
}

// build returns the filter of keys with these hashes. It removes duplicates from l.
func (b *builder) build(l *hashlist.List[uint64], fingerprintBits int) ([]byte, error) {
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		seed := seedOf(attempt)
		b.shape = shapeOf(l.Len())
		if attempt%4 == 2 && l.Len() > 4 && l.Len() < 1_000_000 { // for some n, the usual length seldom succeeds
			b.shape = b.halved()
		}
		b.resize(l.Len())
		if b.count(l, seed) && b.peel() == l.Len() {
			return b.filter(l.Len(), seed, fingerprintBits), nil
		}
		if attempt == 1 && b.compact(l) {
			return b.build(l, fingerprintBits)
		}
	}
	return nil, fmt.Errorf("fuse: no filter of %d keys in %d attempts", l.Len(), maxAttempts)
}

// compact removes duplicate hashes, and reports whether there were any. With duplicates, all seeds fail.
func (b *builder) compact(l *hashlist.List[uint64]) bool {
	all := b.hashes[:0]
	for _, chunk := range l.Chunks() {
		all = append(all, chunk...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == l.Len() {
		return false
	}
	l.Reset()
	for _, h := range all {
		l.Add(h)
	}
	return true
}

// resize makes room for n hashes, and clears the counts and sums.
func (b *builder) resize(n int) {
	places := int(b.fingerprints())
	b.counts = sized(b.counts, places)
	b.sums = sized(b.sums, places)
	clear(b.counts)
	clear(b.sums)
	b.hashes = sized(b.hashes, n)
	b.owns = sized(b.owns, n)
	if b.alone == nil {
		b.alone = make([]uint32, places/4)
	}
}

// sized returns a slice of n arbitrary elements, in the memory of s if it is large enough.
func sized[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// count adds all hashes to the counts and sums of their places. It returns false if a count overflows. If there are
// many hashes, it first sorts them by segment, so that their places stay in the processor's cache.
func (b *builder) count(l *hashlist.List[uint64], seed uint64) bool {
	if l.Len() > maxUnsorted {
		b.sort(l, seed)
		return b.add(b.hashes)
	}
	mixed := b.hashes[:0]
	for _, chunk := range l.Chunks() {
		for _, h := range chunk {
			mixed = append(mixed, mix(h+seed))
		}
	}
	return b.add(mixed)
}

// sort mixes the hashes with the seed and sorts them by the segment of their first place.
func (b *builder) sort(l *hashlist.List[uint64], seed uint64) {
	segments := b.starts / uint64(b.segmentLen)
	next := make([]int, segments+1) // index of the next hash of each segment; at first, the count of the segment before
	for _, chunk := range l.Chunks() {
		for _, h := range chunk {
			segment, _ := bits.Mul64(mix(h+seed), segments)
			next[segment+1]++
		}
	}
	for i := range segments {
		next[i+1] += next[i]
	}
	for _, chunk := range l.Chunks() {
		for _, h := range chunk {
			mixed := mix(h + seed)
			segment, _ := bits.Mul64(mixed, segments)
			b.hashes[next[segment]] = mixed
			next[segment]++
		}
	}
}

// add adds mixed hashes to the counts and sums. It returns false if a count overflows.
func (b *builder) add(mixed []uint64) bool {
	s, counts, sums := b.shape, b.counts, b.sums[:len(b.counts)]
	for _, h := range mixed {
		i, j, k := s.places(h)
		counts[i]++
		sums[i] ^= h
		counts[j]++
		sums[j] ^= h
		counts[k]++
		sums[k] ^= h
		if counts[i] == 0 || counts[j] == 0 || counts[k] == 0 {
			return false
		}
	}
	return true
}

// peel removes hashes, moves them to the front of b.hashes in order of removal, and returns their number.
func (b *builder) peel() (removed int) {
	s, counts, sums := b.shape, b.counts, b.sums[:len(b.counts)]
	n := b.findAlone()
	for n > 0 {
		n--
		place := b.alone[n]
		if counts[place] != 1 {
			continue
		}
		h := sums[place]
		i, j, k := s.places(h)
		own, next, last := uint8(0), j, k
		if place == j {
			own, next, last = 1, k, i
		}
		if place == k {
			own, next, last = 2, i, j
		}
		b.hashes[removed], b.owns[removed] = h, own
		removed++
		b.reserve(n + 2)
		n = takeFrom(next, h, counts, sums, b.alone, n)
		n = takeFrom(last, h, counts, sums, b.alone, n)
	}
	return removed
}

// takeFrom removes hash h from a place. If one hash is left there, it appends the place to the n places in alone. It
// returns the number of places in alone.
func takeFrom(place uint32, h uint64, counts []uint8, sums []uint64, alone []uint32, n int) int {
	alone[n] = place
	if counts[place] == 2 { // compiles without a branch
		n++
	}
	counts[place]--
	sums[place] ^= h
	return n
}

// findAlone sets alone to the places with only one hash, and returns their number.
func (b *builder) findAlone() (n int) {
	for place, count := range b.counts {
		b.reserve(n + 1)
		b.alone[n] = uint32(place)
		if count == 1 {
			n++
		}
	}
	return n
}

// reserve makes room for n places in alone.
func (b *builder) reserve(n int) {
	if n > len(b.alone) {
		b.alone = append(b.alone, make([]uint32, n-len(b.alone))...)
		b.alone = b.alone[:cap(b.alone)]
	}
}
