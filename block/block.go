// Package block writes and reads the blocks of LevelDB's sorted-string tables. A block
// holds entries in the order of their keys. A key is stored without the bytes that it
// shares with the key before. Data, index and metaindex blocks all have this form.
//
//   - [Writer] builds a block.
//   - [Open] checks a block and returns it as a [Block]; an [Iter] moves over its entries.
//   - [Walk] checks a block and shows its entries once.
//   - [Get] and [SeekGE] look one key up in a block that is not opened.
//
// Package table reads and writes whole tables. Use package block for single blocks, such
// as those of table.Layout.
//
// # Format
//
//	┌─────────┬─────────┬───┬───────────┬───────────┬───┬───────────────┐
//	│ entry   │ entry   │ … │ restart 0 │ restart 1 │ … │ restart count │
//	│         │         │   │ u32le     │ u32le     │   │ u32le         │
//	└─────────┴─────────┴───┴───────────┴───────────┴───┴───────────────┘
//
// An entry stores three lengths, the bytes of its key that it does not share with the key
// before, and its value. The lengths are uvarints: 7 bits in each byte, the lowest bits
// first, with the high bit set in all bytes but the last.
//
//	┌─────────┬──────────┬──────────────┬─────────────────────┬───────┐
//	│ shared  │ unshared │ value length │ unshared key bytes  │ value │
//	│ uvarint │ uvarint  │ uvarint      │                     │       │
//	└─────────┴──────────┴──────────────┴─────────────────────┴───────┘
//
// An entry that shares nothing is a restart point, if the array at the end lists its
// offset. A search can start at any restart point. The restart interval is how many entries
// there are from one restart point to the next, 16 by default. With a restart interval of
// 2, the keys "app", "apple", "banana" and the values "1", "2", "3" are stored as
//
//	00 03 01 a p p 1    03 02 01 l e 2    00 06 01 b a n a n a 3
//	00 00 00 00  0d 00 00 00              restart points: 0 and 13
//	02 00 00 00                           there are two of them
//
// A block without entries has one restart point, 0. That of iq80's LevelDB for Java has none, and
// is 4 zero bytes; it is read too. In a table, a trailer follows each
// block: compression id and checksum. It is not part of the block, and package table
// handles it. LevelDB's doc/table_format.md describes the format too.
package block

import "github.com/sievetable/sievetable/internal/format"

// A Block is a block that [Open] has checked. It is immutable and safe for concurrent
// use. The zero value has no entries.
type Block struct {
	parts format.Block
	order Order
	n     int // number of entries
}

// Open checks data and returns it as a Block. data is an uncompressed block without its
// trailer. The Block keeps it, and the caller must not change it any more. Open checks
// all that an [Iter] relies on, so that the Iter needs no checks and has no errors:
//
//   - Restart points are in ascending order and start with 0. Each is where an entry
//     starts that shares nothing.
//   - Entries fill the block up to the restart array. None shares more bytes than the
//     key before has.
//   - Lengths are minimal varints.
//   - Keys are in strictly increasing order.
//
// Otherwise it returns an error, which says what is wrong and at which offset in data.
// Keys out of order are [ErrOrder]. data may be of any bytes.
func Open(data []byte, order Order) (Block, error) {
	d := getKeyDecoder()
	defer d.put()
	d.budget = (*Budget)(nil).start()
	return open(data, order, d, nil)
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

// Walk checks data as [Open] does, and calls visit with each entry as it comes to it: with the
// key, how many bytes of it the entry shares with the key before, and the value. Unlike an Iter
// on a Block from Open, it goes over the block once. What comes behind an entry is not checked
// yet when visit is called. An error of visit ends the walk, and is returned as it is.
//
// The key is valid until visit returns, or as long as data if it shares nothing. The value is a
// part of data. visit must not change them. The budget bounds the work on keys, as for
// [Iter.Open].
func Walk(data []byte, order Order, budget *Budget, visit func(key []byte, shared int, value []byte) error) error {
	d := getKeyDecoder()
	defer d.put()
	d.budget = budget.start()
	_, err := open(data, order, d, visit)
	budget.end(d.budget)
	return err
}
