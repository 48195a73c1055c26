// Package block writes and reads blocks of SSTables, LevelDB's table files. A block contains entries in key order. A
// key is stored without the bytes that it shares with the previous key. Data, index and metaindex blocks all have
// this form.
//
//   - [Writer] builds blocks.
//   - [Open] checks a block and returns it as a [Block]; an [Iter] iterates over its entries.
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
// An entry stores three lengths, the bytes of its key that the previous key does not share, and its value. The lengths
// are uvarints: 7 bits in each byte, the lowest bits first, with the high bit set in all bytes but the last.
//
//	+---------+----------+--------------+---------------------+-------+
//	| shared  | unshared | value length | unshared key bytes  | value |
//	| uvarint | uvarint  | uvarint      |                     |       |
//	+---------+----------+--------------+---------------------+-------+
//
// An entry that shares nothing is a restart point, if the array at the end lists its offset. A search can start at
// any restart point. The restart interval is the number of entries from one restart point to the next, 16 by
// default. With a restart interval of 2, the keys "app", "apple", "banana" and the values "1", "2", "3" are stored
// as
//
//	00 03 01 a p p 1    03 02 01 l e 2    00 06 01 b a n a n a 3
//	00 00 00 00  0d 00 00 00              restart points: 0 and 13
//	02 00 00 00                           there are two of them
//
// A block without entries has one restart point, 0. iq80's LevelDB for Java writes 4 zero bytes instead, which Open
// accepts too. In a table, each block is followed by a trailer with its compression id and checksum, which package
// table handles. See also LevelDB's doc/table_format.md.
package block

import (
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// ErrOrder is the error of Open and Append, for errors.Is, if keys are not in increasing order. If Open returns it,
// the block is corrupt or was written in another Order.
var ErrOrder = format.ErrOrder

// An Order is a total order of keys. The zero value is bytewise order. An Order is safe for concurrent use if its Func
// is.
type Order struct {
	// Func returns a negative number if a < b, a positive one if a > b, and 0 if they are the same key. Nil means
	// bytes.Compare.
	Func func(a, b []byte) int

	// Suffix is the number of bytes at the end of each key that are not in bytewise order. Set it to speed up
	// reading if Func is bytewise except for such a suffix. Without the suffix, keys must be in bytewise order, and
	// keys shorter than Suffix must come first. For internal keys whose user keys are in bytewise order, it is 8.
	// Zero is always correct.
	Suffix int

	// If Unchecked is set, keys can be in any order. Set it for corrupt blocks, or if the order is unknown. An Iter
	// then supports all moves except SeekGE and SeekLT.
	Unchecked bool
}

// A Block is a block that [Open] has checked. It is immutable and safe for concurrent use. The zero value has no
// entries.
type Block struct{ b rowblock.Block }

// Open checks data, an uncompressed block without its trailer, and returns it as a Block. The Block keeps the slice,
// which the caller must not modify. Open never panics, whatever data contains. It checks everything that an [Iter]
// relies on, so an Iter cannot fail:
//
//   - Restart points are in ascending order and start with 0. Each is the offset of an entry that shares nothing.
//   - Entries fill the block up to the restart array. None shares more bytes than the previous key has.
//   - Lengths are minimal varints.
//   - Keys are in strictly increasing order. Otherwise the error matches [ErrOrder].
//
// Errors contain the offset in data.
func Open(data []byte, order Order) (Block, error) {
	b, err := rowblock.Open(data, rowblock.Order(order))
	return Block{b}, err
}
