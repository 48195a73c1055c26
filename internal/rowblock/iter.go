package rowblock

import (
	"encoding/binary"
	"sort"

	"github.com/sievetable/sievetable/internal/format"
)

// An Iter moves over the entries of a Block, as a block.Iter does. The zero value is on a Block without entries;
// Reset and Open set another.
type Iter struct {
	b      Block
	offset int // start of the entry; len(b.parts.Entries) after the last entry
	next   int // end of the entry; 0 before the first entry

	keys   keyDecoder // last has the entry's key; this.Buf holds a copy of a sought key
	value  []byte
	shared int // bytes that the entry's key shares with the key before

	passed reverseCache
}

// Reset moves the Iter to before the first entry of b. It keeps the Iter's buffers.
func (it *Iter) Reset(b Block) {
	it.b = b
	it.rewind(0)
}

// Open checks data as the function Open does, and moves the Iter to before the first entry. It takes less memory
// than the function Open and Reset, since it checks the keys in the Iter's buffers. The Iter keeps data, which the
// caller must not change any more. After an error the Iter is on a Block without entries.
//
// The budget bounds the work on keys in every order. If a block exceeds it, Open returns an error.
func (it *Iter) Open(data []byte, order Order, budget *Budget) error {
	it.Reset(Block{})
	it.keys.budget = *budget
	b, err := open(data, order, &it.keys)
	*budget = it.keys.budget
	it.keys.entries = nil
	if d := &it.keys; cap(d.last.Buf) < cap(d.this.Buf) {
		d.last, d.this = d.this, d.last // the larger buffer fits every key of the block
	}
	it.Reset(b)
	return err
}

// Len returns the number of entries of the Block.
func (it *Iter) Len() int { return it.b.n }

// NumRestarts returns the number of restart points of the Block.
func (it *Iter) NumRestarts() int { return it.b.parts.NumRestarts() }

// Valid reports whether the Iter is at an entry.
func (it *Iter) Valid() bool { return it.offset < it.next }

// Key returns the entry's key, or nil if there is no entry. It is valid until the next
// move. The caller must not change it.
func (it *Iter) Key() []byte { return it.keys.last.Key }

// Value returns the entry's value, or nil if there is no entry. It is a part of the Block, and valid as long as the
// Block. The caller must not change it.
func (it *Iter) Value() []byte { return it.value }

// Shared returns the number of bytes that the entry's key shares with the key before.
func (it *Iter) Shared() int { return it.shared }

// Offset returns the offset of the entry in the Block. After the last entry it returns the end of the last entry.
// Offsets order the entries.
func (it *Iter) Offset() int { return it.offset }

// First moves to the first entry, and returns Valid.
func (it *Iter) First() bool {
	it.rewind(0)
	return it.Next()
}

// Last moves to the last entry, and returns Valid.
func (it *Iter) Last() bool {
	it.rewind(it.b.parts.NumRestarts() - 1)
	for it.next < len(it.b.parts.Entries) {
		it.read()
	}
	return it.Valid()
}

// Next moves to the next entry, and returns Valid. Before the first entry it moves to the first one. At the last
// entry it moves past the end.
func (it *Iter) Next() bool {
	if it.next < len(it.b.parts.Entries) {
		if len(it.passed.entries) > 0 { // after Prev, which may be called again
			it.cacheEntry()
		}
		it.read()
		return true
	}
	it.passed.reset()
	it.offset = it.next
	it.keys.last.Reset()
	it.value = nil
	return false
}

// Prev moves to the entry before, and returns Valid. After the last entry it moves to the
// last one. At the first entry it moves to before it.
func (it *Iter) Prev() bool {
	end := it.offset // the end of the entry before
	if len(it.passed.entries) > 0 {
		it.readCached()
		return true
	}
	if end == 0 {
		it.rewind(0)
		return false
	}
	after := sort.Search(it.b.parts.NumRestarts(), func(i int) bool { return it.b.parts.Restart(i) >= end })
	it.rewind(after - 1)
	it.readUntil(end)
	return true
}

// SeekGE moves to the first entry whose key is ≥ key, and returns Valid. If there is none,
// it moves to after the last entry. key may be a part of Key.
func (it *Iter) SeekGE(key []byte) bool {
	if it.keys.last.InBuf { // key may be a part of the buffer that moves write to
		it.keys.this.Buf = append(it.keys.this.Buf[:0], key...)
		key = it.keys.this.Buf
	}
	i, _ := it.b.lastRestart(key) // Open has checked the restart points
	it.rewind(i)
	if it.b.order.Func == nil {
		return it.scan(key)
	}
	for it.Next() {
		if it.b.order.Compare(it.keys.last.Key, key) >= 0 {
			return true
		}
	}
	return false
}

// scan moves forward to the first entry whose key is ≥ key, bytewise. It does not compare bytes again that the
// comparison before has settled.
func (it *Iter) scan(key []byte) bool {
	match := 0 // number of bytes that the last key and key share
	for it.next < len(it.b.parts.Entries) {
		shared := it.read()
		if shared > match { // it shares the byte that makes the last key < key
			continue
		}
		this := it.keys.last.Key
		match = shared + format.SharedLen(this[shared:], key[shared:])
		if match == len(key) || match < len(this) && this[match] > key[match] {
			return true
		}
	}
	return it.Next()
}

// SeekLT moves to the last entry whose key is < key, and returns Valid. If there is none,
// it moves to before the first entry. key may be a part of Key.
func (it *Iter) SeekLT(key []byte) bool {
	it.SeekGE(key)
	return it.Prev()
}

// rewind moves to just before restart point i.
func (it *Iter) rewind(i int) {
	it.offset, it.next = 0, 0
	if i > 0 {
		it.next = it.b.parts.Restart(i)
		it.offset = it.next
	}
	it.keys.last.Reset()
	it.value = nil
	it.passed.reset()
}

// read moves to the entry at next, which must exist, and returns how many bytes its key shares. Open has checked it.
func (it *Iter) read() (shared int) {
	e := it.b.parts.Entries
	shared, at := uvarint(e, it.next)
	unshared, at := uvarint(e, at)
	length, at := uvarint(e, at)
	value := at + unshared
	end := value + length
	it.keys.last.Next(shared, e[at:value])
	it.value = e[value:end:end]
	it.offset, it.next, it.shared = it.next, end, shared
	return shared
}

// uvarint decodes the varint at off of a checked block, and returns its end.
func uvarint(b []byte, off int) (v, end int) {
	if c := b[off]; c < 0x80 {
		return int(c), off + 1
	}
	u, n := binary.Uvarint(b[off:])
	return int(u), off + n
}
