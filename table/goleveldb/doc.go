// Package goleveldb has the API of goleveldb's package leveldb/table, on the tables of sievetable.
// A program that uses that package changes one import, from
// "github.com/syndtr/goleveldb/leveldb/table":
//
//	import table "github.com/sievetable/sievetable/table/goleveldb"
//
// With a goleveldb of before August 2021, such as v1.0.0, it also adds nil, 0 to calls of
// NewWriter.
//
// The package reads the tables that goleveldb has written, and goleveldb reads its tables. Options,
// caches and iterators are goleveldb's own types. So are errors, except *ErrCorrupted and
// ErrReaderReleased. goleveldb's engine runs on this package too: see the module's README.
//
// # Options
//
// These fields of opt.Options have an effect, the same as for goleveldb's tables: Comparer, Filter,
// AltFilters, FilterBaseLg, BlockSize, BlockRestartInterval, Compression and Strict. So do all of
// opt.ReadOptions. A value that package table cannot use, such as a FilterBaseLg > 30, is an error
// of the Writer's first Append or Close.
//
// goleveldb's Bloom filters are checked and built by package filter, which is faster and has the
// same bits, also where goleveldb's engine wraps them to leave out the last 8 bytes of a key.
// Other filters work as they are.
//
// A comparer must accept any bytes as keys without a panic, since a damaged file can have any. The
// comparer of goleveldb's engine does not, and is not called with keys that it cannot compare. The
// comparer of a program is not called until a key is searched, so that a table of another order can
// be scanned: goleveldb's Recover does that.
//
// # Cache and buffers
//
// The cache.NamespaceGetter of NewReader stands for a [table.Cache] of blocks, as large as the
// capacity that the cache.Cache then has. All Readers with the same cache.Cache share it. As in
// goleveldb, the number of the namespace must stand for one file. When the Reader is released, its
// blocks stay for the next one, until Evict, EvictNS or EvictAll gives the namespace up. A later
// SetCapacity does not change how many blocks there can be. Without a cache.Cacher, as with
// opt.NoCacher, or with opt.Options.DisableBlockCache, no blocks are cached.
//
// Size of the cache.Cache counts these blocks as they are in memory, in steps of 1/256 of the
// capacity, and without the last few that were read. So do DBStats.BlockCacheSize and
// leveldb.cachedblock of goleveldb's engine. Its other statistics, such as the HitCount of
// DBStats.BlockCache, count these steps and files, and not blocks. Index and filters are not in the
// cache, and nothing counts them: a Reader keeps them while it is open. DBStats.OpenedTablesCount
// is the number of open Readers, since the engine itself counts them.
//
// An iterator with DontFillCache, as a compaction has, reads up to 64 KiB at once when it moves on
// to a block that is not in the cache.
//
// Buffer pools, and the size that NewWriter takes, are not used: package table has pools. So
// DisableBufferPool changes nothing, and leveldb.blockpool is about a pool that is not in use.
//
// # What differs
//
//   - Tables have the same bytes as goleveldb's if they have entries and are not compressed.
//     Compressed ones can differ: the Snappy encoder is another one, a block that it makes smaller
//     by less than an eighth is stored as it is, and so is the metaindex. A table without entries
//     has no data block.
//   - A Writer writes pieces of 256 KiB, or of 512 KiB before compression. So it returns an error
//     of writing that much later than goleveldb's, which writes each block. It refuses a comparer
//     whose separators are not between the two keys.
//   - Find and FindKey with filtered set return ErrNotFound if the table has a filter and not the
//     key, even if the filter gives a false positive. In tables of the engine, that is the user
//     key. goleveldb then returns the next entry. Get checks the filters too, unless the comparer is
//     a program's own.
//   - With a damaged metaindex, the table is read without the filter. In goleveldb, it cannot be
//     read.
//   - Tables that goleveldb's Recover has written are read in full. Their index is not in the order
//     of the engine's keys, and their filters contain other keys, so goleveldb misses entries. If
//     the index cannot be used, the Reader keeps a copy of the table in memory.
//   - An iterator that is not strict leaves a damaged block out as a whole: it returns no entry of
//     it. More is checked, such as the order of keys, and where a handle points.
//   - A range whose Start is > its Limit has no entries. In goleveldb it can be an error.
//   - Without opt.StrictBlockChecksum, no checksums are checked, even of index and filters. Blocks
//     that are too short are always an error.
//   - Release waits for reads of the file only. A lookup that runs meanwhile can return
//     ErrReaderReleased.
package goleveldb
