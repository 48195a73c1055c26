// Package rowblock reads the blocks of a table. Block and Iter check a stored block and move over its entries. Get
// and SeekGE look up a key in an unchecked block. Decoded is an array of a block's entries, and Cached is a copy of
// it for a cache. Package block exports a part of this package.
package rowblock

import (
	"bytes"
	"math"

	"github.com/sievetable/sievetable/internal/format"
)

// A Block is a block that Open has checked. It is immutable and safe for concurrent use. The zero value has
// no entries.
type Block struct {
	parts format.Block
	order Order
	n     int // number of entries
}

// Open checks data and returns it as a Block, as block.Open does. Unlike Iter.Open, it does not bound the work on keys.
func Open(data []byte, order Order) (Block, error) {
	d := getKeyDecoder()
	defer d.put()
	d.budget = Budget{math.MaxInt, math.MaxInt64}
	return open(data, order, d)
}

// open is like Open, but decodes the keys with d.
func open(data []byte, order Order, d *keyDecoder) (Block, error) {
	parts, err := format.SplitBlock(data)
	if err != nil {
		return Block{}, err
	}
	b := Block{parts: parts, order: order}
	if len(parts.Entries) == 0 {
		err = parts.CheckEmpty()
	} else {
		err = b.checkEntries(d)
	}
	if err != nil {
		return Block{}, err
	}
	return b, nil
}

// checkEntries checks the entries for open. There must be at least one.
func (b *Block) checkEntries(d *keyDecoder) error {
	d.entries = b.parts.Entries
	w, err := b.parts.WalkRestarts()
	if err != nil {
		return err
	}
	for off := 0; off < len(b.parts.Entries); {
		e, err := w.Entry(off)
		if err != nil {
			return err
		}
		b.n++
		if err := b.checkKey(d, off, e); err != nil {
			return err
		}
		off = e.End
	}
	return w.End()
}

// checkKey checks that the key of the entry at off is > the last key, and makes it the last key.
func (b *Block) checkKey(d *keyDecoder, off int, e format.Entry) error {
	unshared, last := b.parts.Entries[e.Key:e.Value], d.last.Key
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

// An Order is like block.Order. The zero value is the bytewise order.
type Order struct {
	Func      func(a, b []byte) int // nil: bytes.Compare
	Suffix    int                   // number of bytes at the end of each key that are not in the bytewise order
	Unchecked bool                  // keys are in any order
}

// OrderOf returns the Order for keys in the order of c. A nil c means the bytewise order. The Comparers of package
// table have a method that says how to compare their keys faster.
func OrderOf(c interface{ Compare(a, b []byte) int }) Order {
	switch c := c.(type) {
	case nil:
		return Order{}
	case interface{ BlockOrder() Order }:
		return c.BlockOrder()
	}
	return Order{Func: c.Compare}
}

// Compare returns a negative number if a comes before b, a positive one if it comes after
// b, and 0 if they are the same key.
func (o *Order) Compare(a, b []byte) int {
	if o.Func == nil {
		return bytes.Compare(a, b)
	}
	return o.Func(a, b)
}

// Bytewise reports whether keys are in the bytewise order, without the bytes of Suffix.
func (o *Order) Bytewise() bool { return o.Func == nil || o.Suffix > 0 }

// Prefix returns key without the bytes of Suffix: the part that is in the bytewise order.
func (o *Order) Prefix(key []byte) []byte { return key[:max(0, len(key)-o.Suffix)] }

// skippable returns the number of leading bytes that Compare can skip in two keys of the lengths a and b, which
// share their first shared bytes.
func (o *Order) skippable(shared, a, b int) int {
	if o.Func == nil {
		return shared
	}
	if o.Suffix == 0 {
		return 0
	}
	return min(shared, max(0, a-o.Suffix), max(0, b-o.Suffix))
}

// A Budget bounds the work on the keys of an unchecked block. Entries share bytes of their keys, so a few bytes of a
// corrupt block can stand for many long keys. Functions that take a Budget subtract what they use, and return an
// error if it does not suffice. The zero value allows nothing.
type Budget struct {
	// Memory is the number of bytes that may be allocated for keys.
	Memory int

	// Compared is the number of key bytes that may be compared in an order that is not Bytewise.
	Compared int64
}
