// Package block writes and reads the blocks of LevelDB's sorted-string tables. A block
// holds entries in the order of their keys. A key is stored without the bytes that it
// shares with the key before. Data, index and metaindex blocks all have this form.
//
//   - [Writer] builds a block.
//   - [Open] checks a block and returns it as a [Block]; an [Iter] moves over its entries.
//
// Package table reads and writes whole tables. Use package block for single blocks, such as the ones that
// package table/layout returns.
//
// # Format
//
//	+---------+---------+---+-----------+-----------+---+---------------+
//	| entry   | entry   |...| restart 0 | restart 1 |...| restart count |
//	|         |         |   | u32le     | u32le     |   | u32le         |
//	+---------+---------+---+-----------+-----------+---+---------------+
//
// An entry stores three lengths, the bytes of its key that it does not share with the key
// before, and its value. The lengths are uvarints: 7 bits in each byte, the lowest bits
// first, with the high bit set in all bytes but the last.
//
//	+---------+----------+--------------+---------------------+-------+
//	| shared  | unshared | value length | unshared key bytes  | value |
//	| uvarint | uvarint  | uvarint      |                     |       |
//	+---------+----------+--------------+---------------------+-------+
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
// A block without entries has one restart point, 0. iq80's LevelDB for Java writes 4 zero bytes instead, which are read
// too. In a table, a trailer follows each block, with compression id and checksum: package table handles it. LevelDB's
// doc/table_format.md describes the format too.
package block

import (
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// ErrOrder is in the chain of the error for a block whose keys are not in increasing
// order: test for it with errors.Is. Either the block is damaged, or it was written in
// another Order.
var ErrOrder = format.ErrOrder

// An Order is the order of the keys of a block. The zero value is the bytewise order. An
// Order is safe for concurrent use if its Func is.
type Order struct {
	// Func returns a negative number if a comes before b, a positive one if it
	// comes after b, and 0 if they are the same key. nil: bytes.Compare.
	Func func(a, b []byte) int

	// Suffix makes reading faster if Func is almost bytewise. It is the number of bytes
	// at the end of each key that are in another order. Without these bytes, keys must
	// be in the bytewise order, and keys shorter than Suffix must come first. It is 8
	// for internal keys whose user keys are in the bytewise order. 0 is always right.
	Suffix int

	// Unchecked accepts keys in any order. Use it for blocks whose order
	// is unknown, or damaged. The entries of such a block can be iterated, but keys
	// cannot be looked up.
	Unchecked bool
}

// A Block is a block that [Open] has checked. It is immutable and safe for concurrent
// use. The zero value has no entries.
type Block struct{ b rowblock.Block }

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
	b, err := rowblock.Open(data, rowblock.Order(order), nil)
	return Block{b}, err
}
