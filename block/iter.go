package block

import (
	"encoding/binary"
	"sort"
)

// An Iter moves over the entries of a [Block], in both directions. A new one is
// before the first entry: Next moves to it. It serves one goroutine at a time;
// any number of Iters may be on the same Block. The zero Iter is on the empty
// Block.
type Iter struct {
	b    Block
	off  int // of the entry; len(b.parts.Entries) when after the last one
	next int // where the entry ends: 0 when before the first one

	keys  keys // last: the entry's; this: room for a key that is sought
	value []byte
	back  back

	shared int // bytes that the entry's key shares with the one before
}

// NewIter returns an Iter on b.
func (b Block) NewIter() *Iter { return &Iter{b: b} }

// Reset moves the Iter to another Block, before its first entry, and keeps the
// memory that it has for keys.
func (it *Iter) Reset(b Block) {
	it.b = b
	it.rewind(0)
}

// Open opens data as the function [Open] does, in any [Order], and moves the Iter to
// before the first entry of that Block, or if there is an error to the empty Block. It
// takes less memory than Open and Reset: keys that share bytes are put together
// in the Iter's. What it takes is subtracted from the budget; a block that wants
// more is an error.
func (it *Iter) Open(data []byte, order Order, budget *Budget) error {
	it.Reset(Block{})
	it.keys.budget = budget.start()
	b, err := open(data, order, &it.keys)
	budget.end(it.keys.budget)
	it.keys.entries = nil
	if k := &it.keys; cap(k.last.buf) < cap(k.this.buf) {
		k.last, k.this = k.this, k.last // any key of the block fits in there now
	}
	it.Reset(b)
	return err
}

// Len returns how many entries the Block has.
func (it *Iter) Len() int { return it.b.n }

// SharesKeys reports whether any entry of the Block shares bytes of the key
// before it. If none does, as in an index block, all keys are parts of it.
func (it *Iter) SharesKeys() bool { return it.b.shares }

// Valid reports whether the Iter is at an entry.
func (it *Iter) Valid() bool { return it.off < it.next }

// Key returns the entry's key. It is valid until the next move, or as long as
// the Block in one where SharesKeys is false. It must not be changed.
func (it *Iter) Key() []byte { return it.keys.last.bytes }

// Value returns the entry's value, a part of the Block: it is valid as long as
// the Block is, and must not be changed.
func (it *Iter) Value() []byte { return it.value }

// Shared returns how many bytes of the entry's key the Block does not store,
// because the key before starts with them.
func (it *Iter) Shared() int { return it.shared }

// Offset returns where the entry starts in the Block: a place to compare with
// others. After the last entry, that is where it ends.
func (it *Iter) Offset() int { return it.off }

// First moves to the first entry. Like all moves it returns Valid.
func (it *Iter) First() bool {
	it.rewind(0)
	return it.Next()
}

// Last moves to the last entry.
func (it *Iter) Last() bool {
	it.rewind(it.b.parts.NumRestarts() - 1)
	for it.next < len(it.b.parts.Entries) {
		it.read()
	}
	return it.Valid()
}

// Next moves to the next entry, from before the first one to the first one, and
// from the last one to after it.
func (it *Iter) Next() bool {
	if it.next < len(it.b.parts.Entries) {
		if len(it.back.steps) > 0 { // to and fro: stay prepared
			it.keepStep()
		}
		it.read()
		return true
	}
	it.back.reset()
	it.off = it.next
	it.keys.last.reset()
	it.value = nil
	return false
}

// Prev moves to the entry before, from after the last one to the last one, and
// from the first one to before it.
func (it *Iter) Prev() bool {
	target := it.off
	if len(it.back.steps) > 0 {
		it.stepBack()
		return true
	}
	if target == 0 {
		it.rewind(0)
		return false
	}
	after := sort.Search(it.b.parts.NumRestarts(), func(i int) bool { return it.b.parts.Restart(i) >= target })
	it.rewind(after - 1)
	it.readUpTo(target)
	return true
}

// SeekGE moves to the first entry whose key is at least key, or after the last
// one. The key may be a part of Key.
func (it *Iter) SeekGE(key []byte) bool {
	if it.keys.last.inBuf { // which a part of is perhaps what is sought
		it.keys.this.buf = append(it.keys.this.buf[:0], key...)
		key = it.keys.this.buf
	}
	after := sort.Search(it.b.parts.NumRestarts(), func(i int) bool {
		it.rewind(i)
		return !it.Next() || it.b.order.Compare(it.keys.last.bytes, key) >= 0
	})
	it.rewind(max(after-1, 0))
	if it.b.order.Func == nil {
		return it.scan(key)
	}
	for it.Next() {
		if it.b.order.Compare(it.keys.last.bytes, key) >= 0 {
			return true
		}
	}
	return false
}

// scan moves on to the first entry whose key is at least key, in the bytewise
// order. What is known to be the same is not compared again.
func (it *Iter) scan(key []byte) bool {
	match := 0 // bytes that the entry's key and key start with in common
	for it.next < len(it.b.parts.Entries) {
		shared := it.read()
		if shared > match {
			continue // the byte that put the last key below is shared
		}
		var order int
		if match, order = orderFrom(shared, it.keys.last.bytes[shared:], key); order >= 0 {
			return true
		}
	}
	return it.Next()
}

// SeekLT moves to the last entry whose key is below key, or before the first
// one.
func (it *Iter) SeekLT(key []byte) bool {
	it.SeekGE(key)
	return it.Prev()
}

// rewind moves to just before restart point i.
func (it *Iter) rewind(i int) {
	it.off, it.next = 0, 0
	if i > 0 {
		it.next = it.b.parts.Restart(i)
		it.off = it.next
	}
	it.keys.last.reset()
	it.value = nil
	it.back.reset()
}

// read moves to the entry at next, which there is, and returns how much it
// shares. Open has checked it.
func (it *Iter) read() (shared int) {
	e := it.b.parts.Entries
	shared, at := uvarint(e, it.next)
	unshared, at := uvarint(e, at)
	length, at := uvarint(e, at)
	value := at + unshared
	end := value + length
	it.keys.last.next(shared, e[at:value])
	it.value = e[value:end:end]
	it.off, it.next, it.shared = it.next, end, shared
	return shared
}

// uvarint decodes the varint at off, which is known to be there, and returns
// where it ends.
func uvarint(b []byte, off int) (v, end int) {
	if c := b[off]; c < 0x80 {
		return int(c), off + 1
	}
	u, n := binary.Uvarint(b[off:])
	return int(u), off + n
}
