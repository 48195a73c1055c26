package block

import (
	"encoding/binary"
	"fmt"
	"math"

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

// check walks all entries, by way of k.
func (b *Block) check(k *keys) error {
	if len(b.entries) == 0 {
		return b.checkEmpty()
	}
	return b.checkEntries(k)
}

func (b *Block) checkEmpty() error {
	if n := b.numRestarts(); n != 1 || b.restart(0) != 0 {
		return fmt.Errorf("%d restart points, the first at %d, in a block of no entries; want one at 0", n, uint32(b.restart(0)))
	}
	return nil
}

func (b *Block) checkEntries(k *keys) error {
	k.entries = b.entries
	w, err := b.walkRestarts()
	if err != nil {
		return err
	}
	for off := 0; off < len(b.entries); {
		e, err := decode(b.entries, off)
		if err != nil {
			return err
		}
		if err := w.at(off, e); err != nil {
			return err
		}
		b.shares = b.shares || e.shared > 0
		b.n++
		if err := b.checkKey(k, off, e); err != nil {
			return err
		}
		off = e.end
	}
	return w.end()
}

// restartWalk checks restart points while entries are walked through.
type restartWalk struct {
	b    *Block
	i    int    // the restart point that comes next,
	next uint64 // and where it is; math.MaxUint64 if there is none
}

func (b *Block) walkRestarts() (restartWalk, error) {
	first := uint64(uint32(b.restart(0)))
	if first != 0 {
		return restartWalk{}, fmt.Errorf("restart point 0 is %d, want 0", first)
	}
	return restartWalk{b: b}, nil
}

// at checks the entry at off, if that is the next restart point.
func (w *restartWalk) at(off int, e entry) error {
	if uint64(off) != w.next {
		return nil
	}
	return w.step(off, e)
}

func (w *restartWalk) step(off int, e entry) error {
	if e.shared > 0 {
		return fmt.Errorf("entry at %d shares %d bytes at a restart point, want none", off, e.shared)
	}
	w.next = math.MaxUint64
	if w.i++; w.i < w.b.numRestarts() {
		w.next = uint64(uint32(w.b.restart(w.i)))
	}
	return nil
}

// end checks that all restart points were passed.
func (w *restartWalk) end() error {
	if w.i < w.b.numRestarts() {
		return fmt.Errorf("restart point %d is %d, want it ascending and where an entry starts", w.i, w.next)
	}
	return nil
}

// checkKey checks that the key of the entry at off comes after the last one, and
// makes it the last one.
func (b *Block) checkKey(k *keys, off int, e entry) error {
	unshared, last := b.entries[e.key:e.value], k.last.bytes
	switch {
	case !b.order.prefixed() && !b.order.Unchecked:
		return k.nextInOrder(off, e, unshared, b.order.Compare)
	case off == 0, b.order.Unchecked, e.shared > uint64(len(last)): // which next finds
		return k.next(off, e, unshared)
	}
	// What the keys share is not looked at again: it can be far longer than the entry.
	skip := b.order.skippable(int(e.shared), len(last), int(e.shared)+len(unshared))
	rest, err := k.rest(off, last[skip:e.shared], unshared)
	if err != nil {
		return err
	}
	if b.order.compare(last[skip:], rest) >= 0 {
		return notAbove(off, last, last[:e.shared], unshared)
	}
	return k.next(off, e, unshared)
}

// entry is a decoded entry: how many key bytes it shares, and where in the
// block its unshared key bytes start, its value starts, and its value ends.
type entry struct {
	shared          uint64
	key, value, end int
}

// sharesTooMuch is the error for the entry at off, if the key before it has
// only length bytes.
func (e entry) sharesTooMuch(off, length int) error {
	return fmt.Errorf("entry at %d shares %d bytes, but the key before it has %d", off, e.shared, length)
}

// decode decodes the entry at off, trusting nothing. Its shared length is not
// yet compared with the key before it.
func decode(entries []byte, off int) (entry, error) {
	if rest := entries[off:]; len(rest) > 3 && (rest[0]|rest[1]|rest[2]) < 0x80 {
		key := off + 3
		value := key + int(rest[1])
		if end := value + int(rest[2]); end <= len(entries) {
			return entry{shared: uint64(rest[0]), key: key, value: value, end: end}, nil
		}
	}
	return decodeLong(entries, off)
}

// decodeLong decodes an entry whose lengths may be long, or wrong.
func decodeLong(entries []byte, off int) (entry, error) {
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
