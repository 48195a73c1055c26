// Package table writes and reads sorted-string tables in the format of LevelDB:
// immutable files of keys in order with their values, each file with Bloom
// filters that answer most lookups of absent keys before any data block is
// read. The files are those of goleveldb and C++ LevelDB.
//
//	┌─────────────────────┐ 0
//	│ data block 0        │ ← index entry 0: separator → handle
//	│ trailer             │
//	├─────────────────────┤
//	│ …                   │
//	├─────────────────────┤
//	│ data block n−1      │ ← index entry n−1
//	│ trailer             │
//	├─────────────────────┤
//	│ filter block        │ ← metaindex entries "filter.<policy's name>"
//	│ trailer             │
//	├─────────────────────┤
//	│ metaindex block     │ ← footer
//	│ trailer             │
//	├─────────────────────┤
//	│ index block         │ ← footer
//	│ trailer             │
//	├─────────────────────┤
//	│ footer, 48 bytes    │
//	└─────────────────────┘ the file's size
//
// Data, index and metaindex blocks are of package block's form, the filter
// block is of package filter's. Each is followed by a trailer of 5 bytes: a
// compression id (0 none, 1 Snappy, in its raw format, without framing) and, as
// u32le, a checksum over the block as stored and that id: their CRC-32C
// (Castagnoli), c, masked as (c>>15 | c<<17) + 0xa282ead8 mod 2³². A Writer never
// compresses the filter block and the metaindex; other engines compress the
// metaindex.
//
// The filter block is optional. The metaindex lists it by name: its keys, in byte order, are
// "filter." and the name of its policy, its values are handles. LevelDB's Bloom
// filter has two names, "leveldb.BuiltinBloomFilter" in goleveldb and
// "leveldb.BuiltinBloomFilter2" in C++ LevelDB; a Writer lists the one filter
// block under both.
//
// A handle is where a block is, as two uvarints (7 bits a byte, the lowest
// first, the high bit set in all but the last): its offset and its length
// without the trailer. The footer is the metaindex's handle, the index's
// handle, zeros up to 40 bytes, and the magic number 0xdb4775248b80fb57 as
// u64le:
//
//	71 34              aa 01 1c            00 … 00    57 fb 80 8b 24 75 47 db
//	offset 113,        offset 170,         padding    magic number
//	52 bytes           28 bytes
//
// The index has an entry for each data block. Its key is a separator: at least
// the block's last key, and below the next block's first one. So a key that is
// there at all is in the first block whose separator is not below it, and a
// [Reader.Get] takes one search of the index, one question to that block's
// filter, and then reads one block or, for nearly every absent key, none.
//
// The format is described in LevelDB's doc/table_format.md.
//
// # Writing
//
// A [Writer] takes keys in strictly increasing order. [Create] writes a file
// that appears under its name only when it is complete and on disk.
// [WriterOptions] zero values are LevelDB's defaults, but for the filter: set
// FilterPolicy to filter.NewBloom(10), or TableFilterPolicy to
// filter.NewTableBloom(10), or both. With Concurrency, other goroutines compress
// blocks while the next are built, which is worth while for compressed tables. With
// Properties, a table says what it holds.
//
// # Reading
//
// A [Reader] is safe for concurrent use. It keeps index and filters in memory
// and reads data blocks when they are asked for: each time anew, or once, if it is
// given a [Cache] to keep them in, which any number of Readers can share:
//
//	cache := table.NewCache(512 << 20)
//	r, err := table.Open("users.ldb", &table.ReaderOptions{Cache: cache})
//
// What is in the cache is found without a lock, and costs neither a read nor an
// allocation. It takes more memory there than in the file, as it is decompressed
// and has whole keys, to be searched and iterated at once.
//
// A Reader knows LevelDB's and goleveldb's Bloom filters, and those of whole tables
// by RocksDB and Pebble, without being told.
//
// Tables inside the directory of a LevelDB or goleveldb database hold internal
// keys: the user's key and 8 bytes of sequence number and kind, so that versions of
// a key are kept side by side. Their filters hold the user's keys alone. They want
//
//	o := &table.ReaderOptions{
//		Comparer:  table.InternalComparer(table.BytewiseComparer),
//	}
//
// or they may read as damaged, and their filters deny every key, which
// [Reader.Verify] will tell. [Reader.Find] finds the version of a key that a snapshot sees. The
// example engine, in this package's examples, is built on that.
//
// A database is many such tables. [NewLevelIter] goes over those of one level, with one
// open at a time; [NewMergingIter] over all levels as one; and [NewSnapshotIter] shows
// of that the users' keys that a snapshot sees. All are Iterators, as Iter is.
//
// # Trust
//
// A file may come from anywhere. Whatever its bytes are, opening it, a lookup, a
// move of an iterator and Verify return what is true of the file, or an error:
// they do not panic, do not go on forever, and do not take memory on the file's
// word.
//
//   - Each block that is read is held to its checksum (but see
//     [ReaderOptions].SkipChecksums). A checksum tells accidents, not intent:
//     nothing else is left unchecked because of it.
//   - Iterators hold each block that they enter to every rule of its form, its
//     keys to their order, and both to the index, and so does whoever reads a block
//     into a [Cache]. Without one, a lookup checks what its answer
//     rests on, from a restart point to the key: what it finds is in the table;
//     it may not find what is in a block whose keys are out of order.
//   - [Reader.Verify] checks every block, that no two of them share bytes, the
//     order of all keys, and that no filter denies a key. It cannot tell what no
//     rule forbids under a right checksum, such as other values, and does not look
//     at bytes that belong to no block.
//   - Damage is a [*CorruptionError], with the file's name if Open opened it, the
//     part of the file, its offset and length, and what was expected. A filter that is seen to be damaged costs time only: it is
//     not used, and [Reader.FilterErr] says why. Bits of a filter that were changed under a right
//     checksum can make lookups miss keys; Verify names the keys.
//   - One operation allocates at most 64 MiB plus 32 times the file's size, on
//     any file: Snappy can make 21 bytes of one. Keys share bytes with those
//     before them, and so few bytes can make long keys. A table in which these
//     would take more than the bound is reported as damaged. So is one in an order
//     that has to see whole keys, where comparing them would take more than a
//     thousand times the length of a block. What AppendGet appends to dst comes on top,
//     and what ReadAhead and TailSize ask for. Other Codecs are to keep to the limit
//     that they are given. Time is about in proportion to the blocks, decompressed.
//   - What a Writer accepts, a Reader reads, if it is given the same Comparer,
//     FilterKey and Codecs, and no smaller MaxBlockSize: the Writer keeps to all bounds.
//   - An error of the source is in the chain of the one returned, for errors.Is,
//     and is no ErrCorrupt, though Verify may return both. The next call reads
//     again.
//   - A Reader serves any number of goroutines, and Close may come at any time:
//     what is under way ends with an answer or ErrClosed. Values that Get returned
//     stay valid forever, after Close, and after the file is gone.
//   - A [Writer] reports the first error of what it writes to, and of closing and
//     syncing. A file of [Create] is under its name whole or not at all, also if the
//     process is killed.
//
// The comparer's name is not stored in a table. A table that is opened with
// another order than it was written in reads as damaged, or its keys are not
// found; nothing is found that is not there.
//
// The zero values of Writer, Reader and Iter are of no use: New functions make
// them.
package table
