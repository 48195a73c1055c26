package filter

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/bloom"
)

// A DynamicBloom is LevelDB's Bloom filter, to which keys are added while it is queried. It is safe for concurrent
// use. Methods do not wait for each other, and Add, AddIfAbsent and Contains do not allocate memory.
//
// The size is fixed: if more keys are added than planned, the false-positive rate grows. Unless LevelDB reads the
// filter, prefer module filter/blocked, which has fewer false positives.
type DynamicBloom struct {
	words  []uint32 // bit i is bit i%32 of word i/32; 32-bit processors are slow to change 64 bits at once
	size   int      // of the bit array in bytes; the last word can hold fewer than 4 of them
	k      int
	prober bloom.Prober
}

// NewDynamicBloom returns an empty filter for that number of keys, with the size and k of [NewBloom](bitsPerKey).
// If bitsPerKey < 1, or the filter exceeds 2^32-8 bits or the memory that debug.SetMemoryLimit or the system grants,
// NewDynamicBloom returns an error.
func NewDynamicBloom(keys uint64, bitsPerKey int) (*DynamicBloom, error) {
	size, k, err := sizeFor("Bloom filter", keys, bitsPerKey, 1, "use several filters, or module filter/blocked")
	if err != nil {
		return nil, err
	}
	return newDynamicBloom(size, k), nil
}

// sizeFor returns the size in bytes of Bloom's bit array for that many keys, and k. It checks that there is memory
// for that many arrays.
func sizeFor(kind string, keys uint64, bitsPerKey, arrays int, advice string) (size, k int, err error) {
	if bitsPerKey < 1 {
		return 0, 0, fmt.Errorf("filter: %s of %d bits per key (minimum 1)", kind, bitsPerKey)
	}
	perKey := uint64(bitsPerKey)
	if keys > bloom.MaxBits/perKey {
		return 0, 0, fmt.Errorf("filter: %s of %d keys with %d bits each exceeds %d bits: %s",
			kind, keys, bitsPerKey, uint64(bloom.MaxBits), advice)
	}
	bytes := bloom.Bits(keys, perKey) / 8
	if err := alloc.Check(uint64(arrays) * bytes); err != nil {
		return 0, 0, fmt.Errorf("filter: %s of %d keys with %d bits each %w", kind, keys, bitsPerKey, err)
	}
	return int(bytes), bloom.K(perKey), nil
}

// newDynamicBloom returns an empty filter whose bit array has size bytes.
func newDynamicBloom(size, k int) *DynamicBloom {
	return &DynamicBloom{words: make([]uint32, (size+3)/4), size: size, k: k, prober: bloom.NewProber(size)}
}

// OpenDynamicBloom returns a filter that resumes from a copy of a [Bloom] filter, such as the result of
// [DynamicBloom.Bytes]. k must be at most 30.
func OpenDynamicBloom(filter []byte) (*DynamicBloom, error) {
	if err := (Bloom{}).Check(filter); err != nil {
		return nil, err
	}
	array, k := filter[:len(filter)-1], int(filter[len(filter)-1])
	if k > bloom.MaxK {
		return nil, fmt.Errorf("filter: Bloom filter with k = %d (maximum %d): keys cannot be added", k, bloom.MaxK)
	}
	if len(array) > bloom.MaxBits/8 {
		return nil, fmt.Errorf("filter: Bloom filter of %d bytes is too long (maximum %d)", len(filter), bloom.MaxBits/8+1)
	}
	f := newDynamicBloom(len(array), k)
	for i, c := range array {
		f.words[i/4] |= uint32(c) << (i % 4 * 8)
	}
	return f, nil
}

// Add adds a key. It does not keep the slice.
func (f *DynamicBloom) Add(key []byte) {
	h := bloom.Hash(key, bloom.UnsignedTail)
	delta := bloom.Delta(h)
	for range f.k {
		word, bit := f.at(h)
		// A bit that is set already is not written, so that its cache line stays shared.
		if atomic.LoadUint32(word)&bit == 0 {
			atomic.OrUint32(word, bit)
		}
		h += delta
	}
}

// AddIfAbsent adds a key and reports whether it was absent. If not, the key was added before or is a false
// positive. If several goroutines add the same absent key at once, AddIfAbsent returns true in at least one of
// them.
func (f *DynamicBloom) AddIfAbsent(key []byte) bool {
	h := bloom.Hash(key, bloom.UnsignedTail)
	delta, absent := bloom.Delta(h), false
	for range f.k {
		word, bit := f.at(h)
		if atomic.LoadUint32(word)&bit == 0 && atomic.OrUint32(word, bit)&bit == 0 {
			absent = true
		}
		h += delta
	}
	return absent
}

// Contains reports whether key may have been added. If it returns false, no Add of key had returned before the
// call.
func (f *DynamicBloom) Contains(key []byte) bool {
	return f.containsHash(bloom.Hash(key, bloom.UnsignedTail))
}

func (f *DynamicBloom) containsHash(h uint32) bool {
	delta, k := bloom.Delta(h), f.k
	for ; k >= 3; k -= 3 { // three at a time, as in bloom.MayContain
		if f.bit(h)&f.bit(h+delta)&f.bit(h+2*delta) == 0 {
			return false
		}
		h += 3 * delta
	}
	for ; k > 0; k-- {
		if f.bit(h) == 0 {
			return false
		}
		h += delta
	}
	return true
}

// at returns the word that contains bit h mod the size, and the bit within it.
func (f *DynamicBloom) at(h uint32) (word *uint32, bit uint32) {
	i := f.prober.Bit(h)
	return &f.words[i/32], 1 << (i % 32)
}

// bit returns bit h mod the size: 0 or 1.
func (f *DynamicBloom) bit(h uint32) uint32 {
	i := f.prober.Bit(h)
	return atomic.LoadUint32(&f.words[i/32]) >> (i % 32) & 1
}

// Bytes returns the filter as a [Bloom] filter, identical to the one that a Generator builds from the same keys. It
// contains all keys whose Add returned before the call.
func (f *DynamicBloom) Bytes() []byte {
	b := make([]byte, 0, 4*len(f.words)+1)
	for i := range f.words {
		b = binary.LittleEndian.AppendUint32(b, atomic.LoadUint32(&f.words[i]))
	}
	return append(b[:f.size], byte(f.k))
}

// Rate returns the current false-positive rate for random keys, 0 to 1. It looks up 2^20 random hashes, in 10 to
// 200 milliseconds. The standard deviation is 0.01 percentage points at 1 %.
func (f *DynamicBloom) Rate() float64 {
	const samples = 1 << 20
	rng, hits := rand.New(rand.NewPCG(1, 1)), 0
	for range samples {
		if f.containsHash(rng.Uint32()) {
			hits++
		}
	}
	return float64(hits) / samples
}

// Union adds all keys of other, which must have the same size and k. Otherwise it returns an error and adds
// nothing. Keys can be added to both filters during the call. f then contains each key whose Add to other returned
// before the call.
func (f *DynamicBloom) Union(other *DynamicBloom) error {
	if err := checkEqualForm("union", f.size, other.size, f.k, other.k); err != nil {
		return err
	}
	for i := range f.words {
		if bits := atomic.LoadUint32(&other.words[i]); bits != 0 {
			atomic.OrUint32(&f.words[i], bits)
		}
	}
	return nil
}

// Intersect removes the keys that are not in other, like the function [Intersect]. If other has another size or k,
// it returns an error and changes nothing.
//
// Keys can be added to both filters during the call. Add a key to f again afterwards if it was added to f during
// the call and was not in other before.
func (f *DynamicBloom) Intersect(other *DynamicBloom) error {
	if err := checkEqualForm("intersection", f.size, other.size, f.k, other.k); err != nil {
		return err
	}
	for i := range f.words {
		atomic.AndUint32(&f.words[i], atomic.LoadUint32(&other.words[i]))
	}
	return nil
}

// checkEqualForm returns an error unless two filters have bit arrays of equal sizes, in bytes, and the same k.
func checkEqualForm(operation string, size, otherSize, k, otherK int) error {
	if size != otherSize || k != otherK {
		return fmt.Errorf("filter: %s of filters of %d and %d bytes, with k = %d and %d: sizes and k must be equal",
			operation, size+1, otherSize+1, k, otherK)
	}
	return nil
}
