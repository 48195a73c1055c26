// Package filter builds and reads the Bloom filters of sorted-string tables (SSTables).
//
// A filter is a small summary of a set of keys. It rules a key out, or reports that the
// set may contain it. A lookup checks the filter first and skips the data block or the
// table if the key is ruled out.
//
// There are five kinds of filter, of which a table can have the first four:
//
//   - Block Bloom, [NewBloom]: a filter block with a small filter for each 2 KiB of the file.
//     LevelDB and goleveldb read and write it. Its filters belong to a [Policy].
//   - Table Bloom, [NewTableBloom]: one filter for all keys of a table, checked before the index.
//     RocksDB and Pebble read and write it. It belongs to a [TablePolicy].
//   - Fuse, in the module filter/fuse: a table filter with the fewest false positives for its
//     bits. Pebble after 2.1.7 reads and writes it.
//   - Paged, in the module filter/paged: a table filter of which a lookup reads one page, for
//     sets larger than memory.
//   - Blocked, in the module filter/blocked: a live filter without a table, to which goroutines
//     add keys while others query it.
//
// [DynamicBloom] is live too, with the bytes of LevelDB's filter. [CountingBloom] also removes
// keys.
//
// Policies are options of package table, which does the rest. A program that writes filter
// blocks itself uses [BlockWriter] and [BlockReader].
//
// [ForRate] chooses the bits per key for a false-positive rate. The README of this package has
// measured rates, and explains them.
//
// # Bloom filter
//
// A filter is a bit array of m bits followed by one byte k:
//
//	+------------------------------+---+
//	| bit array, m/8 >= 8 bytes    | k |
//	+------------------------------+---+
//
// Bit i is bit i%8 of byte i/8. A key sets k bits: h, h+d, h+2d, and so on, each mod m. The
// sums are mod 2^32. h is LevelDB's 32-bit hash of the key, and d is h rotated right by 17
// bits. If one of its bits is 0, the key is ruled out. If k > 30, the filter may contain
// every key. The bytes are those of goleveldb and C++ LevelDB. [Probe] returns the bits of a
// key.
//
// With all arithmetic mod 2^32 and M = 0xc6a4a793, the hash is
//
//	h = 0xbc9f1d34 ^ len(key)*M
//	for each 4 bytes, as u32le w:   h += w;  h *= M;  h ^= h>>16
//	if 1 to 3 bytes are left:       h += them, as u32le with zeros;  h *= M;  h ^= h>>24
//
// # Filter block
//
// A filter block has one filter for each range of 2^baseLg bytes of the file. By default
// baseLg is 11, and a range is 2 KiB:
//
//	+----------+----------+-----+----------+----------+-----+--------------+--------+
//	| filter 0 | filter 1 | ... | offset 0 | offset 1 | ... | array offset | baseLg |
//	|          |          |     | u32le    | u32le    |     | u32le        | 1 byte |
//	+----------+----------+-----+----------+----------+-----+--------------+--------+
//
// Filter i holds the keys of the data blocks that start in [i*2^baseLg, (i+1)*2^baseLg). It
// ends where filter i+1 starts. The last filter ends at the array offset, where the offsets
// start. A filter of 0 bytes holds no keys. A data block that starts after the last range
// may contain any key.
package filter

import "slices"

// A Policy builds and reads the filters of a filter block. It has the methods of
// goleveldb's filter.Filter: see [Adapt]. A Policy must be safe for concurrent use.
//
// A Policy can have two more methods:
//
//	// Aliases returns other names for the same encoding. A table lists the filter
//	// under Name and all aliases, and a reader finds it under any of them.
//	Aliases() []string
//
//	// Check returns an error if the policy cannot have built filter. A corrupt
//	// filter is not used. Check must not keep or modify filter.
//	Check(filter []byte) error
type Policy interface {
	// Name identifies the encoding of the filters. A table stores the name. A reader
	// uses the filter only if it has a Policy of that name.
	Name() string

	// NewGenerator returns an empty Generator.
	NewGenerator() Generator

	// Contains reports whether key may be in filter. If it returns false, the filter
	// was built without key. Contains must not keep or modify its arguments. It must
	// not panic even if filter is corrupt.
	Contains(filter, key []byte) bool
}

// A Generator builds filters for a [Policy]. It is not safe for concurrent use.
type Generator interface {
	// Add adds a key. It must not keep the slice.
	Add(key []byte)

	// Generate appends a filter of the keys added since the last Generate to b. If
	// there are keys, the filter has at least one byte. Afterwards the Generator is
	// empty.
	Generate(b Buffer)
}

// A Buffer receives a filter from a [Generator]. It has the methods of goleveldb's
// filter.Buffer. [Bytes] is a Buffer.
type Buffer interface {
	// Alloc appends n bytes of arbitrary values and returns them. The caller must
	// set all of them before its next call.
	Alloc(n int) []byte

	// Write appends p.
	Write(p []byte) (int, error)

	// WriteByte appends c.
	WriteByte(c byte) error
}

// Bytes is a [Buffer] that appends to a byte slice. Pass a pointer to it to Generate. The
// zero value is an empty Buffer.
type Bytes []byte

// Alloc appends n bytes of arbitrary values and returns them.
func (b *Bytes) Alloc(n int) []byte {
	start := len(*b)
	if n > cap(*b)-start { // append would grow by a quarter only
		*b = slices.Grow(*b, max(n, start))
	}
	*b = (*b)[:start+n]
	return (*b)[start : start+n : start+n]
}

// Write appends p and returns len(p), nil.
func (b *Bytes) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// WriteByte appends c and returns nil.
func (b *Bytes) WriteByte(c byte) error {
	*b = append(*b, c)
	return nil
}

// A TablePolicy builds and reads table filters. It is not a [Policy], since a good encoding
// for millions of keys is a poor one for the thirty keys of a data block. A TablePolicy must
// be safe for concurrent use.
//
// A TablePolicy can have more methods:
//
//	// Aliases returns other names for the same encoding. A table lists the filter
//	// under Name and all aliases, and a reader finds it under any of them.
//	Aliases() []string
//
//	// ReadAliases returns names of filters that Open also reads. A table does not
//	// list its filter under them.
//	ReadAliases() []string
//
//	// Narrow returns filter, or a smaller copy that contains the same keys and
//	// more absent ones. A Reader opens the result. It opens filter itself if the
//	// table was written with Never, or if its source hands out its bytes. Narrow
//	// must not modify filter. If filter is corrupt, it returns an error.
//	Narrow(filter []byte) ([]byte, error)
//
//	// FilterBits returns how many bits filter has for each fingerprint. If it is
//	// corrupt, FilterBits returns 0. A set's manifest stores the number.
//	FilterBits(filter []byte) int
//
//	// OpenPaged returns a filter of size bytes that is read by the page. tail is
//	// its end, of PagedTail bytes. A Reader then reads these at its opening, and
//	// a page for each lookup. OpenPaged must not keep tail. If it is corrupt, it
//	// returns an error. If PagedTail is 0, filters are opened by Open.
//	OpenPaged(tail []byte, size uint64) (PagedFilter, error)
//	PagedTail() int
//
//	// AtMost returns a TablePolicy that reads the same filters, and whose Narrow
//	// returns filters of at most so many bits. If there are none of so many bits,
//	// AtMost returns an error. Sets with FilterMemory call it.
//	AtMost(bits int) (TablePolicy, error)
type TablePolicy interface {
	// Name identifies the encoding of the filters. A table stores the name. A reader
	// uses the filter only if it has a TablePolicy of that name.
	Name() string

	// NewTableGenerator returns an empty TableGenerator.
	NewTableGenerator() TableGenerator

	// Open checks filter and returns it ready for lookups. If filter is corrupt or its
	// version is unknown, Open returns an error. The TableFilter may keep the slice,
	// which the caller must not modify. Open must not panic even if filter is corrupt.
	Open(filter []byte) (TableFilter, error)
}

// A PagedFilter is a table filter of which a lookup reads the page of its key, and nothing else. It must be
// safe for concurrent use.
type PagedFilter interface {
	// Pages returns how many pages the filter has, and their size in bytes. Page n starts at n times the size.
	Pages() (n uint64, size int)

	// Hash returns the hash of a key, which the other methods take. It must not modify or keep key.
	Hash(key []byte) uint64

	// Page returns the number of the page of the key with that hash.
	Page(hash uint64) uint64

	// CheckPage returns an error if page is not page n of the filter as it was written.
	CheckPage(page []byte, n uint64) error

	// InPage reports whether the filter may contain the key with that hash, whose page CheckPage has accepted.
	InPage(page []byte, hash uint64) bool
}

// A TableGenerator builds a filter for a [TablePolicy]. Unlike a [Generator], it builds only
// one, and can fail. It is not safe for concurrent use.
type TableGenerator interface {
	// Add adds a key. It must not keep the slice. The same key may be added more
	// than once, as when a table has several versions of it.
	Add(key []byte)

	// Generate returns a filter of all keys added. If there are keys, it has at least
	// one byte. The caller owns the slice, and must not use the TableGenerator
	// afterwards. If the encoding cannot hold the keys, Generate returns an error.
	Generate() ([]byte, error)
}

// A TableFilter is a table filter that is ready for lookups. It must be safe for concurrent
// use.
//
// A TableFilter can have one more method, which package table uses for GetMany:
//
//	// ContainsMany sets results[i] to Contains(keys[i]). If keys and results differ in
//	// length, it panics. It must not keep the slices or modify keys.
//	ContainsMany(keys [][]byte, results []bool)
type TableFilter interface {
	// Contains reports whether key may be in the table. If it returns false, the filter
	// was built without key. Contains must not keep or modify key. It must not panic
	// even if bits of the filter are corrupt.
	Contains(key []byte) bool
}
