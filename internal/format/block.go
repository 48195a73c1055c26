package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/sievetable/sievetable/internal/wire"
)

// A Block is the contents of a block, taken apart: see package block for its format.
type Block struct {
	Entries  []byte
	Restarts []byte // u32le each: where in Entries a key shares nothing
}

// SplitBlock finds the restart array at the end of data. Nothing else is checked.
func SplitBlock(data []byte) (Block, error) {
	if len(data) < 8 {
		return Block{}, fmt.Errorf("block of %d bytes, want at least 8", len(data))
	}
	end := len(data) - 4
	n := binary.LittleEndian.Uint32(data[end:])
	if n == 0 || uint64(n) > uint64(end)/4 {
		return Block{}, fmt.Errorf("restart count at %d is %d, want 1 to %d", end, n, end/4)
	}
	start := end - 4*int(n)
	return Block{Entries: data[:start:start], Restarts: data[start:end]}, nil
}

// Restart returns the offset of restart point i, which is negative if it is damaged on a
// machine of 32 bits.
func (b *Block) Restart(i int) int { return int(binary.LittleEndian.Uint32(b.Restarts[4*i:])) }

// NumRestarts returns how many restart points there are.
func (b *Block) NumRestarts() int { return len(b.Restarts) / 4 }

// CheckEmpty checks a block without entries.
func (b *Block) CheckEmpty() error {
	if n := b.NumRestarts(); n != 1 || b.Restart(0) != 0 {
		return fmt.Errorf("%d restart points, the first at %d, in a block of no entries; want one at 0", n, uint32(b.Restart(0)))
	}
	return nil
}

// A RestartWalk checks restart points while entries are walked through.
type RestartWalk struct {
	b    *Block
	i    int    // the restart point that comes next
	Next uint64 // where that is; math.MaxUint64 if there is none
}

// WalkRestarts returns a RestartWalk at the first entry.
func (b *Block) WalkRestarts() (RestartWalk, error) {
	first := uint64(uint32(b.Restart(0)))
	if first != 0 {
		return RestartWalk{}, fmt.Errorf("restart point 0 is %d, want 0", first)
	}
	return RestartWalk{b: b}, nil
}

// At checks the entry at off, if that is the next restart point.
func (w *RestartWalk) At(off int, e Entry) error {
	if uint64(off) != w.Next {
		return nil
	}
	return w.step(off, e)
}

func (w *RestartWalk) step(off int, e Entry) error {
	if e.Shared > 0 {
		return fmt.Errorf("entry at %d shares %d bytes at a restart point, want none", off, e.Shared)
	}
	w.Next = math.MaxUint64
	if w.i++; w.i < w.b.NumRestarts() {
		w.Next = uint64(uint32(w.b.Restart(w.i)))
	}
	return nil
}

// End checks that all restart points were passed.
func (w *RestartWalk) End() error {
	if w.i < w.b.NumRestarts() {
		return fmt.Errorf("restart point %d is %d, want it ascending and where an entry starts", w.i, w.Next)
	}
	return nil
}

// An Entry is a decoded entry: how many key bytes it shares with the one before, and
// where in the block its unshared key bytes start, its value starts, and its value ends.
type Entry struct {
	Shared          uint64
	Key, Value, End int
}

// SharesTooMuch is the error for the entry at off, if the key before it has
// only length bytes.
func (e Entry) SharesTooMuch(off, length int) error {
	return fmt.Errorf("entry at %d shares %d bytes, but the key before it has %d", off, e.Shared, length)
}

// DecodeEntry decodes the entry at off, trusting nothing. Its shared length is not
// yet compared with the key before it.
func DecodeEntry(entries []byte, off int) (Entry, error) {
	if rest := entries[off:]; len(rest) > 3 && (rest[0]|rest[1]|rest[2]) < 0x80 {
		key := off + 3
		value := key + int(rest[1])
		if end := value + int(rest[2]); end <= len(entries) {
			return Entry{Shared: uint64(rest[0]), Key: key, Value: value, End: end}, nil
		}
	}
	return decodeLong(entries, off)
}

// decodeLong decodes an entry whose lengths may be long, or wrong.
func decodeLong(entries []byte, off int) (Entry, error) {
	shared, n0 := wire.Uvarint(entries[off:])
	unshared, n1 := wire.Uvarint(entries[off+n0:])
	length, n2 := wire.Uvarint(entries[off+n0+n1:])
	if n0 == 0 || n1 == 0 || n2 == 0 {
		return Entry{}, fmt.Errorf("entry at %d: want three lengths, as minimal varints, within the block", off)
	}
	at := off + n0 + n1 + n2
	rest := uint64(len(entries) - at)
	if unshared > rest || length > rest-unshared {
		return Entry{}, fmt.Errorf("entry at %d: key of %d and value of %d bytes, but %d are left", off, unshared, length, rest)
	}
	value := at + int(unshared)
	return Entry{Shared: shared, Key: at, Value: value, End: value + int(length)}, nil
}

// ErrOrder is what the error is, for errors.Is, for keys that are not in increasing order.
var ErrOrder = errors.New("keys are not in increasing order")

// NotAbove is the error for the entry at off, whose key, of those parts, is not above the
// last one.
func NotAbove(off int, last []byte, key ...[]byte) error {
	return disorder(fmt.Sprintf("entry at %d has key %s, want it above the one before, %s", off, wire.Quote(key...), wire.Quote(last)))
}

// disorder is an error that is ErrOrder, and says more.
type disorder string

func (d disorder) Error() string      { return string(d) }
func (disorder) Is(target error) bool { return target == ErrOrder }
