// Package block writes and reads one block of a LevelDB sorted-string table:
// entries in key order, prefix-compressed, with restart points to search by.
// Data, index and metaindex blocks all have this form.
//
//	┌─────────┬─────────┬───┬───────────┬───────────┬───┬───────────────┐
//	│ entry   │ entry   │ … │ restart 0 │ restart 1 │ … │ restart count │
//	│         │         │   │ u32le     │ u32le     │   │ u32le         │
//	└─────────┴─────────┴───┴───────────┴───────────┴───┴───────────────┘
//
// An entry stores what its key does not share with the key before it, and three
// lengths as uvarints (7 bits a byte, the lowest first, the high bit set in all
// but the last):
//
//	┌─────────┬──────────┬──────────────┬─────────────────────┬───────┐
//	│ shared  │ unshared │ value length │ unshared key bytes  │ value │
//	│ uvarint │ uvarint  │ uvarint      │                     │       │
//	└─────────┴──────────┴──────────────┴─────────────────────┴───────┘
//
// Every so many entries (the restart interval) one shares nothing: a restart
// point, whose offset the array at the end lists, so that a search can start
// there. The keys "app", "apple", "banana" with values "1", "2", "3" and a
// restart interval of 2 make the block
//
//	00 03 01 a p p 1    03 02 01 l e 2    00 06 01 b a n a n a 3
//	00 00 00 00  0d 00 00 00              restart points: 0 and 13
//	02 00 00 00                           there are two of them
//
// A block of no entries has one restart point, 0. In a table each block is
// followed by a trailer (compression id and checksum), which is the table's
// affair. The format is described in LevelDB's doc/table_format.md.
//
// [Open] checks a whole block once, whatever its bytes are; an [Iter] on the
// [Block] it returns then moves without any check, and cannot fail. [Get] looks
// one key up in a block that is not worth opening for it.
package block

import "github.com/sievetable/sievetable/internal/format"

// A Block is the contents of one block that [Open] found sound. It is
// immutable and safe for concurrent use; the zero value is empty.
type Block struct {
	parts  format.Block
	order  Order
	shares bool
	n      int // entries
}

// Open checks data, the uncompressed contents of a block without trailer, and
// returns the Block. It checks that
//
//   - restart points are where entries start, ascending, from 0 on, and the
//     entries there share nothing;
//   - entries fill the block up to the restart array, and share no more than
//     the key before them has;
//   - lengths are minimal varints;
//   - keys strictly increase in the order.
//
// An error says at which position in data which of these does not hold. The
// Block keeps data: the caller must not change it any more.
func Open(data []byte, order Order) (Block, error) {
	k := getKeys()
	defer k.put()
	k.budget = (*Budget)(nil).start()
	return open(data, order, k)
}

// open opens a block by way of k.
func open(data []byte, order Order, k *keys) (Block, error) {
	parts, err := format.SplitBlock(data)
	if err != nil {
		return Block{}, err
	}
	b := Block{parts: parts, order: order}
	if err := b.check(k); err != nil {
		return Block{}, err
	}
	return b, nil
}
