// Package filter answers "is this key certainly absent?" for sorted-string
// tables: the [Policy] contract, LevelDB's [Bloom] filter, and the filter
// block that a table keeps its filters in ([BlockWriter], [BlockReader]).
//
// # One Bloom filter
//
// A filter is a bit array followed by one byte that says how many bits each
// key sets:
//
//	┌──────────────────────────────┬───┐
//	│ bit array, m/8 ≥ 8 bytes     │ k │
//	└──────────────────────────────┴───┘
//
// Bit i is bit i%8 of byte i/8. A key's bits are h, h+δ, h+2δ, … (k of them,
// each mod m, sums mod 2³²), where h is LevelDB's 32-bit hash of the key and δ
// is h rotated right by 17 bits (double hashing, Kirsch and Mitzenmacher,
// "Less Hashing, Same Performance", 2006). A key is certainly absent when one
// of its bits is clear. A k above 30 is reserved: such a filter contains every
// key. The bytes are those of goleveldb's and C++ LevelDB's Bloom filters.
//
// The hash is, with all arithmetic mod 2³² and M = 0xc6a4a793,
//
//	h = 0xbc9f1d34 ^ len(key)·M
//	for each 4 bytes, as u32le w:   h += w;  h *= M;  h ^= h>>16
//	if 1 to 3 bytes are left:       h += them, as u32le with zeros;  h *= M;  h ^= h>>24
//
// # The filter block
//
// A table has one filter for each 2^baseLg bytes of its file (2 KiB by
// default), and all of them in one block:
//
//	┌──────────┬──────────┬───┬────────────┬────────────┬───┬──────────────┬────────┐
//	│ filter 0 │ filter 1 │ … │ offset 0   │ offset 1   │ … │ array offset │ baseLg │
//	│          │          │   │ u32le      │ u32le      │   │ u32le        │ 1 byte │
//	└──────────┴──────────┴───┴────────────┴────────────┴───┴──────────────┴────────┘
//
// Filter i holds the keys of the data blocks that start in
// [i·2^baseLg, (i+1)·2^baseLg). It ends where filter i+1 starts; the last one
// ends at the array offset, which is where the offsets start. A filter of no
// bytes holds no keys: everything is absent from it. A data block for which the
// array has no filter may contain any key.
//
// The formats are described in LevelDB's doc/table_format.md. [TableBloom] and
// [TableReader] are another way: one filter of the whole table, as RocksDB and
// Pebble have it.
package filter

import "slices"

// A Policy makes filters and asks them. It is safe for concurrent use.
type Policy interface {
	// Name identifies the filters' encoding. A table stores it, and a reader
	// uses a filter only with a Policy that goes by that name.
	Name() string

	// NewGenerator returns an empty Generator.
	NewGenerator() Generator

	// Contains reports whether key may be among the keys that filter was
	// generated from: false means that it certainly is not. It neither keeps
	// nor changes filter and key, and survives any bytes in filter, which may
	// be damaged.
	Contains(filter, key []byte) bool
}

// A Generator gathers keys and makes a filter of them. It serves one goroutine
// at a time.
type Generator interface {
	// Add adds a key, which it does not keep: the caller may change it
	// afterwards.
	Add(key []byte)

	// Generate writes one filter that contains the keys added since the last
	// Generate, and forgets them, so that the Generator can be used again.
	Generate(b Buffer)
}

// A Buffer is what a Generator writes to. It has the method set of goleveldb's
// filter.Buffer; [Bytes] is one.
type Buffer interface {
	// Alloc appends n bytes and returns them for the caller to fill in before
	// the next call. Their contents are arbitrary: clear them first.
	Alloc(n int) []byte

	// Write appends p.
	Write(p []byte) (int, error)

	// WriteByte appends c.
	WriteByte(c byte) error
}

// An Aliaser is a Policy whose filters other engines store under further
// names. A table lists its filter under all of them, and a reader knows it by
// any.
type Aliaser interface {
	// Aliases returns the names beside Name.
	Aliases() []string
}

// A Checker is a Policy that can tell a damaged filter from a sound one by its
// form. A filter that fails Check is not asked: it means "may contain".
type Checker interface {
	// Check returns nil if the Policy could have made filter, else what is
	// wrong with it.
	Check(filter []byte) error
}

// Bytes is a [Buffer] on a byte slice. The zero value is empty and ready.
type Bytes []byte

// Alloc appends n bytes, which keep what the slice's spare capacity held.
func (b *Bytes) Alloc(n int) []byte {
	start := len(*b)
	if n > cap(*b)-start {
		*b = slices.Grow(*b, max(n, start)) // doubling: append would grow by a quarter
	}
	*b = (*b)[:start+n]
	return (*b)[start : start+n : start+n]
}

// Write appends p; it never fails.
func (b *Bytes) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// WriteByte appends c; it never fails.
func (b *Bytes) WriteByte(c byte) error {
	*b = append(*b, c)
	return nil
}
