package block

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/sievetable/sievetable/internal/wire"
)

// split finds the restart array at the end of data.
func split(data []byte) (Block, error) {
	if len(data) < 8 {
		return Block{}, fmt.Errorf("block of %d bytes, want at least 8", len(data))
	}
	end := len(data) - 4
	n := binary.LittleEndian.Uint32(data[end:])
	if n == 0 || uint64(n) > uint64(end)/4 {
		return Block{}, fmt.Errorf("restart count at %d is %d, want 1 to %d", end, n, end/4)
	}
	start := end - 4*int(n)
	return Block{entries: data[:start:start], restarts: data[start:end]}, nil
}

// keys is what checking keys takes: the last one, and in an order that is not
// bytewise room for the one to compare it with.
type keys struct {
	last key
	this []byte
}

var keysPool = sync.Pool{New: func() any { return new(keys) }}

// maxPooledKey keeps a block with a huge key from holding memory for ever.
const maxPooledKey = 1 << 16

func getKeys() *keys { return keysPool.Get().(*keys) }

func (k *keys) put() {
	k.last.reset()
	if cap(k.last.buf) <= maxPooledKey && cap(k.this) <= maxPooledKey {
		keysPool.Put(k)
	}
}

// check walks all entries.
func (b *Block) check() error {
	if len(b.entries) == 0 {
		return b.checkEmpty()
	}
	k := getKeys()
	defer k.put()
	return b.checkEntries(k)
}

func (b *Block) checkEmpty() error {
	if n := b.numRestarts(); n != 1 || b.restart(0) != 0 {
		return fmt.Errorf("%d restart points, the first at %d, in a block of no entries; want one at 0", n, b.restart(0))
	}
	return nil
}

func (b *Block) checkEntries(k *keys) error {
	ri := 0 // the restart point that comes next, and where it is
	restart := b.restart(0)
	if restart != 0 {
		return fmt.Errorf("restart point 0 is %d, want 0", restart)
	}
	for off := 0; off < len(b.entries); {
		e, err := decode(b.entries, off)
		if err != nil {
			return err
		}
		if off == restart {
			if e.shared > 0 {
				return fmt.Errorf("entry at %d shares %d bytes at a restart point, want none", off, e.shared)
			}
			if ri++; ri < b.numRestarts() {
				restart = b.restart(ri)
			}
		}
		b.shares = b.shares || e.shared > 0
		if err := b.checkKey(k, off, e, off == 0); err != nil {
			return err
		}
		off = e.end
	}
	if ri < b.numRestarts() {
		return fmt.Errorf("restart point %d is %d, want it ascending and where an entry starts", ri, restart)
	}
	return nil
}

// checkKey checks that the key of the entry at off, unless it is the first one
// looked at, is above the last one, and makes it the last one.
func (b *Block) checkKey(k *keys, off int, e entry, first bool) error {
	last := k.last.bytes
	if e.shared > uint64(len(last)) {
		return fmt.Errorf("entry at %d shares %d bytes, but the key before it has %d", off, e.shared, len(last))
	}
	shared, unshared := int(e.shared), b.entries[e.key:e.value]
	if !first && !b.ascends(k, shared, unshared) {
		before := wire.Quote(last)
		k.last.next(shared, unshared)
		return fmt.Errorf("entry at %d has key %s, want it above the one before, %s", off, wire.Quote(k.last.bytes), before)
	}
	k.last.next(shared, unshared)
	return nil
}

// ascends reports whether the key of these parts is above the last one. In the
// bytewise order the shared part cannot matter.
func (b *Block) ascends(k *keys, shared int, unshared []byte) bool {
	last := k.last.bytes
	if b.compare == nil {
		return bytes.Compare(last[shared:], unshared) < 0
	}
	k.this = append(append(k.this[:0], last[:shared]...), unshared...)
	return b.compare(last, k.this) < 0
}

// entry is a decoded entry: how many key bytes it shares, and where in the
// block its unshared key bytes start, its value starts, and its value ends.
type entry struct {
	shared          uint64
	key, value, end int
}

// decode decodes the entry at off, trusting nothing. Its shared length is not
// yet compared with the key before it.
func decode(entries []byte, off int) (entry, error) {
	shared, n0 := wire.Uvarint(entries[off:])
	unshared, n1 := wire.Uvarint(entries[off+n0:])
	length, n2 := wire.Uvarint(entries[off+n0+n1:])
	if n0 == 0 || n1 == 0 || n2 == 0 {
		return entry{}, fmt.Errorf("entry at %d: want three lengths, as minimal varints, within the block", off)
	}
	at := off + n0 + n1 + n2
	rest := uint64(len(entries) - at)
	if unshared > rest || length > rest-unshared {
		return entry{}, fmt.Errorf("entry at %d: key of %d and value of %d bytes, but %d are left", off, unshared, length, rest)
	}
	value := at + int(unshared)
	return entry{shared: shared, key: at, value: value, end: value + int(length)}, nil
}
