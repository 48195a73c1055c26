package rowblock

import "github.com/sievetable/sievetable/internal/format"

// A visitor is called with each entry. See Walk.
type visitor func(key []byte, shared int, value []byte) error

// check checks the whole block, and decodes its keys with d. It calls visit with each entry,
// unless visit is nil.
func (b *Block) check(d *keyDecoder, visit visitor) error {
	if len(b.parts.Entries) == 0 {
		return b.parts.CheckEmpty()
	}
	return b.checkEntries(d, visit)
}

func (b *Block) checkEntries(d *keyDecoder, visit visitor) error {
	d.entries = b.parts.Entries
	w, err := b.parts.WalkRestarts()
	if err != nil {
		return err
	}
	off, err := b.checkPlain(d, &w, visit)
	if err != nil {
		return err
	}
	for off < len(b.parts.Entries) {
		e, err := format.DecodeEntry(b.parts.Entries, off)
		if err != nil {
			return err
		}
		if err := w.At(off, e); err != nil {
			return err
		}
		b.n++
		if err := b.checkKey(d, off, e); err != nil {
			return err
		}
		if visit != nil {
			if err := visit(d.last.key, int(e.Shared), b.parts.Entries[e.Value:e.End:e.End]); err != nil {
				return err
			}
		}
		off = e.End
	}
	return w.End()
}

// checkPlain checks entries from the first on, and visits them, as long as each is at a restart
// point and their keys need no budget: so are all entries of the index that engines write. It
// returns where the first other entry starts, or the first that is not sound.
func (b *Block) checkPlain(d *keyDecoder, w *format.RestartWalk, visit visitor) (off int, err error) {
	entries := b.parts.Entries
	for b.order.Bytewise() && uint64(off) == w.Next && off < len(entries) {
		e, err := format.DecodeEntry(entries, off)
		key := entries[e.Key:e.Value:e.Value]
		if err != nil || e.Shared > 0 || off > 0 && b.order.Compare(d.last.key, key) >= 0 {
			break
		}
		b.n++
		d.last.key = key
		if visit != nil {
			if err := visit(key, 0, entries[e.Value:e.End:e.End]); err != nil {
				return 0, err
			}
		}
		if err := w.At(off, e); err != nil {
			return 0, err
		}
		off = e.End
	}
	return off, nil
}

// checkKey checks that the key of the entry at off is > the last key, and makes it the
// last key.
func (b *Block) checkKey(d *keyDecoder, off int, e format.Entry) error {
	unshared, last := b.parts.Entries[e.Key:e.Value], d.last.key
	switch {
	case !b.order.Bytewise() && !b.order.Unchecked:
		return d.nextInOrder(off, e, unshared, b.order.Func)
	case off == 0, b.order.Unchecked, e.Shared > uint64(len(last)): // next returns the error for that
		return d.next(off, e, unshared)
	}
	// The bytes that the keys share are equal, and can be far more than the entry stores.
	skip := b.order.skippable(int(e.Shared), len(last), int(e.Shared)+len(unshared))
	rest, err := d.join(off, last[skip:e.Shared], unshared)
	if err != nil {
		return err
	}
	if b.order.Compare(last[skip:], rest) >= 0 {
		return format.NotAscending(off, last, last[:e.Shared], unshared)
	}
	return d.next(off, e, unshared)
}
