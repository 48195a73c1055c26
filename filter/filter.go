// Package filter builds and reads the Bloom filters of SSTables, LevelDB's table files.
//
// A filter is a small summary of a set of keys. It rules a key out, or reports that the set may contain it. A
// lookup checks the filter first and reads a data block only if the key may be there.
//
// Most programs pass a policy to package table, which does the rest:
//
//	w, err := table.Create(name, &table.WriterOptions{FilterPolicy: filter.NewBloom(10)})
//
// # Which filter
//
//   - [NewBloom]: a filter block, with a small filter for each 2 KiB of the file. LevelDB and goleveldb read and
//     write it.
//   - [NewTableBloom]: a table filter, which contains all keys and is checked before the index. RocksDB up to 10.x
//     and Pebble read and write it.
//   - Module filter/fuse: the table filter with the fewest false positives for its bits. Pebble after 2.1.7 reads
//     and writes it.
//   - Module filter/blocked: a live filter, to which goroutines add keys while others query it.
//   - Module filter/paged: a table filter for sets larger than memory. A lookup reads one page of it.
//
// [ForRate] chooses the bits per key for a false-positive rate. The README of this package has measured rates.
//
// A [Policy] builds and reads block filters, and a [TablePolicy] table filters. Programs that write filter blocks
// without package table use [BlockWriter] and [BlockReader].
//
// [DynamicBloom] is a live filter too, for programs that need LevelDB's bytes. [CountingBloom] can also remove
// keys.
//
// # Format of a Bloom filter
//
// A filter is a bit array of m bits followed by one byte k:
//
//	+------------------------------+---+
//	| bit array, m/8 >= 8 bytes    | k |
//	+------------------------------+---+
//
// Bit i is bit i%8 of byte i/8. A key sets the k bits h, h+d, h+2d, and so on, each mod 2^32 and then mod m. h is
// LevelDB's 32-bit hash of the key, and d is h rotated right by 17 bits. If one of its bits is 0, the key is ruled
// out. If k > 30, no key is ruled out. [Probe] returns the bits of a key.
//
// With all arithmetic mod 2^32 and M = 0xc6a4a793, the hash is
//
//	h = 0xbc9f1d34 ^ len(key)*M
//	for each 4 bytes, as u32le w:   h += w;  h *= M;  h ^= h>>16
//	if 1 to 3 bytes are left:       h += them, as u32le with zeros;  h *= M;  h ^= h>>24
//
// # Format of a filter block
//
// A filter block has one filter for each range of 2^baseLg bytes of the file. By default baseLg is 11, and a range
// is 2 KiB:
//
//	+----------+----------+-----+----------+----------+-----+--------------+--------+
//	| filter 0 | filter 1 | ... | offset 0 | offset 1 | ... | array offset | baseLg |
//	|          |          |     | u32le    | u32le    |     | u32le        | 1 byte |
//	+----------+----------+-----+----------+----------+-----+--------------+--------+
//
// Filter i contains the keys of the data blocks that start in [i*2^baseLg, (i+1)*2^baseLg). It ends where filter
// i+1 starts. The last filter ends at the array offset, where the offsets start. A filter of 0 bytes contains no
// keys. A data block that starts after the last range may contain any key.
//
// # Format of a TableBloom
//
//	+--------+--------+-----+---+----------+
//	| line 0 | line 1 | ... | k | n, u32le |
//	+--------+--------+-----+---+----------+
//
// A line has 64 bytes. The number n of lines is odd. The hash h of a key is the one above, but the 1 to 3 bytes
// that are left are signed. The key is in line h mod n, where it sets the k bits h, h+d, h+2d, and so on, each mod
// 512.
package filter

import "slices"

// A Policy builds and reads the filters of a filter block. It has the methods of goleveldb's filter.Filter: see
// [Adapt] and [From]. A Policy must be safe for concurrent use. It can have two more methods:
//
//	// Aliases returns other names for the same encoding. Tables list the filter under all of them.
//	Aliases() []string
//
//	// Check returns an error if the policy cannot have built filter, which is then not used.
//	// Check must not keep or modify filter.
//	Check(filter []byte) error
type Policy interface {
	// Name identifies the encoding. Tables store it, and readers use a filter only if they have a
	// Policy of that name.
	Name() string

	// NewGenerator returns an empty Generator.
	NewGenerator() Generator

	// Contains reports whether key may be in filter. It must not keep or modify its arguments, and
	// must not panic even if filter is corrupt.
	Contains(filter, key []byte) bool
}

// A Generator builds filters for a [Policy]. It is not safe for concurrent use.
type Generator interface {
	// Add adds a key. It must not keep the slice.
	Add(key []byte)

	// Generate appends a filter of the keys added since the last Generate. If there are keys, it has
	// at least one byte.
	Generate(b Buffer)
}

// A Buffer receives a filter from a [Generator]. It has the methods of goleveldb's filter.Buffer. [Bytes] is a
// Buffer.
type Buffer interface {
	// Alloc appends n bytes and returns them. The caller must set all of them before its next call.
	Alloc(n int) []byte

	// Write appends p.
	Write(p []byte) (int, error)

	// WriteByte appends c.
	WriteByte(c byte) error
}

// Bytes is a [Buffer] that appends to a byte slice. Pass a pointer to it to Generate. The zero value is empty.
type Bytes []byte

// Alloc appends n arbitrary bytes and returns them.
func (b *Bytes) Alloc(n int) []byte {
	start := len(*b)
	if n > cap(*b)-start { // append would grow it only by a quarter
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

// A TablePolicy builds and reads table filters. It must be safe for concurrent use. It can have more methods:
//
//	// Aliases returns other names for the same encoding. Tables list the filter under all of them.
//	Aliases() []string
//
//	// ReadAliases returns names of filters that Open also reads.
//	ReadAliases() []string
//
//	// Narrow returns filter, or a smaller copy with the same keys and more false positives. A Reader
//	// opens the result, unless the table was written with Never or its source hands out its bytes.
//	// Narrow must not modify filter.
//	Narrow(filter []byte) ([]byte, error)
//
//	// FilterBits returns the bits of each fingerprint, for a set's manifest, or 0 if filter is corrupt.
//	FilterBits(filter []byte) int
//
//	// AtMost returns a TablePolicy that reads the same filters, but whose Narrow returns filters of
//	// at most that many bits. Sets with FilterMemory call it.
//	AtMost(bits int) (TablePolicy, error)
//
//	// OpenPaged returns a filter of size bytes that is read by the page. tail is its last PagedTail
//	// bytes, which OpenPaged must not keep. If PagedTail returns 0, Readers call Open instead.
//	OpenPaged(tail []byte, size uint64) (PagedFilter, error)
//	PagedTail() int
type TablePolicy interface {
	// Name identifies the encoding. Tables store it, and readers use a filter only if they have a
	// TablePolicy of that name.
	Name() string

	// NewTableGenerator returns an empty TableGenerator.
	NewTableGenerator() TableGenerator

	// Open returns filter ready for lookups, or an error if it is corrupt or its version is unknown.
	// It may keep the slice, which the caller must not modify. It must not panic.
	Open(filter []byte) (TableFilter, error)
}

// A PagedFilter is a table filter that is read by the page: a lookup reads only the page of its key. It must be safe
// for concurrent use.
type PagedFilter interface {
	// Pages returns the number of pages and their size in bytes. Page n starts at offset n*size.
	Pages() (n uint64, size int)

	// Hash returns the hash of key for the other methods. It must not modify or keep key.
	Hash(key []byte) uint64

	// Page returns the number of the page of the key with that hash.
	Page(hash uint64) uint64

	// CheckPage returns an error if page is not page n as it was written.
	CheckPage(page []byte, n uint64) error

	// InPage reports whether the filter may contain the key with that hash. CheckPage has accepted page.
	InPage(page []byte, hash uint64) bool
}

// A TableGenerator builds one filter for a [TablePolicy]. It is not safe for concurrent use.
type TableGenerator interface {
	// Add adds a key. It must not keep the slice. A key may be added several times.
	Add(key []byte)

	// Generate returns a filter of all keys added. If there are keys, it has at least one byte. The
	// caller owns the slice, and must not use the TableGenerator afterwards.
	Generate() ([]byte, error)
}

// A TableFilter is a table filter that is ready for lookups. It must be safe for concurrent use. It can have one
// more method, for GetMany of package table:
//
//	// ContainsMany sets results[i] to Contains(keys[i]). If the lengths differ, it panics. It must
//	// not keep the slices or modify keys.
//	ContainsMany(keys [][]byte, results []bool)
type TableFilter interface {
	// Contains reports whether key may be in the table. It must not keep or modify key, and must not
	// panic even if the filter is corrupt.
	Contains(key []byte) bool
}
