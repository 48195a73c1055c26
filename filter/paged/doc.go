// Package paged has table filters that are read by the page. Opening a filter reads its trailer
// of 36 bytes, and a lookup reads one page of 4096 bytes. Use it if most programs end after a few
// lookups, or if the filters are larger than memory. Other table filters have a single checksum,
// so they are read whole before the first lookup.
//
//	bits per key                 8      10     12     14     16     20     24
//	false positives in percent  2.16   0.82   0.32   0.12   0.046  0.0069 0.0010
//
// These rates are those of random keys, and hold for any number of keys. A filter of few keys is
// larger, since it has whole pages: ten keys take 4132 bytes.
//
//	policy, err := paged.New(14)
//	w, err := table.Create(name, &table.WriterOptions{TableFilterPolicy: policy})
//	r, err := table.Open(name, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{policy}})
//
// A table.Reader uses such a filter only if its options have a [Policy], of any number of bits.
// Opening the table reads the end of the filter. Each lookup reads a page, unless it is in the
// Cache. If a page is corrupt or cannot be read, the lookup reads the data block. In a table that has
// only a filter, it returns an error instead: use MayContain of Reader.With, which returns errors.
// Other engines ignore these filters.
//
// With [Policy.InMemory], Readers keep whole filters in memory. For a million keys with 10 bits, a
// lookup of an absent key then takes 13 ns, and of a present key 14 ns. A [filter.TableBloom] takes 12
// and 11 ns. Filters larger than the processor's cache take up to twice as long as a TableBloom.
//
// A program that reads pages of filters by itself uses a [Shape].
//
// # Format
//
// A filter is an array of pages, followed by a trailer. Page n is at offset n*4096. Each page is a
// Bloom filter of some of the keys, chosen by their hashes. Integers are little-endian:
//
//	+--------+--------+-----+---------+
//	| page 0 | page 1 | ... | trailer |
//	+--------+--------+-----+---------+
//
//	page:                                   trailer:
//	   0  32736 bits                           0  8 bytes  seed of the hash: 0
//	4092  4 bytes  checksum                    8  8 bytes  number of keys
//	                                          16  8 bytes  number of pages
//	                                          24  4 bytes  sum of the hashes, mod 2^32
//	                                          28  1 byte   log2 of the page size: 12
//	                                          29  1 byte   hash: 1, for XXH3
//	                                          30  1 byte   k
//	                                          31  1 byte   version: 1
//	                                          32  4 bytes  checksum
//
// The 64-bit hash h of a key is its XXH3 with the seed. The product h*pages has 128 bits. Its upper
// half is the number of the page. Its lower half r determines the bits in the page:
//
//	k times:   r = r * 0xd1342543de82ef95 mod 2^64
//	           the key sets bit (r>>32) * 32736 >> 32
//
// Bit i is bit i%8 of byte i/8. If one of its bits is 0, the key is ruled out.
//
// Checksums are CRC-32Cs, masked as those of a table's blocks. The trailer's covers the 32 bytes
// before it. That of page n covers the 4092 bytes before it, and continues from the trailer's
// checksum plus n, mod 2^32, where others start from 0. So a page in the place of another one is
// noticed, and so is a page of another filter: the sum of the hashes makes their trailers differ.
//
// # Sizes
//
// n keys with b bits per key take n*b/32736 pages, rounded up, but at least one. So the mean page
// has b bits per key. In a filter of a million keys, the fullest page has 1.05 times the mean number
// of keys, and 1.08 times in a filter of a billion. k is b*ln(2), rounded to the nearest integer.
//
// The trailer is last since table filters lie close to the end of a table. One read of the
// table's tail can have the trailer, the metaindex, the index and the footer. The pages start
// wherever the block starts in the file. They are not aligned: a page of the filter usually takes
// two pages of the file system.
//
// The format has room for filters of 2^44 bytes. A table.Writer writes blocks of at most 1 GiB,
// which is also the default MaxBlockSize of a Reader: 610 million keys with 14 bits per key. For more
// keys, write several tables.
package paged
