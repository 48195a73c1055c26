package decoded

import (
	"errors"
	"math"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
)

// ErrTooMany is the error of Decode for a block that is not worth decoding: it has very
// many entries, or keys that share so much that whole they would take far more memory
// than the block.
var ErrTooMany = errors.New("too many entries, or keys too long together, to have them by number")

const (
	maxEntries = 1 << 14
	maxKeys    = 1 << 20 // bytes
)

// Decode checks data, the uncompressed contents of a block without trailer, as
// [block.Open] does, and makes b its entries. Their values are parts of data, which the
// caller must not change as long as b is used. If there is an error b has no entries.
// It is [ErrTooMany], and perhaps nothing is wrong, for more than 2¹⁴ entries, or where
// keys want more than 1 MiB, or more than 16 KiB and four times the block.
func (b *Block) Decode(data []byte, order block.Order) error {
	b.reset()
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
		b.reset()
		return err
	}
	return nil
}

// decodeState is how far decoding has come.
type decodeState struct {
	n          int // entries that are decoded
	start, end int // of the last one's key, in keys
	off        int // of the next entry, in the stored block
}

// decode goes over the entries once, and checks all that block.Open does.
func (b *Block) decode(stored *format.Block) error {
	w, err := stored.WalkRestarts()
	if err != nil {
		return err
	}
	entries := stored.Entries
	// What was decoded before must not make a difference to what is too many.
	b.spans = b.spans[:min(cap(b.spans), maxEntries)]
	b.keys = b.keys[:min(cap(b.keys), keyLimit(len(entries)))]
	if b.keys == nil {
		b.keys = []byte{} // a nil key would read as none
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
func (b *Block) decodeNext(entries []byte, w *format.RestartWalk, d decodeState) (decodeState, error) {
	e, err := format.DecodeEntry(entries, d.off)
	if err != nil {
		return d, err
	}
	if err := w.At(d.off, e); err != nil {
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

// decodeRun decodes most entries of most blocks. It calls nothing, so that all is in the
// processor's registers, and copies 16 bytes at a time:
//
//	entries   … │ shared │ unshared │ length │ unshared key bytes │ value │ …
//	            off                          key                  value   valueEnd
//	keys      … │ last key │ this key │ room for 16 bytes more than a key
//	            start      end
//
// It stops before the first entry that it cannot decode like that, and leaves it to
// decodeNext, which finds out whether anything is wrong with it. It wants of an entry
//   - lengths of one byte each;
//   - room for copies of 16 bytes, in what is left of entries and keys;
//   - a key whose first unshared byte is > the last key's there, and both before the suffix,
//     which only the order can compare: so that it is > the last key;
//   - not to be a restart point: entries end before the next one.
func decodeRun(entries, keys []byte, spans []entrySpan, d decodeState, suffix int) decodeState {
	const longest = 127 // of lengths that take one byte
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
		s := &spans[n] // field by field: a whole span would go by way of the stack
		s.key, s.keyEnd, s.value, s.valueEnd = uint32(start), uint32(end), uint32(value), uint32(valueEnd)
		n++
	}
	return decodeState{n, start, end, off}
}

// keyLimit returns how many bytes the keys of a block of that size may take.
func keyLimit(size int) int { return min(16<<10+4*min(size, maxKeys), maxKeys) }

// grow makes room for another entry behind n, with a key of size bytes behind those up to
// end, in a block of blockSize bytes. It reports false if there are too many.
func (b *Block) grow(n, end, size, blockSize int) bool {
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
