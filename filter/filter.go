// Package filter builds and reads the filters of sorted-string tables. A filter
// is a small summary of a set of keys. It says of any key either that the key is
// certainly not in the set, or that it may be. A lookup checks the filter first
// and does not read a data block that certainly lacks the key.
//
// A table can have two kinds of filter, and they have policies of two types:
//
//   - A filter block holds many filters, one for each 2 KiB of the file. LevelDB
//     and goleveldb read and write it. A [Policy] builds its filters: [Bloom] is
//     LevelDB's. [BlockWriter] writes a filter block and [BlockReader] reads it.
//   - A table filter is one filter of all keys of a table. RocksDB and Pebble read
//     and write it. A [TablePolicy] builds it: [TableBloom] is RocksDB's, and the module
//     filter/fuse has those of newer versions of Pebble.
//
// The policies are options of package table, which does the rest. [SizeForSingleRate] and
// [TableBloomForRate] tell how many bits a filter needs for a rate, and [SizeForRate] what the
// classical formula says.
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
// Bit i is bit i%8 of byte i/8. A key sets k bits: h, h+δ, h+2δ, …, each mod m,
// with sums mod 2³². Here h is LevelDB's 32-bit hash of the key, and δ is h
// rotated right by 17 bits. This is double hashing (Kirsch and Mitzenmacher, "Less
// Hashing, Same Performance", 2006). A key is certainly absent when one of its bits
// is 0. A k > 30 is reserved: such a filter may contain every key. The bytes are
// those of goleveldb's and C++ LevelDB's Bloom filters. [Probe] returns the bits of a key.
//
// The hash is, with all arithmetic mod 2³² and M = 0xc6a4a793,
//
//	h = 0xbc9f1d34 ^ len(key)·M
//	for each 4 bytes, as u32le w:   h += w;  h *= M;  h ^= h>>16
//	if 1 to 3 bytes are left:       h += them, as u32le with zeros;  h *= M;  h ^= h>>24
//
// # How good a Bloom filter is
//
// A filter of m bits has n keys, each of which sets k bits. One bit is still clear after all kn
// settings with probability (1 − 1/m)^(kn) ≈ e^(−kn/m) =: q. An absent key passes if k bits are set:
//
//	p ≈ (1 − q)^k = (1 − e^(−kn/m))^k                   (Bloom 1970; Broder and Mitzenmacher 2004)
//	q = e^(−kn/m)  ⇒  k = −m/n·ln q
//	ln p = k·ln(1 − q) = −m/n·ln q·ln(1 − q)
//
// The last line is the same for q and 1 − q, and least where they are equal: at q = 1/2, half of
// the bits. [Inspect] counts the bits of a filter. So the best k and its rate are
//
//	k = m/n·ln 2,   p = 2^(−k) = 0.6185^(m/n)
//
// That is 0.8 % with 10 bits per key, and each 4.8 bits more make a tenth of it. A rate of p takes
// 1.44·log₂(1/p) bits per key. No filter can do with less than log₂(1/p). The formula treats the bits
// as independent. The exact rate is a little higher, most in small filters (Bose et al. 2008;
// Christensen et al. 2010). Double hashing has the same limit for large m (Kirsch and
// Mitzenmacher 2006).
//
// LevelDB's filters do worse than that, as k is rounded down and h has 32 bits only: see [Sizing]
// and [PredictRate]. They do worse again for keys that differ in few bytes. The hash multiplies 4
// bytes at a time, so that the last of 4 bytes changes only the highest byte of the product, and
// the shift behind it one byte more. The hashes of "aaa1", "aaa2" and "aaa3" have 16 of their 32
// bits in common: what is in the filter for one of them is there for another. So absent keys
// that are neighbours of keys of the filter often pass. Measured in percent, with the keys of
// even numbers in a row in a filter, and those of the odd numbers between them asked for:
//
//	                              10 bits per key                  20 bits per key
//	                     Bloom  Bloom   table-  fuse,     Bloom   Bloom   table-  fuse,
//	number, as         of 35  of 1000  bloom  8 bits     of 35  of 1000  bloom  16 bits
//	16 random bytes      1.0     0.89    1.2    0.39     0.065    0.009   0.13   0.0015
//	8 bytes, big-endian   72      5.2    2.5    0.39        64      1.7    1.3   0.0015
//	user00000042          20      1.2    5.9    0.39       5.7    0.019    4.8   0.0015
//	key000042            1.0     0.89    1.2    0.39     0.065    0.009   0.13   0.0015
//
// The rates of such keys depend on how many there are: 38 numbers of 8 bytes with 20 bits have 15 %, not
// 64. Bloom of 35 keys is about the filter of a data block of 4 KiB. For keys as in the second and third
// line take a fuse filter, of module filter/fuse, which has its rate for keys of all kinds.
//
// A filter cannot forget a key, since a bit can be that of several keys. For the same reason
// there is no difference of filters. There are [Union] and [Intersect].
//
// # Filters that live
//
// The filters of a Generator are built once. Other filters are asked while they grow:
//
//   - [DynamicBloom] is LevelDB's filter, to which many goroutines add while others ask. Take it
//     for up to some 10⁶ keys, or where LevelDB's engines shall read the bytes.
//   - The module filter/blocked has the fastest filters, with the fewest false positives, for up to
//     billions of keys. Only it reads their bytes. Take it for all else.
//   - [CountingBloom] also forgets keys, in four times the memory, and for one goroutine at a time.
//
// # The filter block
//
// A filter block has one filter for each range of 2^baseLg bytes of the file. By
// default baseLg is 11, and a range is 2 KiB:
//
//	┌──────────┬──────────┬───┬────────────┬────────────┬───┬──────────────┬────────┐
//	│ filter 0 │ filter 1 │ … │ offset 0   │ offset 1   │ … │ array offset │ baseLg │
//	│          │          │   │ u32le      │ u32le      │   │ u32le        │ 1 byte │
//	└──────────┴──────────┴───┴────────────┴────────────┴───┴──────────────┴────────┘
//
// Filter i holds the keys of the data blocks that start in
// [i·2^baseLg, (i+1)·2^baseLg). It ends where filter i+1 starts. The last one
// ends at the array offset, which is where the offsets start. A filter of 0 bytes
// holds no keys: every key is absent from it. A data block that starts behind the
// last range may contain any key.
//
// LevelDB's doc/table_format.md describes this format too. [TableBloom] describes
// the table filter.
package filter

import "slices"

// A Policy builds and reads the filters of a filter block. It has the methods of
// goleveldb's filter.Filter; [Adapt] turns it into one. A Policy is not a
// [TablePolicy]. It must be safe for concurrent use.
type Policy interface {
	// Name identifies the encoding of the filters. A table stores the name, and a
	// reader uses a filter only if it has a Policy of that name.
	Name() string

	// NewGenerator returns an empty Generator.
	NewGenerator() Generator

	// Contains reports whether key may be among the keys that filter was built
	// from. If it returns false, the key is certainly not among them. Contains
	// must not keep or change its arguments. It must not panic, whatever the bytes
	// of filter: those of a file may be damaged.
	Contains(filter, key []byte) bool
}

// A Generator collects keys and builds filters from them for a [Policy]. One
// goroutine at a time may use it.
type Generator interface {
	// Add adds a key. It must not keep the slice.
	Add(key []byte)

	// Generate appends to b one filter of the keys added since the last Generate,
	// at least one byte if there are keys. Then it forgets the keys, so that the
	// Generator can be used again.
	Generate(b Buffer)
}

// A Buffer is what a [Generator] writes a filter to. It has the methods of
// goleveldb's filter.Buffer. [Bytes] is a Buffer.
type Buffer interface {
	// Alloc appends n bytes and returns them. The caller must set all of them,
	// since they hold arbitrary values, and must do so before its next call.
	Alloc(n int) []byte

	// Write appends p.
	Write(p []byte) (int, error)

	// WriteByte appends c.
	WriteByte(c byte) error
}

// An Aliaser is a [Policy] or [TablePolicy] whose filters other engines store
// under other names. A writer lists the filter under Name and all aliases, and a
// reader finds it by any of them.
type Aliaser interface {
	// Aliases returns the names besides Name.
	Aliases() []string
}

// A Checker is a [Policy] that can recognize a damaged filter by its form. A
// reader does not use a filter that fails Check.
type Checker interface {
	// Check returns an error that says what is wrong with filter, or nil if the
	// Policy could have built it. Check must not keep or change filter.
	Check(filter []byte) error
}

// Bytes is a [Buffer] that appends to a byte slice. Give a pointer to it to
// Generate. The zero value is empty and ready to use.
type Bytes []byte

// Alloc appends n bytes and returns them. They hold arbitrary values.
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
