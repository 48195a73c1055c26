// Package paged has table filters that are read by the page: a lookup reads 4096 bytes, and
// nothing before them. They are for programs that end after a few lookups, and for filters larger
// than memory. Other table filters have one checksum, and so are read whole before the first
// answer. Held in memory, a paged filter is as fast as a [filter.TableBloom], and has fewer false
// positives:
//
//	bits per key                 8      10     12     14     16     20     24
//	false positives in percent  2.16   0.82   0.32   0.12   0.046  0.0068 0.0010
//
// These are the rates of filters of any number of keys, if they have at least a few pages. A filter has whole pages, so
// that one of ten keys has 4132 bytes, and hardly ever errs.
//
//	policy, err := paged.New(14)
//	w, err := table.Create(name, &table.WriterOptions{TableFilterPolicy: policy})
//	r, err := table.Open(name, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{policy}})
//
// A Reader of package table uses such a filter only if it has a [Policy] in its options, of any
// number of bits. Opening the table reads the end of the filter, and each lookup a page, unless that
// is in the Cache. [Policy.InMemory] holds whole filters in memory. A lookup whose page cannot be
// read or is corrupt reads the data block. In a table that has only a filter, it is an error: use
// MayContain of Reader.With, which returns it. Other engines ignore these filters.
//
// A program that reads pages of filters by itself uses a [Shape].
//
// # Format
//
// The filter is cut into pages by the hash of the keys. Each page is a Bloom filter of its own, with
// a checksum. Page n is at n*4096. The trailer has 36 bytes:
//
//	+--------+--------+-----+---------+
//	| page 0 | page 1 | ... | trailer |
//	+--------+--------+-----+---------+
//
//	page:     | 32736 bits, 4092 bytes | checksum, u32le |
//
//	trailer:  | seed  | keys  | pages | id    | log2 of page size | hash | k | version | checksum |
//	          | u64le | u64le | u64le | u32le | 1 byte: 12        | 1    |   | 1       | u32le    |
//
// The trailer is last because a table has its table filter close to its end, with the metaindex, index and
// footer: one read of the table's tail has them all. A block starts anywhere in a file, and so do the pages.
// A page in a file is then a part of two pages of the system.
//
// The 64-bit hash h of a key is its XXH3 with the seed, which is 0. With all arithmetic mod 2^64, the key sets these bits:
//
//	page n = h * pages / 2^64, rounded down         r = h * pages
//	k times:   r = r * 0xd1342543de82ef95           bit (r / 2^32) * 32736 / 2^32, rounded down twice
//
// The product h * pages is one of 128 bits: n has the upper 64 bits, and r the lower ones. Bit i of a page is bit i%8 of
// byte i/8. If one of its bits is 0, the key is ruled out.
//
// All checksums are masked CRC-32Cs, as those of a table's blocks. That of the trailer is of the 32
// bytes before it. That of page n is of its bits, and continues from id+n mod 2^32 in place of 0. So a page is not
// taken for another page of the filter, nor for that of another filter: id is the sum of the hashes of all keys, mod
// 2^32.
//
// keys is the number of keys that were added. A filter of n keys with b bits per key has n*b/32736 pages, rounded up,
// and at least one, with which the mean page has b bits per key. The fullest page has 1.08 times as many keys as the
// mean one at 10 bits. k is b times ln 2, rounded. Filters of up to 2^44 bytes can be addressed, but a block of a
// table has at most 1 GiB, unless MaxBlockSize in the options of the Reader is higher: that is 600 million keys at 14 bits.
// Several tables can have more.
package paged
