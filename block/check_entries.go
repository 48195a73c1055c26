package block

import "github.com/sievetable/sievetable/internal/format"

// check checks the whole block, and decodes its keys with d.
func (b *Block) check(d *keyDecoder) error {
	if len(b.parts.Entries) == 0 {
		return b.parts.CheckEmpty()
	}
	return b.checkEntries(d)
}

func (b *Block) checkEntries(d *keyDecoder) error {
	d.entries = b.parts.Entries
	w, err := b.parts.WalkRestarts()
	if err != nil {
		return err
	}
	for off := 0; off < len(b.parts.Entries); {
		e, err := format.DecodeEntry(b.parts.Entries, off)
		if err != nil {
			return err
		}
		if err := w.At(off, e); err != nil {
			return err
		}
		b.shares = b.shares || e.Shared > 0
		b.n++
		if err := b.checkKey(d, off, e); err != nil {
			return err
		}
		off = e.End
	}
	return w.End()
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
