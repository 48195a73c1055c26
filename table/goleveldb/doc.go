// Package goleveldb has the API of goleveldb's package leveldb/table, and reads and writes the same tables with
// package table. A program changes one import, from "github.com/syndtr/goleveldb/leveldb/table" to
//
//	import table "github.com/sievetable/sievetable/table/goleveldb"
//
// For goleveldb before August 2021, such as v1.0.0, it also adds nil, 0 to calls of NewWriter.
//
// Options, caches, iterators and errors are goleveldb's types, except [*ErrCorrupted] and [ErrReaderReleased].
// goleveldb's engine runs on this package too: see the module's README.
//
// # Options
//
// Of opt.Options, the fields Comparer, Filter, AltFilters, FilterBaseLg, BlockSize, BlockRestartInterval, Compression
// and Strict are used, and all of opt.ReadOptions. A value that package table does not accept, such as a FilterBaseLg
// above 30, is an error of the Writer's first Append or Close.
//
// goleveldb's Bloom filters are replaced by package filter's, which have the same bits and are faster, also if the
// engine wraps them to leave out the last 8 bytes of a key. Other filters are used unchanged.
//
// A Comparer must accept any bytes without a panic, since a corrupt file can contain any. Only the comparer of
// goleveldb's engine is protected: it is not called with invalid keys. A program's own Comparer is not called before
// a key is searched, so tables in another order can be scanned, as goleveldb's Recover does.
//
// # Cache and buffers
//
// If NewReader is given a cache.NamespaceGetter, data blocks are kept in a [table.Cache] with the capacity of its
// cache.Cache. Readers with the same cache.Cache share it. As in goleveldb, the namespace's number must identify one
// file. After Release, the blocks stay. After EvictNS, they are no longer found, and other blocks take their memory
// over time. EvictAll frees it once all Readers are released. Evict and a later SetCapacity have no effect. Without a
// cache.Cacher, as with opt.NoCacher, or with opt.Options.DisableBlockCache, no blocks are cached.
//
// The cache.Cache's Size counts these blocks in memory, rounded to 1/256 of the capacity and without the last few
// that were read. So do DBStats.BlockCacheSize and leveldb.cachedblock in the engine. Other statistics of the cache,
// such as its hits, do not count blocks. Indexes and filters are kept by open Readers, and not counted.
//
// An iterator with DontFillCache reads up to 64 KiB at once, which suits compactions. Buffer pools are not used:
// DisableBufferPool has no effect, and leveldb.blockpool describes an unused pool.
//
// # Differences
//
//   - Uncompressed tables have the same bytes as goleveldb's, except for tables without entries, which have no data
//     block: goleveldb's iterators over a range can report these tables as corrupt. Compressed tables differ: the
//     Snappy encoder is another one, blocks that shrink by less than an eighth are not compressed, nor is the
//     metaindex.
//   - A Writer writes 256 KiB at a time (512 KiB before compression), so write errors appear later. It refuses a
//     Comparer whose separators are not between the two keys.
//   - If filtered is true and the table has a filter, Find and FindKey return ErrNotFound for an absent key (in the
//     engine's tables, user key), also after a false positive. goleveldb then returns the next entry. Get checks
//     filters too, except with a program's own Comparer.
//   - If the metaindex is corrupt, the table is read without its filter. goleveldb does not read it.
//   - Tables that goleveldb's Recover wrote are read completely. goleveldb misses some of their entries, since their
//     index is not in the order of the engine's keys and their filters contain other keys. If the index cannot be
//     used, the Reader keeps a copy of the table in memory, and OffsetOf returns offsets in it. If a data block is also
//     corrupt, only iterators without a range can read the table, and not Seek.
//   - An iterator that is not strict skips a corrupt block completely. More is checked, such as the order of keys and
//     the positions of blocks.
//   - A range whose Start is after its Limit is empty. In goleveldb, it can be an error.
//   - Without opt.StrictBlockChecksum, no checksums are compared, not even of index and filters. Truncated blocks are
//     always an error.
//   - Release waits only for reads of the file. A lookup that is running may return ErrReaderReleased.
package goleveldb
