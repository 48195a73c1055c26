package block

import "errors"

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
// caller must not change as long as e is used. compare (nil: bytewise) is the
// order of the keys. If there is an error e has no entries. It is [ErrTooMany],
// and perhaps nothing is wrong, for more than 2¹⁴ entries, or where keys want
// more than 1 MiB, or more than 16 KiB and four times the block.
func (e *Entries) Decode(data []byte, compare func(a, b []byte) int) error {
	e.reset()
	b, err := split(data)
	if err != nil {
		return err
	}
	if len(b.entries) == 0 {
		return b.checkEmpty()
	}
	e.values, e.compare = b.entries, compare
	if err := e.decode(&b); err != nil {
		e.reset()
		return err
	}
	return nil
}

// decode goes over b's entries once, and holds them to all that Open does.
func (e *Entries) decode(b *Block) error {
	w, err := b.walkRestarts()
	if err != nil {
		return err
	}
	entries, foreign := b.entries, e.compare != nil
	keys, places := e.keys, e.places[:cap(e.places)]
	n, start, end := 0, 0, 0 // entries so far, and where in keys the last one is
	for off := 0; off < len(entries); {
		x, err := decode(entries, off)
		if err != nil {
			return err
		}
		if err := w.at(off, x); err != nil {
			return err
		}
		if x.shared > uint64(end-start) {
			return x.sharesTooMuch(off, end-start)
		}
		shared, size := int(x.shared), int(x.shared)+x.value-x.key
		if n == len(places) || len(keys)-end < size {
			if !e.grow(n, end, size, len(entries)) {
				return ErrTooMany
			}
			keys, places = e.keys, e.places
		}
		move(keys[end:], keys[start:], shared)
		move(keys[end+shared:], entries[x.key:], size-shared)
		last, this := keys[start:end], keys[end:end+size]
		if foreign || shared >= len(last) || shared >= len(this) || last[shared] >= this[shared] {
			if off > 0 && e.order(last, this) >= 0 {
				return notAbove(off, last, this)
			}
		}
		start, end, off = end, end+size, x.end
		p := &places[n] // field by field: a whole place would go by way of the stack
		p.key, p.keyEnd, p.value, p.valueEnd = uint32(start), uint32(end), uint32(x.value), uint32(x.end)
		n++
	}
	e.places = places[:n]
	return w.end()
}

// move copies n bytes, as most often few: it may then copy some more, to where
// nothing is yet.
func move(dst, src []byte, n int) {
	if n <= 16 && len(dst) >= 16 && len(src) >= 16 {
		*(*[16]byte)(dst) = *(*[16]byte)(src)
		return
	}
	copy(dst, src[:n])
}

// grow makes room for another entry behind n, with a key of size bytes behind
// those up to end, in a block of that many bytes. It reports false if there are too
// many.
func (e *Entries) grow(n, end, size, block int) bool {
	most := min(16<<10+4*block, maxKeys)
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
		keys := make([]byte, min(max(1<<10, 2*len(e.keys), end+size), maxKeys))
		copy(keys, e.keys[:end])
		e.keys = keys
	}
	return true
}
