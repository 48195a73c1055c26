package block

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// key rebuilds the keys of consecutive entries. What entries share is not
// copied again from one to the next: it can be far longer than the entries.
type key struct {
	bytes []byte // the key: in the block, if the entry shares nothing; else in buf
	buf   []byte
	inBuf bool
}

// next moves to the key of the next entry, which shares that many bytes with
// this one.
func (k *key) next(shared int, unshared []byte) {
	if shared == 0 {
		k.bytes, k.inBuf = unshared[:len(unshared):len(unshared)], false
		return
	}
	if !k.inBuf {
		k.buf = append(slices.Grow(k.buf[:0], shared+len(unshared)), k.bytes[:shared]...)
	}
	k.buf = append(k.buf[:shared], unshared...)
	k.bytes, k.inBuf = k.buf[:len(k.buf):len(k.buf)], true
}

// follow becomes the key of the entry after last's, which shares that many
// bytes with it.
func (k *key) follow(last *key, shared int, unshared []byte) {
	if shared == 0 {
		k.next(0, unshared)
		return
	}
	k.buf = append(append(k.buf[:0], last.bytes[:shared]...), unshared...)
	k.bytes, k.inBuf = k.buf[:len(k.buf):len(k.buf)], true
}

// reset forgets the key and keeps the memory for others.
func (k *key) reset() {
	k.bytes, k.inBuf = nil, false
}

// orderFrom compares the key of an entry with another, bytewise: they are known
// to share their first bytes, behind which the entry's goes on with unshared. It
// also returns how many bytes they start with in common.
func orderFrom(shared int, unshared, other []byte) (match, order int) {
	n := wire.SharedLen(unshared, other[shared:])
	match = shared + n
	if n < len(unshared) && match < len(other) {
		return match, int(unshared[n]) - int(other[match])
	}
	return match, shared + len(unshared) - len(other)
}

// A Budget bounds what may be taken for keys, whole, of a block that nobody has checked:
// entries share bytes of their keys, so that few bytes of a block can stand for many and
// long keys. What is taken is subtracted. A nil Budget is no bound.
type Budget struct {
	Memory int   // bytes of memory that may be newly taken for keys
	Work   int64 // bytes of keys that may be compared, in an order that is not Bytewise
}

// start returns what b has.
func (b *Budget) start() Budget {
	if b == nil {
		return Budget{math.MaxInt, math.MaxInt64}
	}
	return *b
}

// end sets b to what is left.
func (b *Budget) end(left Budget) {
	if b != nil {
		*b = left
	}
}

// keys is what walking through unchecked entries takes: the last key, and in an
// order that is not bytewise the one to compare it with.
type keys struct {
	last, this key
	budget     Budget
	entries    []byte // if all of them are walked through
}

// next moves to the key of the entry at off, and checks that it shares no more
// than there is.
func (k *keys) next(off int, e format.Entry, unshared []byte) error {
	if err := k.prepare(&k.last, off, e, unshared); err != nil {
		return err
	}
	k.last.next(int(e.Shared), unshared)
	return nil
}

// nextInOrder does what next does, and checks that compare has the key above
// the last one.
func (k *keys) nextInOrder(off int, e format.Entry, unshared []byte, compare func(a, b []byte) int) error {
	last, this := &k.last, &k.this
	if err := k.prepare(this, off, e, unshared); err != nil {
		return err
	}
	this.follow(last, int(e.Shared), unshared)
	if err := k.spend(off, len(last.bytes)+len(this.bytes)); err != nil {
		return err
	}
	if off > 0 && compare(last.bytes, this.bytes) >= 0 {
		return format.NotAbove(off, last.bytes, this.bytes)
	}
	k.last, k.this = k.this, k.last
	return nil
}

// rest returns shared and unshared, the end of the key of the entry at off, as one.
func (k *keys) rest(off int, shared, unshared []byte) ([]byte, error) {
	if len(shared) == 0 {
		return unshared, nil
	}
	if n := len(shared) + len(unshared); n > cap(k.this.buf) {
		if err := k.grow(&k.this, off, n); err != nil {
			return nil, err
		}
	}
	k.this.buf = append(append(k.this.buf[:0], shared...), unshared...)
	return k.this.buf, nil
}

// prepare checks that the entry at off shares no more than the last key has,
// and makes its key fit into to.
func (k *keys) prepare(to *key, off int, e format.Entry, unshared []byte) error {
	if e.Shared > uint64(len(k.last.bytes)) {
		return e.SharesTooMuch(off, len(k.last.bytes))
	}
	if n := int(e.Shared) + len(unshared); e.Shared > 0 && n > cap(to.buf) {
		return k.grow(to, off, n)
	}
	return nil
}

// grow makes to's buffer hold a key of n bytes, that of the entry at off. Where
// that is a large one, it takes at once what the longest key to come will need,
// and some more for the next block's.
func (k *keys) grow(to *key, off, n int) error {
	if n > maxPooledKey {
		n = max(n, longestKey(k.entries, off, len(k.last.bytes)))
	}
	left := k.budget.Memory
	if n > left {
		return fmt.Errorf("entry at %d, or one behind it, has a key of %d bytes that shares some: memory for such keys is bounded, and %d bytes are left", off, n, left)
	}
	if more := n + n/4; more <= left/2 {
		n = more
	}
	k.budget.Memory -= n
	to.buf = append(make([]byte, 0, n), to.buf...)
	return nil
}

// longestKey returns the length of the longest key that shares bytes with the
// one before, which has that many at first, from the entry at off on, as far as
// lengths are sound.
func longestKey(entries []byte, off, before int) int {
	longest := 0
	for off < len(entries) {
		e, err := format.DecodeEntry(entries, off)
		if err != nil || e.Shared > uint64(before) {
			break
		}
		before = int(e.Shared) + e.Value - e.Key
		if e.Shared > 0 {
			longest = max(longest, before)
		}
		off = e.End
	}
	return longest
}

// spend pays for comparing n bytes of keys.
func (k *keys) spend(off, n int) error {
	if k.budget.Work -= int64(n); k.budget.Work < 0 {
		return fmt.Errorf("entry at %d: keys up to here are far longer, together, than the block: comparing them is bounded", off)
	}
	return nil
}

var keysPool = sync.Pool{New: func() any { return new(keys) }}

// maxPooledKey keeps a block with a huge key from holding memory for ever.
const maxPooledKey = 1 << 16

func getKeys() *keys { return keysPool.Get().(*keys) }

func (k *keys) put() {
	k.last.reset()
	k.this.reset()
	k.entries = nil
	if cap(k.last.buf) <= maxPooledKey && cap(k.this.buf) <= maxPooledKey {
		keysPool.Put(k)
	}
}
