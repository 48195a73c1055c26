// Package paged has table filters that are read by the page: a lookup reads a single one. Use it if filters are
// larger than memory, or if programs end after a few lookups: other table filters are read whole before the first
// lookup.
//
//	policy, err := paged.New(14)
//	w, err := table.Create(name, &table.WriterOptions{TableFilterPolicy: policy})
//	r, err := table.Open(name, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{policy}})
//
// Opening the table reads 36 bytes of the filter. A lookup reads a page of 4096 bytes, unless it is in the Cache.
// The false-positive rate is the same for any number of keys, but even ten keys take a whole page:
//
//	bits per key                 8      10     12     14     16     20     24
//	false positives in percent  2.16   0.82   0.32   0.12   0.046  0.0069 0.0010
//
// A Reader without a [Policy] ignores the filter, and so do other engines. A Policy of any number of bits reads it.
// If a page is corrupt or cannot be read, the lookup reads the data block. In a table with only a filter, it fails
// instead.
//
// With [Policy.InMemory], Readers keep whole filters in memory. Lookups are then as fast as in a
// [filter.TableBloom], or take up to twice as long if the filter is larger than the processor's cache.
//
// Programs that read pages by themselves use a [Shape].
//
// # Format
//
// A filter is an array of pages, followed by a trailer. Page n is at offset n*4096. Each page is a Bloom filter of
// some of the keys, chosen by their hashes. Integers are little-endian:
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
// The 64-bit hash h of a key is its XXH3 with the seed. The upper half of the 128-bit product h*pages is the number
// of the page. The lower half r determines the bits in the page, where bit i is bit i%8 of byte i/8:
//
//	k times:   r = r * 0xd1342543de82ef95 mod 2^64
//	           the key sets bit (r>>32) * 32736 >> 32
//
// Checksums are CRC-32Cs, masked as in a table's blocks. The trailer's covers the 32 bytes before it. A page's
// covers the 4092 bytes before it, and continues from the trailer's checksum plus n, mod 2^32. So a page at another
// place or from another filter counts as corrupt.
//
// n keys with b bits per key take n*b/32736 pages, rounded up, and k is b*ln(2), rounded to the nearest integer.
// The fullest page of a million keys has 1.05 times the mean number of keys, and of a billion keys 1.08 times.
package paged

// The reasons for this format: the trailer is last since table filters lie close to the end of a table, so one read
// of the table's tail can cover the trailer, the metaindex, the index and the footer. The pages start wherever the
// block starts in the file, so a page usually spans two pages of the file system. The format allows filters of 2^44
// bytes, but a table.Writer writes blocks of at most 1 GiB, which is also the default MaxBlockSize of a Reader.
