// Package bench shows what a table's filter saves. From the root of the module:
//
//	go test -bench . ./bench
//
// This takes one to two minutes, as each benchmark takes 0.3 s unless -benchtime says otherwise.
// Below the lines of the benchmarks it prints tables that sum up BenchmarkLookups and, unless
// -benchtime is too short for it, BenchmarkMembership.
//
// # Lookups
//
// BenchmarkGetAbsent and BenchmarkGetPresent come twice: as reads=filtered, where lookups ask
// the filter first, and as reads=unfiltered, where the same table's filter is ignored. Beside
// the time, and the bytes and allocations that Go counts, of a lookup stand
//
//   - blocks/lookup: data blocks read for it,
//   - bytes/lookup: what these took in the file,
//   - falsepos/lookup: false positives: how often the filter said "may contain" of
//     an absent key,
//   - %reads-saved: how many of the unfiltered lookups' reads the filter
//     saved.
//
// The workloads are W1, a million entries of 16-byte keys and 100-byte values,
// and W2, the source tree of the Go distribution at hand: file contents by
// path. Absent keys of W1 are further random keys, those of W2 each path with a
// ~ behind it. Tables have blocks of 4 KiB, compressed with Snappy or not
// (codec=none), and 10 filter bits per key. They lie in memory; blocks are
// checked and decompressed at each lookup. BenchmarkCached keeps them in a
// block cache instead, so that no operation reads any. The keys that are asked for
// are all over the memory, as in many a program, and each is fetched from there
// first: bench/peers, which packs them, has lower figures for what is quicker than
// that.
//
// BenchmarkLookups reads W1's compressed table from memory, from a file, from a disk and from
// an object store. The file is one that the operating system has in memory. The disk and the
// object store are that file with a delay before each read, of 100 µs and of 20 ms. The summary
// says what the delays measured: a sleep of 100 µs can take a millisecond, so the end of each
// delay is waited for in a loop. Each kind of lookups goes on until it has read 100 data blocks,
// whatever -benchtime says. Times depend on the machine, and reads hardly do:
//
//	                           reads of a lookup
//	                       without filter  with filter
//	memory, all absent             1.0000       0.0093
//	memory, half absent            1.0000       0.5048
//	file, all absent               1.0000       0.0093
//	file, half absent              1.0000       0.5048
//	disk, all absent               1.0000       0.0096
//	disk, half absent              1.0000       0.5060
//	object store, all absent       1.0000       0.0094
//	object store, half absent      1.0000       0.5100
//
// BenchmarkGetMany looks keys of W1 up by GetMany (op=many), beside a loop of Get (op=loop):
// batches of 64 from a cache that has the whole table, 1,000 absent keys from an object store,
// and from there 100 keys, of which each 20 are neighbours. requests/key counts reads of the
// source.
//
// BenchmarkSet looks up a million URLs in a set of ten tables (tables=10), and beside it in one
// table of the same URLs (tables=1), all from a cache. BenchmarkSetMemory opens such sets, with a
// filter block (bits=10) and with a filter of the whole table too (bits=10+10), and reports what
// the open tables keep in memory for each key.
//
// BenchmarkMerging scans tables together, as a storage engine does: beside a table by
// itself stand tables merged, levels, and what a snapshot sees. BenchmarkMerged in peers does that
// beside other engines.
//
// # Membership
//
// BenchmarkMembership asks a Bloom filter of 10 to 1,000,000 keys whether it has a key, and also
// a sorted slice, a map and, up to 10,000 keys, a list. With larger sets, in some 1.5 GB of memory:
//
//	go test -bench Membership ./bench -membership.large
//
// probes/lookup are the bits of the filter that a lookup looks at, and the keys that slice and
// list compare. A map does not tell how many of its slots it looks at. positives/lookup are the
// answers "yes": for absent keys these are false positives.
//
// The probes of a filter do not depend on the number of its keys: about 3 for an absent key and
// 6 for a present one. Its time is not quite constant, because each bit is in another line of
// memory. A filter of 10,000,000 keys takes 12.5 MB. It no longer fits into the caches next to
// the processor, and takes about twice as long as one of 1,000 keys. Larger filters are slower
// still. So are lookups that wait for the one before: here the processor begins the next one
// while memory answers.
//
// A filter is no replacement for the others. It takes 1.25 bytes for a key where the slice takes
// 40. But it takes about one absent key in a hundred for a present one, it has no values, and
// it cannot list its keys. A map of up to 10,000 keys is as fast.
package bench
