package filter

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/sievetable/sievetable/internal/bloom"
)

// TableBloom is a Bloom filter of a whole table, as RocksDB and Pebble write and read it: a [TablePolicy]. All bits
// of a key are in one line of 64 bytes, so a lookup has at most one cache miss. With a million keys:
//
//	bits per key                 6     8    10    12    14    16    20    24
//	false positives in percent   5.89  2.49  1.16  0.61  0.37  0.26  0.15  0.11
//
// Hashes have only 32 bits, so the rate of 10 million keys is 0.2 percentage points higher. Prefer several tables to
// a larger one.
//
// With at most 10 bits per key and fewer than 2048 lines, filters are identical to Pebble's after 2.1.7. Older
// versions and RocksDB use another k at 4 and 9 bits per key. Larger filters get up to 30 more lines, or 0.2 %, to
// avoid numbers of lines at which keys share bits: RocksDB and Pebble have 12 % false positives with 131073 lines at
// 10 bits per key.
//
// The zero value is NewTableBloom(0). A TableBloom is safe for concurrent use.
type TableBloom struct {
	bitsPerKey int
	keys       uint64 // filters are at least as large as for that many
}

const (
	lineSize = 64
	lineBits = 8 * lineSize

	// lineTrailer is the length of k and n.
	lineTrailer = 5

	// maxLines is the maximum number of lines. They have about one bit for each possible hash.
	maxLines = 1<<32/lineBits - 1

	// maxLineK is the highest k. As a signed byte, higher values are negative.
	maxLineK = math.MaxInt8
)

// NewTableBloom returns a TableBloom with bitsPerKey bits for each key. The usual choice is 10, with 1.2 % false
// positives. [ForRate] chooses the bits for other rates. Negative values mean 0. Readers ignore bitsPerKey.
//
// A filter has 69 bytes to 512 MiB, or 5 bytes without keys.
func NewTableBloom(bitsPerKey int) TableBloom {
	return TableBloom{bitsPerKey: max(bitsPerKey, 0)}
}

// SizedFor returns a TableBloom whose filters are at least as large as for n different keys: see [UnionTable].
func (p TableBloom) SizedFor(n uint64) TableBloom {
	p.keys = n
	return p
}

// Name returns "rocksdb.BuiltinBloomFilter", RocksDB's and Pebble's name.
func (TableBloom) Name() string { return "rocksdb.BuiltinBloomFilter" }

// NewTableGenerator returns an empty TableGenerator. It takes 4 bytes for each key, or none if the key equals the
// previous one. If memory for the filter is not available, Generate returns an error.
func (p TableBloom) NewTableGenerator() TableGenerator {
	return &tableBloomGenerator{policy: p}
}

// Open returns filter ready for lookups. It keeps the slice, which the caller must not modify. If k is negative, as
// in other encodings of RocksDB, Open returns an error.
func (TableBloom) Open(filter []byte) (TableFilter, error) {
	size := len(filter) - lineTrailer
	if size == 0 && [lineTrailer]byte(filter) == [lineTrailer]byte{} {
		return emptyTableBloom, nil
	}
	if size < lineSize {
		return nil, fmt.Errorf("filter: table filter of %d bytes is too short (minimum %d)", len(filter), lineSize+lineTrailer)
	}
	k, n := filter[size], uint64(binary.LittleEndian.Uint32(filter[size+1:]))
	if k < 1 || k > maxLineK {
		return nil, fmt.Errorf("filter: table filter with k = %d: must be 1 to %d", int8(k), maxLineK)
	}
	if n*lineSize != uint64(size) {
		return nil, fmt.Errorf("filter: table filter of %d lines in %d bytes: a line has %d bytes", n, size, lineSize)
	}
	return newTableBloomFilter(filter, n, int(k)), nil
}

// tableBloomFilter is a filter whose form has been checked.
type tableBloomFilter struct {
	lines      []byte
	n          uint64 // number of lines
	reciprocal uint64 // 2⁶⁴/n, rounded up
	k          int
}

// emptyTableBloom stands for a filter without keys and lines. It has one line without set bits, so that lookups need
// no special case.
var emptyTableBloom = &tableBloomFilter{lines: make([]byte, lineSize), n: 1, reciprocal: 0, k: 1}

func newTableBloomFilter(filter []byte, n uint64, k int) *tableBloomFilter {
	return &tableBloomFilter{lines: filter[:n*lineSize], n: n, reciprocal: math.MaxUint64/n + 1, k: k}
}

func (f *tableBloomFilter) Contains(key []byte) bool {
	return f.mayContain(bloom.Hash(key, bloom.SignedTail))
}

// ContainsHash is Contains for a key with this hash. It saves hashing a key again that is checked in many filters.
func (f *tableBloomFilter) ContainsHash(h bloom.TableHash) bool { return f.mayContain(uint32(h)) }

// line returns the line of the key with hash h. It computes the remainder like bloom.Prober.
func (f *tableBloomFilter) line(h uint32) *[lineSize]byte {
	i, _ := bits.Mul64(f.reciprocal*uint64(h), f.n)
	return (*[lineSize]byte)(f.lines[i*lineSize:])
}

// mayContain reports whether all bits of the key with hash h are set.
func (f *tableBloomFilter) mayContain(h uint32) bool {
	line, delta := f.line(h), bloom.Delta(h)
	k := f.k
	for ; k >= 3; k -= 3 { // three at a time, as in bloom.MayContain
		all := word(line, h) >> (h & 63)
		all &= word(line, h+delta) >> ((h + delta) & 63)
		all &= word(line, h+2*delta) >> ((h + 2*delta) & 63)
		if all&1 == 0 {
			return false
		}
		h += 3 * delta
	}
	for ; k > 0; k-- {
		if word(line, h)>>(h&63)&1 == 0 {
			return false
		}
		h += delta
	}
	return true
}

// word returns the 64-bit word of the line that contains bit h mod 512.
func word(line *[lineSize]byte, h uint32) uint64 {
	return binary.LittleEndian.Uint64(line[h>>3&0x38:])
}

// batchSize is the number of keys that ContainsMany hashes before it reads the first line.
const batchSize = 64

// ContainsMany sets results[i] to Contains(keys[i]). The first bit of each key is read before the others are,
// so that the processor fetches several lines at a time.
func (f *tableBloomFilter) ContainsMany(keys [][]byte, results []bool) {
	if len(keys) != len(results) {
		panic(fmt.Sprintf("filter: ContainsMany: %d keys but %d results", len(keys), len(results)))
	}
	var batch [batchSize]uint32
	for len(keys) > 0 {
		n := min(len(keys), batchSize)
		for i, key := range keys[:n] {
			batch[i] = bloom.Hash(key, bloom.SignedTail)
		}
		for i, h := range batch[:n] {
			results[i] = word(f.line(h), h)>>(h&63)&1 != 0
		}
		for i, h := range batch[:n] {
			results[i] = results[i] && f.mayContain(h)
		}
		keys, results = keys[n:], results[n:]
	}
}
