// Package rowblock reads the blocks of a table. Block and Iter check a block as it is stored and move over its
// entries, and Get and SeekGE look up a key in one that is not checked. Decoded is the array of its entries, and
// Cached a copy of that for a cache. Package block is the public face of a part of it.
package rowblock

import "github.com/sievetable/sievetable/internal/format"

// A Block is a block that Open has checked. It is immutable and safe for concurrent use. The zero value has
// no entries.
type Block struct {
	parts format.Block
	order Order
	n     int // number of entries
}

// Open checks data and returns it as a Block, as block.Open does. The budget bounds the work on keys in
// every order. A block that needs more is an error. nil sets no bound.
func Open(data []byte, order Order, budget *Budget) (Block, error) {
	d := getKeyDecoder()
	defer d.put()
	d.budget = budget.start()
	b, err := open(data, order, d, nil)
	budget.end(d.budget)
	return b, err
}

// open does what Open does, and decodes the keys with d. It calls visit with each entry, unless
// visit is nil.
func open(data []byte, order Order, d *keyDecoder, visit visitor) (Block, error) {
	parts, err := format.SplitBlock(data)
	if err != nil {
		return Block{}, err
	}
	b := Block{parts: parts, order: order}
	if err := b.check(d, visit); err != nil {
		return Block{}, err
	}
	return b, nil
}

// Walk checks data as Open does, and calls visit with each entry as it comes to it: with the
// key, how many bytes of it the entry shares with the key before, and the value. Unlike an Iter
// on a Block from Open, it goes over the block once. What comes behind an entry is not checked
// yet when visit is called. An error of visit ends the walk, and is returned as it is.
//
// The key is valid until visit returns, or as long as data if it shares nothing. The value is a
// part of data. visit must not change them. The budget bounds the work on keys, as for
// Iter.Open.
func Walk(data []byte, order Order, budget *Budget, visit func(key []byte, shared int, value []byte) error) error {
	d := getKeyDecoder()
	defer d.put()
	d.budget = budget.start()
	_, err := open(data, order, d, visit)
	budget.end(d.budget)
	return err
}
