package block

import "github.com/sievetable/sievetable/internal/format"

// check walks all entries, by way of k.
func (b *Block) check(k *keys) error {
	if len(b.parts.Entries) == 0 {
		return b.parts.CheckEmpty()
	}
	return b.checkEntries(k)
}

func (b *Block) checkEntries(k *keys) error {
	k.entries = b.parts.Entries
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
		if err := b.checkKey(k, off, e); err != nil {
			return err
		}
		off = e.End
	}
	return w.End()
}

// checkKey checks that the key of the entry at off comes after the last one, and
// makes it the last one.
func (b *Block) checkKey(k *keys, off int, e format.Entry) error {
	unshared, last := b.parts.Entries[e.Key:e.Value], k.last.bytes
	switch {
	case !b.order.Bytewise() && !b.order.Unchecked:
		return k.nextInOrder(off, e, unshared, b.order.Func)
	case off == 0, b.order.Unchecked, e.Shared > uint64(len(last)): // which next finds
		return k.next(off, e, unshared)
	}
	// What the keys share is not looked at again: it can be far longer than the entry.
	skip := b.order.skippable(int(e.Shared), len(last), int(e.Shared)+len(unshared))
	rest, err := k.rest(off, last[skip:e.Shared], unshared)
	if err != nil {
		return err
	}
	if b.order.Compare(last[skip:], rest) >= 0 {
		return format.NotAbove(off, last, last[:e.Shared], unshared)
	}
	return k.next(off, e, unshared)
}
