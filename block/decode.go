package block

import (
	"errors"
	"math"
)

// ErrTooMany is the error for a block that [Entries] are no good form of: it has
// very many, or their keys share so much that whole they would take far more
// memory than the block.
var ErrTooMany = errors.New("too many entries, or keys too long together, to have them all at hand")

const (
	maxEntries = 1 << 14
	maxKeys    = 1 << 20 // bytes
)

// Decode checks data, the uncompressed contents of a block without trailer, as
// [Open] does, and makes e its entries. Their values are parts of data, which the
// caller must not change as long as e is used. If there is an error e has no entries.
// It is [ErrTooMany], and perhaps nothing is wrong, for more than 2¹⁴ entries, or where
// keys want more than 1 MiB, or more than 16 KiB and four times the block.
func (e *Entries) Decode(data []byte, order Order) error {
	e.reset()
	b, err := split(data)
	if err != nil {
		return err
	}
	if len(b.entries) == 0 {
		return b.checkEmpty()
	}
	if uint64(len(b.entries)) > math.MaxUint32 {
		return ErrTooMany
	}
	e.values, e.order = b.entries, order
	if err := e.decode(&b); err != nil {
		e.reset()
		return err
	}
	return nil
}

// decoded is how far decoding has come: how many entries there are, where in the
// keys the last one is, and where in the block the next one starts.
type decoded struct{ n, start, end, off int }

// decode goes over b's entries once, and holds them to all that Open does.
func (e *Entries) decode(b *Block) error {
	w, err := b.walkRestarts()
	if err != nil {
		return err
	}
	// What was decoded before must not make a difference to what is too many.
	e.places = e.places[:min(cap(e.places), maxEntries)]
	e.keys = e.keys[:min(cap(e.keys), mostKeys(len(b.entries)))]
	if e.keys == nil {
		e.keys = []byte{} // a nil key would read as none
	}
	var d decoded
	for d.off < len(b.entries) {
		if d, err = e.decodeOne(b.entries, &w, d); err != nil {
			return err
		}
		if e.order.prefixed() {
			quick := b.entries[:min(uint64(len(b.entries)), w.next)]
			d = decodeQuick(quick, e.keys, e.places, d, e.order.Suffix)
		}
	}
	e.places = e.places[:d.n]
	return w.end()
}

// decodeOne decodes the entry at d.off.
func (e *Entries) decodeOne(entries []byte, w *restartWalk, d decoded) (decoded, error) {
	x, err := decode(entries, d.off)
	if err != nil {
		return d, err
	}
	if err := w.at(d.off, x); err != nil {
		return d, err
	}
	if x.shared > uint64(d.end-d.start) {
		return d, x.sharesTooMuch(d.off, d.end-d.start)
	}
	shared, size := int(x.shared), int(x.shared)+x.value-x.key
	if (d.n == len(e.places) || len(e.keys)-d.end < size) && !e.grow(d.n, d.end, size, len(entries)) {
		return d, ErrTooMany
	}
	last, this := e.keys[d.start:d.end], e.keys[d.end:d.end+size]
	copy(this, last[:shared])
	copy(this[shared:], entries[x.key:x.value])
	if d.off > 0 && e.order.compare(last, this) >= 0 {
		return d, notAbove(d.off, last, this)
	}
	e.places[d.n] = place{key: uint32(d.end), keyEnd: uint32(d.end + size), value: uint32(x.value), valueEnd: uint32(x.end)}
	return decoded{d.n + 1, d.end, d.end + size, x.end}, nil
}

// decodeQuick decodes most entries of most blocks: up to one that it leaves to
// decodeOne, if only to find out what is wrong with it. It calls nothing, so that
// all is in registers, and copies 16 bytes where there are fewer, to where nothing
// is yet. The entries are those before the next restart point, and in the bytewise
// order but for suffixes.
func decodeQuick(entries, keys []byte, places []place, d decoded, suffix int) decoded {
	const most = 127 // of lengths that take one byte
	n, start, end, off := d.n, d.start, d.end, d.off
	for n < len(places) && len(keys)-end >= 2*most+16 && len(entries)-off >= 3+16 {
		shared, unshared, length := int(entries[off]), int(entries[off+1]), int(entries[off+2])
		key := off + 3
		value := key + unshared
		valueEnd := value + length
		// What is left of the block has room for copies of 16 bytes, and the
		// key's first byte that is its own puts it above the last key.
		if shared|unshared|length > most || max(value+16, valueEnd) > len(entries) ||
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
		p := &places[n] // field by field: a whole place would go by way of the stack
		p.key, p.keyEnd, p.value, p.valueEnd = uint32(start), uint32(end), uint32(value), uint32(valueEnd)
		n++
	}
	return decoded{n, start, end, off}
}

// mostKeys returns how many bytes of keys are not too many, in a block of that size.
func mostKeys(block int) int { return min(16<<10+4*min(block, maxKeys), maxKeys) }

// grow makes room for another entry behind n, with a key of size bytes behind
// those up to end, in a block of that many bytes. It reports false if there are too
// many.
func (e *Entries) grow(n, end, size, block int) bool {
	most := mostKeys(block)
	if n == maxEntries || size > most-end {
		return false
	}
	if places := e.places[:cap(e.places)]; n == len(places) {
		e.places = make([]place, max(64, 2*n))
		copy(e.places, places)
	} else {
		e.places = places
	}
	if size > len(e.keys)-end {
		keys := make([]byte, min(max(2<<10, 2*len(e.keys), end+size), most))
		copy(keys, e.keys[:end])
		e.keys = keys
	}
	return true
}
