package rowblock

import (
	"fmt"
	"sync"

	"github.com/sievetable/sievetable/internal/format"
)

// A keyDecoder rebuilds the keys of an unchecked block, within a budget.
type keyDecoder struct {
	last, this format.KeyBuffer // this is the next key, if the order has to see both keys whole
	budget     Budget
	entries    []byte // of the block, if all entries are decoded; else nil
}

// next sets last to the key of the entry at off.
func (d *keyDecoder) next(off int, e format.Entry, unshared []byte) error {
	if err := d.prepare(&d.last, off, e, unshared); err != nil {
		return err
	}
	d.last.Next(int(e.Shared), unshared)
	return nil
}

// nextInOrder is like next, but also checks by compare that the key is > the key before.
func (d *keyDecoder) nextInOrder(off int, e format.Entry, unshared []byte, compare func(a, b []byte) int) error {
	last, this := &d.last, &d.this
	if err := d.prepare(this, off, e, unshared); err != nil {
		return err
	}
	this.NextAfter(last, int(e.Shared), unshared)
	if err := d.spend(off, len(last.Key)+len(this.Key)); err != nil {
		return err
	}
	if off > 0 && compare(last.Key, this.Key) >= 0 {
		return format.NotAscending(off, last.Key, this.Key)
	}
	d.last, d.this = d.this, d.last
	return nil
}

// join returns shared and unshared as one slice. They are the end of the key of the entry at off.
func (d *keyDecoder) join(off int, shared, unshared []byte) ([]byte, error) {
	if len(shared) == 0 {
		return unshared, nil
	}
	if n := len(shared) + len(unshared); n > cap(d.this.Buf) {
		if err := d.grow(&d.this, off, n); err != nil {
			return nil, err
		}
	}
	d.this.Buf = append(append(d.this.Buf[:0], shared...), unshared...)
	return d.this.Buf, nil
}

// prepare checks that the entry at off shares no more bytes than the last key has, and ensures that to's buffer is
// large enough for the entry's key.
func (d *keyDecoder) prepare(to *format.KeyBuffer, off int, e format.Entry, unshared []byte) error {
	if e.Shared > uint64(len(d.last.Key)) {
		return e.SharesTooMuch(off, len(d.last.Key))
	}
	if n := int(e.Shared) + len(unshared); e.Shared > 0 && n > cap(to.Buf) {
		return d.grow(to, off, n)
	}
	return nil
}

// grow gives to a buffer of at least n bytes, for the key of the entry at off. If the key is long, the buffer fits
// all following keys, with some room for the next block.
func (d *keyDecoder) grow(to *format.KeyBuffer, off, n int) error {
	if n > maxPooledKey {
		n = max(n, format.LongestKey(d.entries, off, len(d.last.Key)))
	}
	left := d.budget.Memory
	if n > left {
		return fmt.Errorf("entry at %d, or one after it, has a key of %d bytes that shares bytes with the key before: memory for such keys is bounded, and %d bytes are left", off, n, left)
	}
	if more := n + n/4; more <= left/2 {
		n = more
	}
	d.budget.Memory -= n
	to.Buf = append(make([]byte, 0, n), to.Buf...)
	return nil
}

// copyKey returns a copy of the last key, in buf's memory if its capacity suffices.
func (d *keyDecoder) copyKey(buf []byte) ([]byte, error) {
	n := len(d.last.Key)
	if n > cap(buf) {
		if d.budget.Memory -= n; d.budget.Memory < 0 {
			return nil, fmt.Errorf("a key of %d bytes that shares bytes with the key before: memory for such keys is bounded", n)
		}
		buf = make([]byte, 0, n)
	}
	return append(buf[:0], d.last.Key...), nil
}

// spend deducts n compared key bytes from the budget, for the entry at off.
func (d *keyDecoder) spend(off, n int) error {
	if d.budget.Compared -= int64(n); d.budget.Compared < 0 {
		return fmt.Errorf("entry at %d: the keys up to here are, together, far longer than the block: comparing them is bounded", off)
	}
	return nil
}

var keyDecoders = sync.Pool{New: func() any { return new(keyDecoder) }}

// maxPooledKey is the largest buffer that returns to the pool, so that the pool does not hold huge ones.
const maxPooledKey = 1 << 16

func getKeyDecoder() *keyDecoder { return keyDecoders.Get().(*keyDecoder) }

// put gives the keyDecoder back to the pool.
func (d *keyDecoder) put() {
	d.last.Reset()
	d.this.Reset()
	d.entries = nil
	if cap(d.last.Buf) <= maxPooledKey && cap(d.this.Buf) <= maxPooledKey {
		keyDecoders.Put(d)
	}
}
