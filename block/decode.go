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
	entries := b.entries
	start, end := 0, 0 // where in keys the key before is
	for off := 0; off < len(entries); {
		x, err := decode(entries, off)
		if err != nil {
			return err
		}
		if uint64(off) == w.next {
			if err := w.step(off, x); err != nil {
				return err
			}
		}
		if x.shared > uint64(end-start) {
			return x.sharesTooMuch(off, end-start)
		}
		shared, unshared := int(x.shared), x.value-x.key
		if len(e.places) == cap(e.places) || len(e.keys)-end < shared+unshared {
			if !e.grow(end, shared+unshared, len(entries)) {
				return ErrTooMany
			}
		}
		keys := e.keys
		move(keys[end:], keys[start:], shared)
		move(keys[end+shared:], entries[x.key:], unshared)
		last, this := keys[start:end], keys[end:end+shared+unshared]
		if shared >= len(last) || shared >= len(this) || last[shared] >= this[shared] || e.compare != nil {
			if off > 0 && e.order(last, this) >= 0 {
				return notAbove(off, last, this)
			}
		}
		start, end, off = end, end+shared+unshared, x.end
		e.places = append(e.places, place{0, uint32(start), uint32(end), uint32(x.value), uint32(x.end)})
	}
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

// grow makes room for another entry, with a key of n bytes behind those up to
// end, in a block of size bytes. It reports false if there are too many.
func (e *Entries) grow(end, n, size int) bool {
	most := min(16<<10+4*size, maxKeys)
	if len(e.places) == maxEntries || n > most-end {
		return false
	}
	if len(e.places) == cap(e.places) {
		e.places = append(make([]place, 0, max(64, 2*cap(e.places))), e.places...)
	}
	if n > len(e.keys)-end {
		e.keys = append(make([]byte, 0, min(max(1<<10, 2*len(e.keys), end+n), maxKeys)), e.keys[:end]...)
		e.keys = e.keys[:cap(e.keys)]
	}
	return true
}
