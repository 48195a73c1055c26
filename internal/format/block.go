package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Block is a block split into its entries and its restart array. Package block
// describes the format.
type Block struct {
	Entries  []byte
	Restarts []byte // the offsets of restart points in Entries, as u32le
}

// SplitBlock finds the restart array at the end of data. It checks nothing else. iq80's LevelDB for Java writes a
// block without entries as a restart count of 0. SplitBlock treats these 4 bytes as the restart point 0.
func SplitBlock(data []byte) (Block, error) {
	if len(data) == 4 && binary.LittleEndian.Uint32(data) == 0 {
		return Block{Entries: data[:0:0], Restarts: data}, nil
	}
	if len(data) < 8 {
		return Block{}, fmt.Errorf("block of %d bytes (minimum 8, or 4 zeros)", len(data))
	}
	end := len(data) - 4
	n := binary.LittleEndian.Uint32(data[end:])
	if n == 0 || uint64(n) > uint64(end)/4 {
		return Block{}, fmt.Errorf("restart count at %d is %d, not 1 to %d", end, n, end/4)
	}
	start := end - 4*int(n)
	return Block{Entries: data[:start:start], Restarts: data[start:end]}, nil
}

// Restart returns the offset of restart point i. If it is corrupt, it can be any number, and negative if int has 32
// bits.
func (b *Block) Restart(i int) int { return int(binary.LittleEndian.Uint32(b.Restarts[4*i:])) }

// NumRestarts returns the number of restart points.
func (b *Block) NumRestarts() int { return len(b.Restarts) / 4 }

// CheckEmpty checks the restart points of a block without entries.
func (b *Block) CheckEmpty() error {
	if n := b.NumRestarts(); n != 1 || b.Restart(0) != 0 {
		return fmt.Errorf("%d restart points, the first at %d, in a block without entries: it must have one, at 0", n, uint32(b.Restart(0)))
	}
	return nil
}

// A RestartWalk checks restart points while entries are decoded from first to last.
type RestartWalk struct {
	b    *Block
	i    int    // the next restart point
	Next uint64 // its offset; math.MaxUint64 if there is none
}

// WalkRestarts returns a RestartWalk at the first entry.
func (b *Block) WalkRestarts() (RestartWalk, error) {
	first := uint64(uint32(b.Restart(0)))
	if first != 0 {
		return RestartWalk{}, fmt.Errorf("restart point 0 is %d, not 0", first)
	}
	return RestartWalk{b: b}, nil
}

// Entry decodes the entry at off. If it is the next restart point, Entry checks it and moves to the one after it.
func (w *RestartWalk) Entry(off int) (Entry, error) {
	e, err := DecodeEntry(w.b.Entries, off)
	if err != nil || uint64(off) != w.Next {
		return e, err
	}
	if e.Shared > 0 {
		return e, fmt.Errorf("entry at %d shares %d bytes at a restart point", off, e.Shared)
	}
	w.Next = math.MaxUint64
	if w.i++; w.i < w.b.NumRestarts() {
		w.Next = uint64(uint32(w.b.Restart(w.i)))
	}
	return e, nil
}

// End checks that an entry started at each restart point.
func (w *RestartWalk) End() error {
	if w.i < w.b.NumRestarts() {
		return fmt.Errorf("restart point %d is %d: it must ascend and be the start of an entry", w.i, w.Next)
	}
	return nil
}

// Walk checks the block data, and calls visit with the key and the value of each entry. When visit is called, the bytes
// after the entry are not checked yet. If sorted is set, keys must be in the bytewise order. Keys that share bytes with
// the key before are rebuilt, which takes memory for the longest one: at most that many bytes. A key is valid until visit
// returns. An error of visit ends the walk.
func Walk(data []byte, sorted bool, memory int, visit func(key, value []byte) error) error {
	b, err := SplitBlock(data)
	if err != nil {
		return err
	}
	if len(b.Entries) == 0 {
		return b.CheckEmpty()
	}
	w, err := b.WalkRestarts()
	if err != nil {
		return err
	}
	var key KeyBuffer
	for off := 0; off < len(b.Entries); {
		e, err := w.Entry(off)
		last, unshared := key.Key, b.Entries[e.Key:e.Value]
		switch {
		case err != nil:
			return err
		case e.Shared > uint64(len(last)):
			return e.SharesTooMuch(off, len(last))
		case sorted && off > 0 && bytes.Compare(last[e.Shared:], unshared) >= 0:
			return NotAscending(off, last, last[:e.Shared], unshared)
		}
		if size := int(e.Shared) + len(unshared); e.Shared > 0 && size > max(maxShortKey, cap(key.Buf)) {
			if err := key.grow(b.Entries, off, memory); err != nil {
				return err
			}
		}
		key.Next(int(e.Shared), unshared)
		if err := visit(key.Key, b.Entries[e.Value:e.End:e.End]); err != nil {
			return err
		}
		off = e.End
	}
	return w.End()
}

// maxShortKey is the length of keys up to which Walk's buffer grows by and by.
const maxShortKey = 2 << 10

// grow allocates a buffer for the longest key from the entry at off on.
func (k *KeyBuffer) grow(entries []byte, off, memory int) error {
	n := LongestKey(entries, off, len(k.Key))
	if n > memory {
		return fmt.Errorf("entry at %d, or one after it, has a key of %d bytes that shares bytes with the key before: memory for such keys is bounded by %d bytes", off, n, memory)
	}
	k.Buf = append(make([]byte, 0, n), k.Buf...)
	return nil
}

// A KeyBuffer rebuilds the keys of consecutive entries. Bytes that a key shares with the key before stay in place:
// they can be far more than the entry stores.
type KeyBuffer struct {
	Key   []byte // a part of the block if the entry shares nothing; else Buf
	Buf   []byte
	InBuf bool // Key is Buf
}

// Next sets Key to the key of the next entry, which shares that many bytes with this one.
func (k *KeyBuffer) Next(shared int, unshared []byte) {
	if shared == 0 {
		k.Key, k.InBuf = unshared[:len(unshared):len(unshared)], false
		return
	}
	if !k.InBuf {
		k.Buf = append(slices.Grow(k.Buf[:0], shared+len(unshared)), k.Key[:shared]...)
	}
	k.Buf = append(k.Buf[:shared], unshared...)
	k.Key, k.InBuf = k.Buf[:len(k.Buf):len(k.Buf)], true
}

// NextAfter sets Key to the key of the entry after last's, which shares that many bytes with last's key. Unlike
// Next, it preserves last's key.
func (k *KeyBuffer) NextAfter(last *KeyBuffer, shared int, unshared []byte) {
	if shared == 0 {
		k.Next(0, unshared)
		return
	}
	k.Buf = append(append(k.Buf[:0], last.Key[:shared]...), unshared...)
	k.Key, k.InBuf = k.Buf[:len(k.Buf):len(k.Buf)], true
}

// Reset removes the key and keeps the buffer.
func (k *KeyBuffer) Reset() {
	k.Key, k.InBuf = nil, false
}

// An Entry is a decoded entry. Its offsets count from the start of the block.
type Entry struct {
	Shared uint64 // number of bytes its key shares with the key before
	Key    int    // start of its unshared key bytes
	Value  int    // start of its value
	End    int    // end of its value
}

// SharesTooMuch returns the error for the entry at off, if the key before has only length
// bytes.
func (e Entry) SharesTooMuch(off, length int) error {
	return fmt.Errorf("entry at %d shares %d bytes, but the key before it has %d", off, e.Shared, length)
}

// DecodeEntry decodes the entry at off. It checks everything except that the key before is at least as long as the
// shared part.
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

// decodeLong decodes an entry whose lengths may take several bytes, or be corrupt.
func decodeLong(entries []byte, off int) (Entry, error) {
	shared, n0 := Uvarint(entries[off:])
	unshared, n1 := Uvarint(entries[off+n0:])
	length, n2 := Uvarint(entries[off+n0+n1:])
	if n0 == 0 || n1 == 0 || n2 == 0 {
		return Entry{}, fmt.Errorf("entry at %d: its three lengths are not minimal varints within the block", off)
	}
	at := off + n0 + n1 + n2
	rest := uint64(len(entries) - at)
	if unshared > rest || length > rest-unshared {
		return Entry{}, fmt.Errorf("entry at %d: key of %d and value of %d bytes, but %d are left", off, unshared, length, rest)
	}
	value := at + int(unshared)
	return Entry{Shared: shared, Key: at, Value: value, End: value + int(length)}, nil
}

// LongestKey returns the length of the longest key that shares bytes with the key before it, from the entry at off
// on. lastLen is the length of the key before that entry. A corrupt entry ends the search.
func LongestKey(entries []byte, off, lastLen int) int {
	longest := 0
	for off < len(entries) {
		e, err := DecodeEntry(entries, off)
		if err != nil || e.Shared > uint64(lastLen) {
			break
		}
		lastLen = int(e.Shared) + e.Value - e.Key
		if e.Shared > 0 {
			longest = max(longest, lastLen)
		}
		off = e.End
	}
	return longest
}

// ErrOrder is wrapped by errors about keys that are not in increasing order.
var ErrOrder = errors.New("keys are not in increasing order")

// NotAscending returns the error for the entry at off, whose key is ≤ last, the key before. The parts of key are
// concatenated.
func NotAscending(off int, last []byte, key ...[]byte) error {
	return Disorder(fmt.Sprintf("entry at %d has key %s, which is not greater than the key before, %s", off, Quote(key...), Quote(last)))
}

// A Disorder is a more specific error that matches ErrOrder.
type Disorder string

func (d Disorder) Error() string { return string(d) }

// Is reports whether target is ErrOrder.
func (Disorder) Is(target error) bool { return target == ErrOrder }
