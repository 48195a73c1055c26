package filter

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/bloom"
)

// A DynamicBloom is LevelDB's Bloom filter of a fixed number of bits, in memory, to which keys
// are added while it is asked. All methods may be called by many goroutines at once. None of
// them waits for another, and Add, Contains and AddIfAbsent allocate nothing.
//
// Contains is true for a key from the moment on at which an Add or AddIfAbsent of the key has
// returned. It may be true earlier. Only [DynamicBloom.Intersect] makes keys absent again.
//
// The bytes of the filter are those that a Generator of [Bloom] builds of the same keys, if it
// has as many bits. A program can stop and resume from them. Nothing stops the filter from
// getting more keys than it was made for: its false-positive rate grows, and [DynamicBloom.Rate]
// tells it.
//
// For more than some 10⁶ keys the module filter/blocked has filters with fewer false positives.
type DynamicBloom struct {
	words  []uint32 // bit i is bit i%32 of word i/32; 32-bit processors are slow to change 64 bits at once
	size   int      // of the bit array in bytes, of which the last word can have less than 4
	k      int
	prober bloom.Prober
}

// NewDynamicBloom returns an empty filter. It has the size and the k that [NewBloom](bitsPerKey)
// gives to a filter of that many keys, from 8 bytes to 512 MiB. bitsPerKey must be ≥ 1, and
// keys·bitsPerKey at most 2³²−8. It is an error if the filter takes more memory than debug.SetMemoryLimit
// allows or, on Unix and Windows, than the system grants.
func NewDynamicBloom(keys uint64, bitsPerKey int) (*DynamicBloom, error) {
	size, k, err := sizeFor(keys, bitsPerKey)
	if err != nil {
		return nil, err
	}
	if err := alloc.Check(uint64(size)); err != nil {
		return nil, fmt.Errorf("filter: Bloom filter of %d keys with %d bits each %w", keys, bitsPerKey, err)
	}
	return newDynamicBloom(size, k), nil
}

// sizeFor returns the size in bytes of the bit array that Bloom gives to so many keys, and k.
func sizeFor(keys uint64, bitsPerKey int) (size, k int, err error) {
	if bitsPerKey < 1 {
		return 0, 0, fmt.Errorf("filter: Bloom filter of %d bits per key, want at least 1", bitsPerKey)
	}
	perKey := uint64(bitsPerKey)
	if keys > bloom.MaxBits/perKey {
		return 0, 0, fmt.Errorf("filter: Bloom filter of %d keys with %d bits each, want at most %d bits in all: "+
			"take several filters, or one of module filter/blocked", keys, bitsPerKey, uint64(bloom.MaxBits))
	}
	return int(bloom.Bits(keys, perKey) / 8), bloom.K(perKey), nil
}

// newDynamicBloom returns an empty filter whose bit array has size bytes.
func newDynamicBloom(size, k int) *DynamicBloom {
	return &DynamicBloom{words: make([]uint32, (size+3)/4), size: size, k: k, prober: bloom.NewProber(size)}
}

// OpenDynamicBloom returns a filter that goes on from the bytes of a [Bloom] filter, of this
// type's Bytes or of any engine. It copies them. It is an error if they are not a filter by
// [Bloom.Check], if k > 30, or if there are more than 2³²−8 bits.
func OpenDynamicBloom(filter []byte) (*DynamicBloom, error) {
	if err := (Bloom{}).Check(filter); err != nil {
		return nil, err
	}
	array, k := filter[:len(filter)-1], int(filter[len(filter)-1])
	if k > bloom.MaxK {
		return nil, fmt.Errorf("filter: Bloom filter with k = %d, want at most %d: nothing can be added", k, bloom.MaxK)
	}
	if len(array) > bloom.MaxBits/8 {
		return nil, fmt.Errorf("filter: Bloom filter of %d bytes, want at most %d", len(filter), bloom.MaxBits/8+1)
	}
	f := newDynamicBloom(len(array), k)
	for i := range len(array) / 4 {
		f.words[i] = binary.LittleEndian.Uint32(array[4*i:])
	}
	for i := len(array) &^ 3; i < len(array); i++ {
		f.words[i/4] |= uint32(array[i]) << (i % 4 * 8)
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

// AddIfAbsent adds a key and reports whether it was absent. If so, it was certainly not added
// before. If not, it was added before, or is a false positive: the filter had all its bits,
// and the call changed none of them.
//
// If several goroutines add the same absent key at once, AddIfAbsent is true for at least one of
// them, and can be true for more than one.
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

// Contains reports whether key may have been added. If it returns false, no Add of the key had
// returned before the call.
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

// at returns the word that has bit h mod the size, and the bit in it.
func (f *DynamicBloom) at(h uint32) (word *uint32, bit uint32) {
	i := f.prober.Bit(h)
	return &f.words[i/32], 1 << (i % 32)
}

// bit returns bit h mod the size: 0 or 1.
func (f *DynamicBloom) bit(h uint32) uint32 {
	i := f.prober.Bit(h)
	return atomic.LoadUint32(&f.words[i/32]) >> (i % 32) & 1
}

// Bytes returns the filter as [Bloom] and all engines read it: see [DynamicBloom.AppendTo].
func (f *DynamicBloom) Bytes() []byte { return f.AppendTo(make([]byte, 0, f.size+1)) }

// AppendTo appends the filter to b, as [Bloom] and all engines read it, and returns the extended
// slice. The filter has all keys whose Add returned before the call. It can have keys that are
// added during the call, or some of their bits.
func (f *DynamicBloom) AppendTo(b []byte) []byte {
	start := len(b)
	b = slices.Grow(b, 4*len(f.words)+1)
	for i := range f.words {
		b = binary.LittleEndian.AppendUint32(b, atomic.LoadUint32(&f.words[i]))
	}
	return append(b[:start+f.size], byte(f.k))
}
