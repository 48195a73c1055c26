package filter

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// TableBloom is RocksDB's and Pebble's Bloom filter of a whole table, as a
// [Policy]. All bits of a key are in one line of 64 bytes, so that a question costs
// at most one miss of the processor's cache:
//
//	┌────────┬────────┬───┬───┬───────────────────┐
//	│ line 0 │ line 1 │ … │ k │ n, u32le          │
//	└────────┴────────┴───┴───┴───────────────────┘
//
// With n lines, an odd number, and h the hash that Bloom uses but for bytes of the
// tail, which count as signed, a key's line is h mod n, and its bits there are h, h+δ,
// h+2δ, …, each mod 512, with Bloom's δ.
//
// It wants many keys: for the few of a data block, [Bloom] takes less space. False
// positives are about 1.1 % at 10 bits per key, 2.1 % at 8, and 0.3 % at 16 and
// above: a key's bits in its line depend on 18 bits of the hash only, so that more
// bits per key than 16 gain nothing. The zero value is NewTableBloom(0).
type TableBloom struct {
	bitsPerKey int
}

const (
	lineSize = 64
	lineBits = 8 * lineSize

	// lineTrailer is k and the number of lines.
	lineTrailer = 5

	// maxLines have as many bits as there are hashes.
	maxLines = 1<<32/lineBits - 1

	// maxLineK is the highest k; as a signed byte, others are negative.
	maxLineK = math.MaxInt8
)

// NewTableBloom returns a whole table's Bloom filter policy that spends bitsPerKey
// bits on each key, with the k that [NewBloom] has. Values below 0 behave as 0.
// The number only matters for writing. A filter takes at most 512 MiB.
func NewTableBloom(bitsPerKey int) TableBloom {
	return TableBloom{bitsPerKey: max(bitsPerKey, 0)}
}

// Name returns the name that RocksDB and Pebble give these filters.
func (TableBloom) Name() string { return "rocksdb.BuiltinBloomFilter" }

// NewGenerator returns an empty Generator, which takes 4 bytes of memory for
// each key added. A key added right behind the same one does not count.
func (p TableBloom) NewGenerator() Generator {
	return &tableGenerator{bitsPerKey: uint64(p.bitsPerKey)}
}

// Contains reports whether key may be in filter. One that Check finds something
// wrong with contains everything.
func (TableBloom) Contains(filter, key []byte) bool {
	l, err := linesOf(filter)
	return err != nil || l.mayContain(signedHash(key))
}

// Check returns an error for a filter that cannot be asked: one that is damaged, of
// lines that have not 64 bytes, or of an encoding that RocksDB uses k below 1 for,
// as newer versions do.
func (TableBloom) Check(filter []byte) error {
	_, err := linesOf(filter)
	return err
}

// lines are a filter taken apart.
type lines struct {
	bytes      []byte
	n          uint64
	reciprocal uint64 // 2⁶⁴/n, rounded up
	k          int
}

func linesOf(filter []byte) (lines, error) {
	size := len(filter) - lineTrailer
	if size < lineSize {
		return lines{}, fmt.Errorf("filter of %d bytes, want at least %d", len(filter), lineSize+lineTrailer)
	}
	k, n := filter[size], uint64(binary.LittleEndian.Uint32(filter[size+1:]))
	if k < 1 || k > maxLineK {
		return lines{}, fmt.Errorf("filter of encoding %d, want a number of bits per key, 1 to %d", int8(k), maxLineK)
	}
	if n*lineSize != uint64(size) {
		return lines{}, fmt.Errorf("filter of %d lines in %d bytes, want lines of %d bytes", n, size, lineSize)
	}
	return lines{bytes: filter[:size], n: n, reciprocal: math.MaxUint64/n + 1, k: int(k)}, nil
}

// line returns the line of the key with hash h. The remainder is prober's.
func (l *lines) line(h uint32) *[lineSize]byte {
	line, _ := bits.Mul64(l.reciprocal*uint64(h), l.n)
	return (*[lineSize]byte)(l.bytes[line*lineSize:])
}

func (l *lines) mayContain(h uint32) bool {
	line, delta := l.line(h), h>>17|h<<15
	k := l.k
	for ; k >= 3; k -= 3 { // without branches in between, as in Bloom
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

// word returns the 64 bits of the line that bit h mod 512 is among.
func word(line *[lineSize]byte, h uint32) uint64 {
	return binary.LittleEndian.Uint64(line[h>>3&0x38:])
}

func (l *lines) set(h uint32) {
	line, delta := l.line(h), h>>17|h<<15
	for range l.k {
		line[h>>3&(lineSize-1)] |= 1 << (h & 7)
		h += delta
	}
}

type tableGenerator struct {
	bitsPerKey uint64
	hashes     []uint32
}

func (g *tableGenerator) Add(key []byte) {
	h := signedHash(key)
	if n := len(g.hashes); n == 0 || g.hashes[n-1] != h {
		g.hashes = append(g.hashes, h)
	}
}

// Generate writes the filter; of no keys, one of no lines.
func (g *tableGenerator) Generate(b Buffer) {
	var n uint64
	if len(g.hashes) > 0 {
		n = lineCount(uint64(len(g.hashes)), g.bitsPerKey)
	}
	filter := b.Alloc(int(n)*lineSize + lineTrailer)
	clear(filter)
	if n == 0 {
		return
	}
	filter[n*lineSize] = byte(probes(g.bitsPerKey))
	binary.LittleEndian.PutUint32(filter[n*lineSize+1:], uint32(n))
	l, _ := linesOf(filter)
	for _, h := range g.hashes {
		l.set(h)
	}
	g.hashes = g.hashes[:0]
}

// lineCount returns how many lines a filter of n keys has: an odd number, so that
// all bits of a hash matter for the line.
func lineCount(n, bitsPerKey uint64) uint64 {
	if bitsPerKey > 0 && n > maxLines*lineBits/bitsPerKey {
		return maxLines
	}
	return (n*bitsPerKey+lineBits-1)/lineBits | 1
}
