// Package bench measures what filters save. From the root of the module:
//
//	go test -bench . ./bench
//
// This takes one to two minutes: each benchmark runs for 0.3 s, unless -benchtime is given. After the benchmarks'
// lines, tables summarize BenchmarkLookups and, if -benchtime is long enough, BenchmarkMembership.
//
// # Lookups
//
// BenchmarkGetAbsent and BenchmarkGetPresent run with the table's filter (reads=filtered) and without it
// (reads=unfiltered). They report:
//
//   - blocks/lookup: data blocks read
//   - bytes/lookup: the size of these blocks in the file
//   - falsepos/lookup: false positives of the filter
//   - %reads-saved: unfiltered reads that the filter avoids
//
// Workload W1 has a million entries, with keys of 16 bytes and values of 100. W2 is the source tree of the installed
// Go: file contents by path. Tables have blocks of 4 KiB, compressed by Snappy or not (codec=none), and filters of 10
// bits per key. They are in memory, and blocks are checked and decompressed for each lookup, except in
// BenchmarkCached, which uses a block cache. The keys looked up are scattered over memory, as in most programs, so
// fast lookups take longer than in bench/peers, which packs keys.
//
// BenchmarkLookups reads W1's compressed table from memory, from a file in the page cache, from a disk and from an
// object store. The last two are the file with a delay of 100 us and 20 ms before each read. Each line has at least
// 100 reads, whatever -benchtime is. Times depend on the machine; reads barely vary:
//
//	                           reads per lookup
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
// BenchmarkGetMany compares GetMany (op=many) with a loop of Get (op=loop): batches of 64 keys from a block cache,
// and from an object store 1,000 absent keys and 100 keys in groups of 20 neighbors. requests/key counts reads.
//
// BenchmarkSet looks up a million URLs in a set of ten tables and in a single table, from a cache. BenchmarkSetMemory
// reports the memory per key of such sets, with block filters (bits=10) and also table filters (bits=10+10).
//
// BenchmarkMerging scans merged tables, levels and snapshots, as a storage engine does. For other engines, see
// BenchmarkMerged in bench/peers.
//
// # Membership
//
// BenchmarkMembership looks up keys in a Bloom filter, a sorted slice, a map, and a list of up to 10,000 keys. For
// 10,000,000 keys, which need 1.5 GB of memory:
//
//	go test -bench Membership ./bench -membership.large
//
// probes/lookup counts bits checked in the filter, and keys compared in the slice and the list. positives/lookup
// counts positive results: for absent keys, these are false positives.
//
// A filter checks about 3 bits for an absent key and 6 for a present one, whatever its size. Each is in another cache
// line, so its time doubles when it exceeds the processor's caches: at 10,000,000 keys, it takes 12.5 MB. It takes
// 1.25 bytes per key, a slice 40. Maps of up to 10,000 keys are as fast.
package bench
