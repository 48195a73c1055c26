package block

import (
	"bytes"
	"math"

	"github.com/sievetable/sievetable/internal/wire"
)

// Entries are the entries of a block, each with its whole key and at its place
// by number: made for searching and for moving in both directions, at the price
// of more memory than the block. They are immutable until [Entries.Decode] makes
// others of them, and till then safe for concurrent use. The zero value has none.
type Entries struct {
	keys, values []byte // what keys and values are parts of
	places       []place
	order        Order
	skip         int // how many bytes all keys share; −1 if heads are not there
}

// place is where an entry's key and value start and end. If they are Packed, in an
// order that is bytewise but for a suffix, it also has the key's head: the 4 bytes
// after those that all keys share, as a number. A search then has to look at one key
// only.
type place struct{ head, key, keyEnd, value, valueEnd uint32 }

// Len returns how many entries there are.
func (e *Entries) Len() int { return len(e.places) }

// Key returns the key of entry i, from 0 on. It must not be changed.
func (e *Entries) Key(i int) []byte {
	p := &e.places[i]
	return e.keys[p.key:p.keyEnd:p.keyEnd]
}

// Value returns the value of entry i, without capacity behind it. It must not be
// changed.
func (e *Entries) Value(i int) []byte {
	p := &e.places[i]
	return e.values[p.value:p.valueEnd:p.valueEnd]
}

// Size returns how many bytes of memory the entries take beside the block, and
// keep for others.
func (e *Entries) Size() int { return cap(e.keys) + placeSize*cap(e.places) }

// head returns the first 4 bytes of key, as wire.Head does 8.
func head(key []byte) uint32 { return uint32(wire.Head(key) >> 32) }

// Get returns the value of key, and whether it is there.
func (e *Entries) Get(key []byte) (value []byte, found bool) {
	if e.skip < 0 {
		return e.valueIf(e.SeekGE(key), key)
	}
	part := e.order.prefix(key)
	if len(part) < e.skip {
		return nil, false
	}
	// A key that does not start with what all share is not equal to any.
	h := head(part[e.skip:])
	first := e.countBelow(h)
	for i := first; i < len(e.places) && e.places[i].head == h; i++ {
		if i == first+fewAlike {
			return e.valueIf(e.searchAlike(i, h, key), key)
		}
		if p := &e.places[i]; string(e.keys[p.key:p.keyEnd]) == string(key) {
			return e.values[p.value:p.valueEnd:p.valueEnd], true
		}
	}
	return nil, false
}

// valueIf returns the value of entry i, if there is one and it has this key.
func (e *Entries) valueIf(i int, key []byte) (value []byte, found bool) {
	if i < e.Len() && e.order.compare(e.Key(i), key) == 0 {
		return e.Value(i), true
	}
	return nil, false
}

// SeekGE returns the first entry whose key is not below key, or Len.
func (e *Entries) SeekGE(key []byte) int {
	part := e.order.prefix(key)
	if e.skip < 0 || len(e.places) == 0 || len(part) < e.skip || !bytes.Equal(part[:e.skip], e.Key(0)[:e.skip]) {
		return e.search(0, e.Len(), key)
	}
	h := head(part[e.skip:])
	first := e.countBelow(h)
	i := first
	for i < len(e.places) && e.places[i].head == h && e.order.compare(e.Key(i), key) < 0 {
		if i++; i == first+fewAlike {
			return e.searchAlike(i, h, key)
		}
	}
	return i
}

// fewAlike is how many keys of the same head are looked at one by one.
const fewAlike = 4

// searchAlike is SeekGE where the answer is known to be among the entries of head h,
// from i on, or right behind them.
func (e *Entries) searchAlike(i int, h uint32, key []byte) int {
	end := len(e.places)
	if h < math.MaxUint32 {
		end = e.countBelow(h + 1)
	}
	return e.search(i, end, key)
}

// search is SeekGE by whole keys, of which the answer is known to be from low to
// high.
func (e *Entries) search(low, high int, key []byte) int {
	for low < high {
		mid := int(uint(low+high) >> 1)
		if e.order.compare(e.Key(mid), key) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// countBelow returns how many heads are below h. It looks at all of the last
// ones, with no branch that could be guessed wrong: that way they are fetched from
// memory at the same time.
func (e *Entries) countBelow(h uint32) int {
	low, high := 0, len(e.places)
	for high-low > 64 {
		if mid := int(uint(low+high) >> 1); e.places[mid].head < h {
			low = mid + 1
		} else {
			high = mid
		}
	}
	n := low
	for i := range e.places[low:high] {
		n += below(e.places[low+i].head, h)
	}
	return n
}

// below is 1 if a is below b, and else 0.
func below(a, b uint32) int { return int(uint64(int64(a)-int64(b)) >> 63) }

// reset forgets all entries and keeps the memory for others.
func (e *Entries) reset() {
	e.places, e.values, e.skip = e.places[:0], nil, -1
}
