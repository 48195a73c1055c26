// Package decoded has blocks whose entries can be had by number: each key whole, for
// searching and for moving in both directions, at the price of more memory than the
// stored block. A [Block] is decoded from a stored block, a [Cached] is what a cache
// keeps of it.
package decoded

import (
	"bytes"
	"math"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
)

// A Block has the entries of a block by number. It is immutable until it is decoded anew,
// and until then safe for concurrent use. The zero value has no entries.
type Block struct {
	keys, values []byte // what spans are in
	spans        []entrySpan
	order        block.Order
	commonPrefix int // how many bytes all keys share; −1 if keys are not abbreviated
}

// An entrySpan is where an entry's key and value start and end. In a Cached whose keys are
// in the bytewise order but for a suffix, it also has the key abbreviated: the 4 bytes
// after those that all keys share, as a number. A search then has to look at one whole key
// only.
type entrySpan struct{ abbreviated, key, keyEnd, value, valueEnd uint32 }

// Len returns how many entries there are.
func (b *Block) Len() int { return len(b.spans) }

// Key returns the key of entry i, from 0 on. It must not be changed.
func (b *Block) Key(i int) []byte {
	s := &b.spans[i]
	return b.keys[s.key:s.keyEnd:s.keyEnd]
}

// Value returns the value of entry i, without capacity behind it. It must not be
// changed.
func (b *Block) Value(i int) []byte {
	s := &b.spans[i]
	return b.values[s.value:s.valueEnd:s.valueEnd]
}

// Size returns how many bytes of memory the Block takes beside the stored block. Decode
// uses them again.
func (b *Block) Size() int { return cap(b.keys) + spanSize*cap(b.spans) }

// abbreviate returns the first 4 bytes of key as a number, as wire.Head does 8.
func abbreviate(key []byte) uint32 { return uint32(wire.Head(key) >> 32) }

// Get returns the value of key, and whether it is there.
func (b *Block) Get(key []byte) (value []byte, found bool) {
	if b.commonPrefix < 0 {
		return b.valueIf(b.SeekGE(key), key)
	}
	prefix := b.order.Prefix(key)
	if len(prefix) < b.commonPrefix {
		return nil, false
	}
	// A key that does not start with what all share is equal to none.
	a := abbreviate(prefix[b.commonPrefix:])
	first := b.countBelow(a)
	for i := first; i < len(b.spans) && b.spans[i].abbreviated == a; i++ {
		if i == first+linearLimit {
			return b.valueIf(b.searchAbbreviated(i, a, key), key)
		}
		if s := &b.spans[i]; string(b.keys[s.key:s.keyEnd]) == string(key) {
			return b.values[s.value:s.valueEnd:s.valueEnd], true
		}
	}
	return nil, false
}

// valueIf returns the value of entry i, if there is one and it has this key.
func (b *Block) valueIf(i int, key []byte) (value []byte, found bool) {
	if i < b.Len() && b.order.Compare(b.Key(i), key) == 0 {
		return b.Value(i), true
	}
	return nil, false
}

// SeekGE returns the first entry whose key is ≥ key, or Len.
func (b *Block) SeekGE(key []byte) int {
	prefix := b.order.Prefix(key)
	if b.commonPrefix < 0 || len(b.spans) == 0 || len(prefix) < b.commonPrefix || !bytes.Equal(prefix[:b.commonPrefix], b.Key(0)[:b.commonPrefix]) {
		return b.search(0, b.Len(), key)
	}
	a := abbreviate(prefix[b.commonPrefix:])
	first := b.countBelow(a)
	i := first
	for i < len(b.spans) && b.spans[i].abbreviated == a && b.order.Compare(b.Key(i), key) < 0 {
		if i++; i == first+linearLimit {
			return b.searchAbbreviated(i, a, key)
		}
	}
	return i
}

// linearLimit is how many keys with the same abbreviation are compared one by one.
const linearLimit = 4

// searchAbbreviated is SeekGE where the answer is known to be among the entries of
// abbreviation a, from i on, or right behind them.
func (b *Block) searchAbbreviated(i int, a uint32, key []byte) int {
	end := len(b.spans)
	if a < math.MaxUint32 {
		end = b.countBelow(a + 1)
	}
	return b.search(i, end, key)
}

// search is SeekGE by whole keys, of which the answer is known to be from low to high.
func (b *Block) search(low, high int, key []byte) int {
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

// countBelow returns how many abbreviations are < a. Of the last ones it looks at all,
// with no branch that could be guessed wrong: that way they are fetched from memory at
// the same time.
func (b *Block) countBelow(a uint32) int {
	low, high := 0, len(b.spans)
	for high-low > 64 {
		if mid := int(uint(low+high) >> 1); b.spans[mid].abbreviated < a {
			low = mid + 1
		} else {
			high = mid
		}
	}
	n := low
	for i := range b.spans[low:high] {
		n += below(b.spans[low+i].abbreviated, a)
	}
	return n
}

// below is 1 if x < y, and else 0.
func below(x, y uint32) int { return int(uint64(int64(x)-int64(y)) >> 63) }

// reset forgets all entries and keeps the memory.
func (b *Block) reset() {
	b.spans, b.values, b.commonPrefix = b.spans[:0], nil, -1
}
