package rowblock

import (
	"bytes"
	"math"

	"github.com/sievetable/sievetable/internal/format"
)

// A Decoded is an array of the entries of a block. It is safe for concurrent use until
// Decode changes it. The zero value has no entries.
type Decoded struct {
	keys, values []byte // the spans are parts of these
	spans        []entrySpan
	order        Order

	// In a Cached whose order is Bytewise, all keys are also abbreviated: to the 4 bytes after their common prefix,
	// as a number. A search then looks at one whole key only. The numbers are apart from the spans, so that a search
	// touches few cache lines.
	abbreviated  []uint32
	commonPrefix int // length of the prefix that all keys share; −1 if there are no abbreviations
	keySize      int // in a Cached: bytes of all keys, which precede the values
}

// An entrySpan is the start and the end of an entry's key and of its value.
type entrySpan struct{ key, keyEnd, value, valueEnd uint32 }

// Len returns the number of entries.
func (b *Decoded) Len() int { return len(b.spans) }

// Key returns the key of entry i, 0 ≤ i < Len. The caller must not change it.
func (b *Decoded) Key(i int) []byte {
	s := &b.spans[i]
	return b.keys[s.key:s.keyEnd:s.keyEnd]
}

// Value returns the value of entry i, 0 ≤ i < Len. Its capacity equals its length. The caller must not change it.
func (b *Decoded) Value(i int) []byte {
	s := &b.spans[i]
	return b.values[s.value:s.valueEnd:s.valueEnd]
}

// Size returns the memory use of the Decoded in bytes, without the stored block. Decode reuses this memory.
func (b *Decoded) Size() int { return cap(b.keys) + spanSize*cap(b.spans) }

// Get returns the value of key, and whether the block contains key.
func (b *Decoded) Get(key []byte) (value []byte, found bool) {
	if b.commonPrefix < 0 {
		return b.valueIf(b.search(0, b.Len(), key), key)
	}
	ordered := b.order.Prefix(key)
	if len(ordered) < b.commonPrefix {
		return nil, false
	}
	// A key without the common prefix is not in the block, and comparing whole keys below rules it out.
	a := format.First4(ordered[b.commonPrefix:])
	first := format.CountLess(b.abbreviated, a)
	if n := len(b.abbreviated); n >= manyEntries && first < n && b.abbreviated[first] == a {
		keyAt := uint64(first) * uint64(b.keySize) / uint64(n) // an int can have 32 bits, which the products exceed
		valueAt := uint64(first) * uint64(len(b.values)-b.keySize) / uint64(n)
		fetch(b.values, int(keyAt), b.keySize+int(valueAt))
	}
	for i := first; i < len(b.abbreviated) && b.abbreviated[i] == a; i++ {
		if i == first+linearLimit {
			return b.valueIf(b.search(i, b.countLessOrEqual(a), key), key)
		}
		if s := &b.spans[i]; string(b.keys[s.key:s.keyEnd]) == string(key) {
			return b.values[s.value:s.valueEnd:s.valueEnd], true
		}
	}
	return nil, false
}

// manyEntries is the number of entries from which a key and its value are not near its span.
const manyEntries = 8

// fetch reads a byte of the lines that contain a key and its value, if all entries have the same sizes. The
// processor then loads both lines while it waits for the span, instead of one after the other.
//
//go:noinline
func fetch(text []byte, key, value int) byte { return text[key] + text[min(value, len(text)-1)] }

// valueIf returns the value of entry i, if entry i exists and has that key.
func (b *Decoded) valueIf(i int, key []byte) (value []byte, found bool) {
	if i < b.Len() && b.order.Compare(b.Key(i), key) == 0 {
		return b.Value(i), true
	}
	return nil, false
}

// SeekGE returns the number of the first entry whose key is ≥ key, or Len if there is
// none.
func (b *Decoded) SeekGE(key []byte) int {
	ordered := b.order.Prefix(key)
	if b.commonPrefix < 0 || len(b.spans) == 0 || len(ordered) < b.commonPrefix || !bytes.Equal(ordered[:b.commonPrefix], b.Key(0)[:b.commonPrefix]) {
		return b.search(0, b.Len(), key)
	}
	a := format.First4(ordered[b.commonPrefix:])
	first := format.CountLess(b.abbreviated, a)
	i := first
	for i < len(b.abbreviated) && b.abbreviated[i] == a && b.order.Compare(b.Key(i), key) < 0 {
		if i++; i == first+linearLimit {
			return b.search(i, b.countLessOrEqual(a), key)
		}
	}
	return i
}

// linearLimit is the number of keys with the same abbreviation that are compared one by one, before a binary search
// of the others.
const linearLimit = 4

// search returns the number of the first entry whose key is ≥ key, by binary search. The result must be ≥ low and ≤
// high.
func (b *Decoded) search(low, high int, key []byte) int {
	for low < high {
		mid := int(uint(low+high) >> 1)
		if b.order.Compare(b.Key(mid), key) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// countLessOrEqual returns how many abbreviations are ≤ a.
func (b *Decoded) countLessOrEqual(a uint32) int {
	if a == math.MaxUint32 {
		return len(b.abbreviated)
	}
	return format.CountLess(b.abbreviated, a+1)
}

// Reset removes all entries and keeps the memory.
func (b *Decoded) Reset() {
	b.spans, b.values, b.commonPrefix = b.spans[:0], nil, -1
}
