// Package table writes and reads tables in the format of LevelDB. A table (an SSTable, or
// sorted-string table) is an immutable file of keys and values in the order of the keys. It
// can have Bloom filters, which answer most lookups of absent keys without reading a data
// block. goleveldb and C++ LevelDB read these files, and this package reads theirs.
//
// # Writing
//
// [Create] returns a [Writer] for a file. Append the entries in the order of their keys,
// then Close. The file appears under its name only when it is complete and on disk.
//
//	w, err := table.Create("users.ldb", &table.WriterOptions{FilterPolicy: filter.NewBloom(10)})
//	if err != nil { … }
//	defer w.Abort() // does nothing after Close
//	… w.Append(key, value) …
//	return w.Close()
//
// The zero values of [WriterOptions] are LevelDB's defaults. There is no filter unless you
// set FilterPolicy, for a filter block as LevelDB has it, or TableFilterPolicy, for one
// filter of all keys.
//
// # Reading
//
// [Open] returns a [Reader]. It looks up keys with Get, and All and NewIter iterate. Any number
// of goroutines can use a Reader. It has the index and the filters in memory as they are in the
// file, and finds out by itself which of LevelDB's and RocksDB's Bloom filters a table has. A [Cache] keeps
// data blocks too. Without one, each lookup reads its block again.
//
//	cache := table.NewCache(512 << 20) // for any number of Readers
//	r, err := table.Open("users.ldb", &table.ReaderOptions{Cache: cache})
//	if err != nil { … }
//	defer r.Close()
//	value, err := r.Get(key) // ErrNotFound if the table does not have the key
//
// From an object store, or another source where each read takes long, [Reader.GetMany] looks
// many keys up by few reads at a time. The source can be a [ContextReaderAt]. Set
// TailSize to open such a table by one read, and ReadAhead to scan it by few.
//
// Iterators over the keys with a common prefix mostly read no data block if there are none: with
// [WriterOptions].FilterPrefix filters hold prefixes too, and [IterOptions].Prefix asks for one.
//
// [Reader.With] returns lookups and iterators whose reads a context ends, or which add no blocks to the
// Cache.
//
// If an uncertain answer is enough, [Reader.MayContain] asks the filters alone and reads
// nothing. A table of [WriterOptions].FilterOnly has nothing else: it is as small as its
// filter. With [WriterOptions].Never it is never wrong about the keys that you name, such as those of
// a whitelist.
//
// # Databases
//
// The tables of a LevelDB or goleveldb database have internal keys: a user key, and 8 bytes
// of sequence number and kind. Their filters hold the user keys only. [InternalComparer]
// stands for both:
//
//	o := &table.ReaderOptions{Comparer: table.InternalComparer(table.BytewiseComparer)}
//
// Without it such a table reads as damaged, or no key is found. [SearchKey] and [Reader.Find]
// look up the version of a user key that a snapshot sees. [ParseInternalKey] splits a key.
//
// A database is more than its tables: the newest writes are in its log, and its MANIFEST
// says which tables count. Others are obsolete, and may have keys that were deleted since.
//
// [Iter] iterates over one table. Package [github.com/sievetable/sievetable/table/merge] has
// iterators over many: over a level of a database, merged with others and with what is in memory,
// and over user keys, as a snapshot sees them. The example "Engine" is an LSM engine that is
// built on them.
//
// # Trust
//
// A file can come from anywhere. Whatever its bytes are, opening it, lookups, iterators and
// Verify return either what is true of the file or an error. They do not panic, they do not
// run forever, and they do not allocate memory just because a file says so.
//
//   - Each block that is read is compared with its checksum, unless SkipChecksums is set. A
//     checksum finds accidents, not attacks, so everything else is checked as well.
//   - Index and filters are used as they are stored. An entry of the index, and a filter, is checked
//     when it is used. If separators are out of order, a key that is there can be missed.
//   - Iterators check every block that they read: its form, the order of its keys, and both
//     against the index. So does a lookup that decodes a block for a Cache. Any other lookup, such
//     as one without a Cache, checks the restart point that it starts from, and the entries up to the key.
//     What it finds is in the table. It can miss a key if the block's keys are out of order.
//   - [Reader.Verify] checks every block, the order of all keys, that no blocks overlap, and
//     that no filter denies a key. It cannot find a change that is valid and has a right
//     checksum, such as another value. It does not check bytes that are in no block.
//   - Damage is a [*CorruptionError]. It names the file, the block, its offset and length,
//     and what was expected, and of a data block, between which separators its keys are. An Iter
//     goes on behind such a block if its OnLoss says so.
//   - A filter whose checksum or form shows that it is damaged is not used. It costs time, and
//     hides no key; [Reader.FilterErr] says why. A filter with wrong bits under a right
//     checksum can deny keys that are there: only Verify reports it.
//   - One operation allocates at most 64 MiB plus 32 times the size of the file, for any
//     file. GetMany counts as one for each key. What AppendGet and AppendFind append, and the
//     buffers of ReadAhead and TailSize, come on top. Snappy expands at most 22-fold, and keys
//     can share bytes with the key before: a table whose keys would need more memory is
//     reported as damaged. With a Comparer of your own, so is a block that would compare more
//     bytes of keys than 64 KiB plus 1024 times its length, decompressed. A [Codec] of
//     your own must keep to the limit that it is given. The time is proportional to the size of
//     the decompressed blocks.
//   - A Reader reads all that a Writer accepts, with the same Comparer, FilterKey and
//     Codecs, and with the default MaxBlockSize or a larger one.
//   - An error of the source is in the chain of the error that is returned, so errors.Is
//     finds it. It is not ErrCorrupt. The next call reads again.
//   - Close of a Reader can be called at any time. Calls that run meanwhile return a result
//     or ErrClosed. Values that Get has returned stay valid after Close.
//   - A Writer returns the first error of writing, syncing and closing. A file of [Create]
//     is under its name whole or not at all, even if the process is killed.
//
// The name of a table's Comparer is only in its Properties, if it has any, and a Reader does
// not compare it. With another Comparer, reads fail with a CorruptionError that is
// [ErrOrder], or Get returns ErrNotFound for keys that are there. What is found is in the
// table.
//
// # Format
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
//	└─────────────────────┘ size of the file
//
// Package block describes the form of data, index and metaindex blocks, and package filter
// that of the filter block.
//
// A trailer has 5 bytes: a compression id and a checksum. The id is 0 for no compression
// and 1 for Snappy, without framing. The checksum is a u32le: the CRC-32C (Castagnoli) c of
// the stored block and the id, masked as (c>>15 | c<<17) + 0xa282ead8 mod 2³². A Writer does
// not compress filters and metaindex. Other engines compress the metaindex.
//
// A handle says where a block is. It has two uvarints: the offset, and the length without
// the trailer. (A uvarint has 7 bits in each byte, the lowest bits first, with the high bit
// set in all bytes but the last.) The footer has the handles of the metaindex and the index,
// zeros up to 40 bytes, and the magic number 0xdb4775248b80fb57 as u64le:
//
//	71 34              aa 01 1c            00 … 00    57 fb 80 8b 24 75 47 db
//	offset 113,        offset 170,         padding    magic number
//	52 bytes           28 bytes
//
// The index has an entry for each data block. The key is a separator: it is ≥ all keys of
// the block and < all keys of the next one. The value is the block's handle. So a key can
// only be in the first block whose separator is ≥ the key. [Reader.Get] searches the index,
// checks the filter of that block, and reads at most that block.
//
// The metaindex lists the other blocks by name, in the bytewise order. The name of a filter
// block is "filter." and the name of its policy. LevelDB's Bloom filter has two names, and a
// Writer lists its filter block under both: "leveldb.BuiltinBloomFilter" in goleveldb,
// "leveldb.BuiltinBloomFilter2" in C++ LevelDB. The first name alone can also mean C++ LevelDB
// before 1.18, whose hash differs for some keys: a Reader then asks by both, see
// filter.EitherHash. Such keys have about twice the false positives, in tables of goleveldb
// too. The name of a filter of the whole table starts with "fullfilter.". A table need not
// have filters. The block "sievetable.digest" of the tables of sets has the SHA-256 of the
// trailers of all data blocks, one behind the other. The block "sievetable.never" has the filter keys
// that the filter of the whole table has by chance, and that lookups deny all the same: see
// [WriterOptions].Never. It has the form of a data block, the keys are in the bytewise order, and the
// values are empty. If filters hold prefixes, the properties are listed as "sievetable.prefix" too, and
// name the function: see [WriterOptions].FilterPrefix.
//
// LevelDB's doc/table_format.md describes the format too.
package table
