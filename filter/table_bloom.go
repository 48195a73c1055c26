package filter

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/sievetable/sievetable/internal/bloom"
)

// TableBloom is the Bloom filter that RocksDB and Pebble use for whole tables, as a
// [TablePolicy]. Each package reads the filters of the other. All bits of a key are in one
// line of 64 bytes, so that a lookup costs at most one miss of the processor's cache:
//
//	┌────────┬────────┬───┬───┬───────────────────┐
//	│ line 0 │ line 1 │ … │ k │ n, u32le          │
//	└────────┴────────┴───┴───┴───────────────────┘
//
// There are n lines, an odd number. The hash h of a key is that of [Bloom], except that
// the 1 to 3 bytes at the end of the key are signed. The line of a key is h mod n. In this
// line the key sets the bits h, h+δ, h+2δ, …, each mod 512, k of them, with the δ of Bloom.
//
// In filters of a million keys this share of the answers for absent keys is false positives:
//
//	bits per key      6      8     10     12     14     16     20     24
//	             5.89 % 2.49 % 1.16 % 0.62 % 0.38 % 0.26 % 0.15 % 0.11 %
//
// Filters of more keys err more, since their hashes have 32 bits: those of 10⁷ keys err 0.2
// percentage points more. It is better to write more tables.
//
// # Sizes
//
// k is 0.69 times the bits per key, but at most 6, 3 for 4 bits and 5 for 9. More bits in a line
// only fill it up: their sequence is determined by 18 bits of the hash. RocksDB, and Pebble up to 2.1,
// set more: with 16 bits per key 11, which gives 0.35 %.
//
// At some numbers of lines, keys of one line share their bits: where a small multiple of n is near
// a multiple of 2^17. RocksDB's and Pebble's filters have such sizes: a filter of 6.7 million keys at
// 10 bits, or 131,073 lines, has a false-positive rate of 12 %. A TableBloom with >= 2048 lines, or
// with more than 10 bits per key, therefore takes a better number, up to 30 or 0.2 % more of them.
// [TableBloom.Rate] and [PredictTableRate] know about the rest: with 10 bits per key and fewer than
// 2048 lines, the rate is up to 1.37 times as high as usual, at 771, 1057 and 1285 lines.
//
// With fewer than 2048 lines and at most 10 bits per key, the bytes are Pebble's. Pebble 2.1 and
// RocksDB set 2 bits for each key at 4 bits per key and 6 at 9, so there only newer versions of Pebble
// write the same bytes.
//
// For the few keys of one data block, Bloom takes less space.
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

	// maxLines have as many bits as there are hashes.
	maxLines = 1<<32/lineBits - 1

	// maxLineK is the highest k. As a signed byte, higher values are negative.
	maxLineK = math.MaxInt8
)

// NewTableBloom returns a TableBloom that builds filters of bitsPerKey bits for each
// key. Values < 0 count as 0. A filter takes at least 69 bytes, but 5 if it has no keys, and at most 512 MiB. For
// reading, bitsPerKey does not matter, since a filter stores its own sizes.
func NewTableBloom(bitsPerKey int) TableBloom {
	return TableBloom{bitsPerKey: max(bitsPerKey, 0)}
}

// SizedFor returns a TableBloom whose filters of fewer than n keys have the size of one of n keys, so that
// [UnionTable] unites them. Filters of more keys, and reading, are as with p. n counts keys that differ.
func (p TableBloom) SizedFor(n uint64) TableBloom {
	p.keys = n
	return p
}

// Name returns "rocksdb.BuiltinBloomFilter", the name that RocksDB and Pebble use.
func (TableBloom) Name() string { return "rocksdb.BuiltinBloomFilter" }

// NewTableGenerator returns an empty TableGenerator. It takes 4 bytes of memory for each key,
// or none if the key equals the one added before it, and Generate takes the filter's length. If there
// is too little memory for the filter, Generate returns an error.
func (p TableBloom) NewTableGenerator() TableGenerator {
	return &tableBloomGenerator{bitsPerKey: uint64(p.bitsPerKey), keys: p.keys}
}

// Open returns filter ready for lookups and keeps the slice. It is an error if the
// filter is damaged, if its lines are not of 64 bytes, or if k < 1 as a signed byte:
// newer versions of RocksDB mark other encodings that way.
func (TableBloom) Open(filter []byte) (TableFilter, error) {
	f, err := openTableBloom(filter)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// tableBloomFilter is a filter whose form has been checked.
type tableBloomFilter struct {
	lines      []byte
	n          uint64 // number of lines
	reciprocal uint64 // 2⁶⁴/n, rounded up
	k          int
}

// emptyTableBloom is the filter without keys and lines: it has a line in which no bit is set.
var emptyTableBloom = &tableBloomFilter{lines: make([]byte, lineSize), n: 1, reciprocal: 0, k: 1}

func openTableBloom(filter []byte) (*tableBloomFilter, error) {
	size := len(filter) - lineTrailer
	if size == 0 && [lineTrailer]byte(filter) == [lineTrailer]byte{} {
		return emptyTableBloom, nil
	}
	if size < lineSize {
		return nil, fmt.Errorf("filter: table filter of %d bytes, want at least %d", len(filter), lineSize+lineTrailer)
	}
	k, n := filter[size], uint64(binary.LittleEndian.Uint32(filter[size+1:]))
	if k < 1 || k > maxLineK {
		return nil, fmt.Errorf("filter: table filter with k = %d, want 1 to %d", int8(k), maxLineK)
	}
	if n*lineSize != uint64(size) {
		return nil, fmt.Errorf("filter: table filter of %d lines in %d bytes, want lines of %d bytes", n, size, lineSize)
	}
	return &tableBloomFilter{lines: filter[:size], n: n, reciprocal: math.MaxUint64/n + 1, k: int(k)}, nil
}

// Contains reports whether key may be in the filter.
func (f *tableBloomFilter) Contains(key []byte) bool {
	return f.mayContain(bloom.Hash(key, bloom.SignedTail))
}

// ContainsHash is Contains for a key with this hash, for who asks many filters for one key.
func (f *tableBloomFilter) ContainsHash(h bloom.TableHash) bool { return f.mayContain(uint32(h)) }

// line returns the line of the key with hash h. It takes the remainder as
// bloom.Prober does.
func (f *tableBloomFilter) line(h uint32) *[lineSize]byte {
	i, _ := bits.Mul64(f.reciprocal*uint64(h), f.n)
	return (*[lineSize]byte)(f.lines[i*lineSize:])
}

// mayContain reports whether all bits of the key with hash h are set.
func (f *tableBloomFilter) mayContain(h uint32) bool {
	line, delta := f.line(h), bloom.Delta(h)
	k := f.k
	for ; k >= 3; k -= 3 { // three at a time, as in Bloom's mayContain
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

// word returns the 64 bits of the line that have bit h mod 512 among them.
func word(line *[lineSize]byte, h uint32) uint64 {
	return binary.LittleEndian.Uint64(line[h>>3&0x38:])
}
