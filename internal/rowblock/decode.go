package rowblock

import (
	"errors"
	"math"

	"github.com/sievetable/sievetable/internal/format"
)

// ErrTooMany is returned by Decode for a block that would take too much memory. It has very many entries, or its
// rebuilt keys are far longer than the block. The block may be sound.
var ErrTooMany = errors.New("too many entries, or too many bytes of keys, to decode into an array")

const (
	maxEntries = 1 << 14
	maxKeys    = 1 << 20 // bytes of all keys
)

// Decode checks data as block.Open does, and sets b to its entries. data is an uncompressed block without its
// trailer. The values are parts of data, which the caller must not change while b is in use. After an error b has no
// entries.
//
// Decode returns [ErrTooMany] if there are more than 2¹⁴ entries, or if the keys take more than 1 MiB, or more than
// 16 KiB plus four times the block. Such a block may or may not be corrupt.
func (b *Decoded) Decode(data []byte, order Order) error {
	b.Reset()
	stored, err := format.SplitBlock(data)
	if err != nil {
		return err
	}
	if len(stored.Entries) == 0 {
		return stored.CheckEmpty()
	}
	if uint64(len(stored.Entries)) > math.MaxUint32 {
		return ErrTooMany
	}
	b.values, b.order = stored.Entries, order
	if err := b.decode(&stored); err != nil {
		b.Reset()
		return err
	}
	return nil
}

// decodeState is the progress of decoding a block.
type decodeState struct {
	n          int // number of decoded entries
	start, end int // of the last entry's key, in keys
	off        int // of the next entry, in the stored block
}

// decode decodes the entries, and checks everything that block.Open checks.
func (b *Decoded) decode(stored *format.Block) error {
	w, err := stored.WalkRestarts()
	if err != nil {
		return err
	}
	entries := stored.Entries
	// The limits must not depend on the memory that earlier blocks have left.
	b.spans = b.spans[:min(cap(b.spans), maxEntries)]
	b.keys = b.keys[:min(cap(b.keys), keyLimit(len(entries)))]
	if b.keys == nil {
		b.keys = []byte{} // a nil key would mean no key
	}
	var d decodeState
	for d.off < len(entries) {
		if d, err = b.decodeNext(entries, &w, d); err != nil {
			return err
		}
		if b.order.Bytewise() {
			run := entries[:min(uint64(len(entries)), w.Next)]
			d = decodeRun(run, b.keys, b.spans, d, b.order.Suffix)
		}
	}
	b.spans = b.spans[:d.n]
	return w.End()
}

// decodeNext decodes the entry at d.off.
func (b *Decoded) decodeNext(entries []byte, w *format.RestartWalk, d decodeState) (decodeState, error) {
	e, err := w.Entry(d.off)
	if err != nil {
		return d, err
	}
	if e.Shared > uint64(d.end-d.start) {
		return d, e.SharesTooMuch(d.off, d.end-d.start)
	}
	shared, size := int(e.Shared), int(e.Shared)+e.Value-e.Key
	if (d.n == len(b.spans) || len(b.keys)-d.end < size) && !b.grow(d.n, d.end, size, len(entries)) {
		return d, ErrTooMany
	}
	last, key := b.keys[d.start:d.end], b.keys[d.end:d.end+size]
	copy(key, last[:shared])
	copy(key[shared:], entries[e.Key:e.Value])
	if d.off > 0 && b.order.Compare(last, key) >= 0 {
		return d, format.NotAscending(d.off, last, key)
	}
	b.spans[d.n] = entrySpan{key: uint32(d.end), keyEnd: uint32(d.end + size), value: uint32(e.Value), valueEnd: uint32(e.End)}
	return decodeState{d.n + 1, d.end, d.end + size, e.End}, nil
}

// decodeRun decodes most entries of most blocks. It calls no functions, so that its variables stay in registers, and
// it copies 16 bytes at a time:
//
//	entries   … │ shared │ unshared │ length │ unshared key bytes │ value │ …
//	            off                          key                  value   valueEnd
//	keys      … │ last key │ this key │ space for 16 bytes more than a key
//	            start      end
//
// It stops at the first entry that it cannot decode. decodeNext then decodes that entry or reports corruption.
// decodeRun decodes an entry if
//   - each of its lengths takes one byte;
//   - entries and keys have space for copies of 16 bytes;
//   - its first unshared byte is > the byte of the last key at that place, and neither is
//     in the suffix: the key is then > the last key;
//   - it is not a restart point: the caller ends entries at the next one.
func decodeRun(entries, keys []byte, spans []entrySpan, d decodeState, suffix int) decodeState {
	const longest = 127 // the highest length that takes one byte
	n, start, end, off := d.n, d.start, d.end, d.off
	for n < len(spans) && len(keys)-end >= 2*longest+16 && len(entries)-off >= 3+16 {
		shared, unshared, length := int(entries[off]), int(entries[off+1]), int(entries[off+2])
		key := off + 3
		value := key + unshared
		valueEnd := value + length
		if shared|unshared|length > longest || max(value+16, valueEnd) > len(entries) ||
			unshared <= suffix || shared >= end-start-suffix || keys[start+shared] >= entries[key] {
			break
		}
		*(*[16]byte)(keys[end:]) = *(*[16]byte)(keys[start:])
		for i := 16; i < shared; i += 16 {
			*(*[16]byte)(keys[end+i:]) = *(*[16]byte)(keys[start+i:])
		}
		own := end + shared
		*(*[16]byte)(keys[own:]) = *(*[16]byte)(entries[key:])
		for i := 16; i < unshared; i += 16 {
			*(*[16]byte)(keys[own+i:]) = *(*[16]byte)(entries[key+i:])
		}
		start, end, off = end, own+unshared, valueEnd
		s := &spans[n] // set field by field: a composite literal would be built on the stack
		s.key, s.keyEnd, s.value, s.valueEnd = uint32(start), uint32(end), uint32(value), uint32(valueEnd)
		n++
	}
	return decodeState{n, start, end, off}
}

// keyLimit returns the maximum total size of the decoded keys of a block of size bytes.
func keyLimit(size int) int { return min(16<<10+4*min(size, maxKeys), maxKeys) }

// grow makes space for entry n, whose key has size bytes and starts at end in keys. It returns false if a block of
// blockSize bytes must not have that many entries or key bytes.
func (b *Decoded) grow(n, end, size, blockSize int) bool {
	limit := keyLimit(blockSize)
	if n == maxEntries || size > limit-end {
		return false
	}
	if spans := b.spans[:cap(b.spans)]; n == len(spans) {
		b.spans = make([]entrySpan, max(64, 2*n))
		copy(b.spans, spans)
	} else {
		b.spans = spans
	}
	if size > len(b.keys)-end {
		keys := make([]byte, min(max(2<<10, 2*len(b.keys), end+size), limit))
		copy(keys, b.keys[:end])
		b.keys = keys
	}
	return true
}
