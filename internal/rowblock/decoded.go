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

	// In a Cached whose order is Bytewise, all keys are also abbreviated: to the 4 bytes after
	// their common prefix, as a number. A search then looks at one whole key only. The numbers
	// are apart from the spans, so that it touches few lines of memory.
	abbreviated  []uint32
	commonPrefix int // how many bytes all keys share; −1 if there are no abbreviations
	keySize      int // in a Cached: bytes of all keys, which are in front of the values
}

// An entrySpan is where an entry's key and value start and end.
type entrySpan struct{ key, keyEnd, value, valueEnd uint32 }

// Len returns the number of entries.
func (b *Decoded) Len() int { return len(b.spans) }

// Key returns the key of entry i, 0 ≤ i < Len. The caller must not change it.
func (b *Decoded) Key(i int) []byte {
	s := &b.spans[i]
	return b.keys[s.key:s.keyEnd:s.keyEnd]
}

// Value returns the value of entry i, 0 ≤ i < Len, with no capacity behind it. The caller
// must not change it.
func (b *Decoded) Value(i int) []byte {
	s := &b.spans[i]
	return b.values[s.value:s.valueEnd:s.valueEnd]
}

// Size returns how many bytes of memory the Decoded takes, without the stored block. Decode
// reuses them.
func (b *Decoded) Size() int { return cap(b.keys) + spanSize*cap(b.spans) }

// Get returns the value of key, and whether the Decoded has the key.
func (b *Decoded) Get(key []byte) (value []byte, found bool) {
	if b.commonPrefix < 0 {
		return b.valueIf(b.search(0, b.Len(), key), key)
	}
	ordered := b.order.Prefix(key)
	if len(ordered) < b.commonPrefix {
		return nil, false
	}
	// A key that does not start with the common prefix is equal to no key of the block.
	a := format.First4(ordered[b.commonPrefix:])
	first := format.CountLess(b.abbreviated, a)
	if n := len(b.abbreviated); n >= manyEntries && first < n && b.abbreviated[first] == a {
		fetch(b.values, first*b.keySize/n, b.keySize+first*(len(b.values)-b.keySize)/n)
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

// manyEntries is from how many entries on a key and its value are not near the span.
const manyEntries = 8

// fetch reads a byte of the lines where a key and its value are if all have the same sizes. The processor then gets
// them while it waits for the span, and not one after the other.
//
//go:noinline
func fetch(text []byte, key, value int) byte { return text[key] + text[min(value, len(text)-1)] }

// valueIf returns the value of entry i, if there is an entry i and it has that key.
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

// linearLimit is how many keys of the same abbreviation are compared one by one, before
// the others are searched by halving.
const linearLimit = 4

// search returns the number of the first entry whose key is ≥ key. The caller knows that
// it is ≥ low and ≤ high.
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

// reset removes all entries and keeps the memory.
func (b *Decoded) reset() {
	b.spans, b.values, b.commonPrefix = b.spans[:0], nil, -1
}
