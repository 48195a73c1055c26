// Package bench shows what a table's filter saves. From the root of the module:
//
//	go test -bench . ./bench
//
// Each lookup benchmark comes twice: as reads=filtered, where lookups ask the
// filter first, and as reads=unfiltered, where the same table's filter is
// ignored. Beside the time, and the bytes and allocations that Go counts, of a
// lookup stand
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
// BenchmarkMerging scans tables together, as a storage engine does: beside a table by
// itself stand tables merged, levels, and what a snapshot sees.
package bench
