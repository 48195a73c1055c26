package filter

import (
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/bloom"
)

// A CountingBloom is a Bloom filter from which keys can be removed again. In place of each bit it
// has a counter of 4 bits, so that it takes four times the memory of the filter that it yields:
// [CountingBloom.Bytes] is LevelDB's, of the keys that are left. [OpenCountingBloom] resumes from
// [CountingBloom.Counts].
//
// A key that was added several times is there until it has been removed as many times. A counter
// that reaches 15 stays there, since what it should count is lost. A key with such counters only
// may stay "may contain" for ever, but no key is denied for it. With at most the number of keys that the
// filter was made for, this happens to keys that are added some 15 times, and to hardly any other.
//
// One goroutine at a time may change a CountingBloom. Several may ask it while none changes it.
type CountingBloom struct {
	counters []byte // that of bit i is in byte i/2; of an odd bit in the upper half
	k        int
	prober   bloom.Prober
}

// maxCount is the highest count, at which a counter stays.
const maxCount = 15

// NewCountingBloom returns an empty filter that yields filters of the size and k of
// [NewDynamicBloom](keys, bitsPerKey), and takes four times their memory. keys is how many there are at
// once. bitsPerKey must be ≥ 1, and keys·bitsPerKey at most 2³²−8. Too little memory is an error, as for
// NewDynamicBloom.
func NewCountingBloom(keys uint64, bitsPerKey int) (*CountingBloom, error) {
	size, k, err := sizeFor(keys, bitsPerKey)
	if err != nil {
		return nil, err
	}
	if err := alloc.Check(4 * uint64(size)); err != nil {
		return nil, fmt.Errorf("filter: counting Bloom filter of %d keys with %d bits each %w", keys, bitsPerKey, err)
	}
	return &CountingBloom{counters: make([]byte, 4*size), k: k, prober: bloom.NewProber(size)}, nil
}

// Add adds a key. It does not keep the slice.
func (f *CountingBloom) Add(key []byte) {
	var bits [bloom.MaxK]uint32
	for _, bit := range f.bitsOf(key, &bits) {
		if f.count(bit) < maxCount {
			f.counters[bit/2] += 1 << (bit % 2 * 4)
		}
	}
}

// Remove takes back one Add of the key. If the key is certainly absent, it returns false and changes
// nothing.
//
// Remove only keys that were added. If a key was not, but the filter may contain it, Remove cannot
// tell: it returns true and takes away counts of other keys, which may be denied from then on.
func (f *CountingBloom) Remove(key []byte) bool {
	if !f.Contains(key) {
		return false
	}
	var bits [bloom.MaxK]uint32
	for _, bit := range f.bitsOf(key, &bits) {
		if f.count(bit) < maxCount {
			f.counters[bit/2] -= 1 << (bit % 2 * 4)
		}
	}
	return true
}

// Contains reports whether key may be in the filter. If it returns false, the key was not added,
// or was removed as often as it was added.
func (f *CountingBloom) Contains(key []byte) bool {
	h := bloom.Hash(key, bloom.UnsignedTail)
	delta := bloom.Delta(h)
	for range f.k {
		if f.count(f.prober.Bit(h)) == 0 {
			return false
		}
		h += delta
	}
	return true
}

// bitsOf stores the bits of a key in bits, each once, and returns them. Several of the k bits of a key
// can be the same one: if each counted, the key alone could bring a counter to its end.
func (f *CountingBloom) bitsOf(key []byte, bits *[bloom.MaxK]uint32) []uint32 {
	h := bloom.Hash(key, bloom.UnsignedTail)
	delta, n := bloom.Delta(h), 0
	for range f.k {
		bits[n] = f.prober.Bit(h)
		if !slices.Contains(bits[:n], bits[n]) {
			n++
		}
		h += delta
	}
	return bits[:n]
}

// Union adds all keys of other, as often as they were added to it. If other has another size or k, Union returns
// an error and adds nothing. other stays as it is. A key that was added to both filters must be removed as many
// times from the union. Counters stay at 15, so that no key of either filter is denied later.
func (f *CountingBloom) Union(other *CountingBloom) error {
	if err := checkEqualForm("union", len(f.counters)/4, len(other.counters)/4, f.k, other.k); err != nil {
		return err
	}
	for i, more := range other.counters {
		if more != 0 {
			low := min(f.counters[i]&maxCount+more&maxCount, maxCount)
			high := min(f.counters[i]>>4+more>>4, maxCount)
			f.counters[i] = high<<4 | low
		}
	}
	return nil
}

func (f *CountingBloom) count(bit uint32) byte { return f.counters[bit/2] >> (bit % 2 * 4) & maxCount }

// Bytes returns the filter of the keys that are there, as [Bloom] and all engines read it, without
// the counts. [OpenDynamicBloom] resumes from it. A CountingBloom resumes from [CountingBloom.Counts].
func (f *CountingBloom) Bytes() []byte { return f.AppendTo(nil) }

// AppendTo appends what Bytes returns to b, and returns the extended slice.
func (f *CountingBloom) AppendTo(b []byte) []byte {
	size := len(f.counters) / 4
	b = slices.Grow(b, size+1)
	for i := range size {
		var bits byte
		for j, two := range f.counters[4*i : 4*i+4] {
			bits |= (nonzero(two&maxCount) | nonzero(two>>4)<<1) << (2 * j)
		}
		b = append(b, bits)
	}
	return append(b, byte(f.k))
}

// nonzero returns 1 if c > 0, else 0.
func nonzero(c byte) byte {
	if c > 0 {
		return 1
	}
	return 0
}
