package paged_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
)

// A plain is the simplest implementation of the documented format. It has the fields of the trailer.
type plain struct {
	seed, keys, pages       uint64
	hashSum                 uint32
	lgPage, hash, k, format byte
}

// plainOf returns the filter of the keys, which differ.
func plainOf(bitsPerKey int, keys ...[]byte) plain {
	n := uint64(len(keys))
	p := plain{
		keys: n, pages: max(1, (n*uint64(bitsPerKey)+32735)/32736), lgPage: 12, hash: 1, format: 1,
		k: byte(max(1, math.Round(float64(bitsPerKey)*math.Ln2))),
	}
	for _, key := range keys {
		p.hashSum += uint32(xxh3.Hash(key))
	}
	return p
}

func masked(crc uint32) []byte {
	return binary.LittleEndian.AppendUint32(nil, (crc>>15|crc<<17)+0xa282ead8)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// trailer returns the trailer, with a valid checksum.
func (p plain) trailer() []byte {
	b := binary.LittleEndian.AppendUint64(nil, p.seed)
	b = binary.LittleEndian.AppendUint64(b, p.keys)
	b = binary.LittleEndian.AppendUint64(b, p.pages)
	b = binary.LittleEndian.AppendUint32(b, p.hashSum)
	b = append(b, p.lgPage, p.hash, p.k, p.format)
	return append(b, masked(crc32.Checksum(b, castagnoli))...)
}

// bits returns the page of a key with hash h, and the bits that it sets there.
func (p plain) bits(h uint64) (page uint64, bits []uint64) {
	product := new(big.Int).SetUint64(h)
	product.Mul(product, new(big.Int).SetUint64(p.pages))
	two64 := new(big.Int).Lsh(big.NewInt(1), 64)
	n, r := new(big.Int).DivMod(product, two64, new(big.Int))
	rest := r.Uint64()
	for range p.k {
		rest *= 0xd1342543de82ef95
		bits = append(bits, rest/(1<<32)*32736/(1<<32))
	}
	return n.Uint64(), bits
}

// seal sets the checksum of a page.
func (p plain) seal(page []byte, n uint64) {
	start := binary.LittleEndian.Uint32(p.trailer()[32:]) + uint32(n)
	copy(page[4092:], masked(crc32.Update(start, castagnoli, page[:4092])))
}

// build returns the whole filter.
func (p plain) build(keys ...[]byte) []byte {
	contents := make([]byte, p.pages*4096)
	for _, key := range keys {
		n, bits := p.bits(xxh3.HashSeed(key, p.seed))
		set(contents[n*4096:], bits)
	}
	for n := range p.pages {
		p.seal(contents[n*4096:][:4096], n)
	}
	return append(contents, p.trailer()...)
}

func set(page []byte, bits []uint64) {
	for _, bit := range bits {
		page[bit/8] |= 1 << (bit % 8)
	}
}

// contains reports whether a whole filter has the bits of a key.
func (p plain) contains(contents, key []byte) bool {
	n, bits := p.bits(xxh3.HashSeed(key, p.seed))
	return !slices.ContainsFunc(bits, func(bit uint64) bool { return contents[n*4096+bit/8]>>(bit%8)&1 == 0 })
}

// For any number of keys and bits, filters have the documented bytes.
func TestBytesAreThoseOfTheFormat(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 1))
	for _, bitsPerKey := range []int{1, 2, 10, 14, 20, 33, 64} {
		for _, n := range []int{0, 1, 2, 3, 100, 2000, 32736/bitsPerKey + 1, 15_000} {
			keys := numbered(rng.Uint64(), n)
			if !bytes.Equal(build(t, bitsPerKey, keys), plainOf(bitsPerKey, keys...).build(keys...)) {
				t.Errorf("%d keys of %d bits: the bytes are not those of the format", n, bitsPerKey)
			}
		}
	}
}

// TestGolden compares two filters with testdata: the bits of each page, its checksum, and the trailer.
func TestGolden(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for _, tt := range []struct {
		name       string
		bitsPerKey int
		keys       [][]byte
	}{
		{"no keys", 10, nil},
		{"3 keys of 0, 1 and 300 bytes, 10 bits per key", 10, [][]byte{{}, []byte("a"), bytes.Repeat([]byte("0123456789"), 30)}},
		{"600 keys, 64 bits per key", 64, numbered(1, 600)},
	} {
		contents := build(t, tt.bitsPerKey, tt.keys)
		fmt.Fprintf(&out, "%s: %d bytes\n", tt.name, len(contents))
		for page := range slices.Chunk(contents[:len(contents)-36], 4096) {
			fmt.Fprintf(&out, "\tpage: %x\n", page[4092:])
			for i, b := range page[:4092] {
				if len(tt.keys) < 10 && b > 0 {
					fmt.Fprintf(&out, "\t\tat %d: %08b\n", i, b)
				}
			}
		}
		fmt.Fprintf(&out, "\ttrailer:\n%s", hex.Dump(contents[len(contents)-36:]))
	}
	golden.Text(t, "filters.golden", out.String())
}

// Filters with another seed can be read, although none are written.
func TestSeedIsThatOfTheTrailer(t *testing.T) {
	t.Parallel()
	keys := numbered(3, 5000)
	p := plainOf(10, keys...)
	p.seed = 0x0123456789abcdef
	contents := p.build(keys...)
	f := open(t, contents)
	for _, key := range slices.Concat(keys, numbered(4, 5000)) {
		if got, want := f.Contains(key), p.contains(contents, key); got != want {
			t.Fatalf("Contains(%x) = %v, want %v", key, got, want)
		}
	}
	s, err := paged.ReadShape(contents, uint64(len(contents)))
	if err != nil || s.Seed != p.seed || s.Keys != 5000 || s.Pages != 2 || s.K != 7 {
		t.Errorf("ReadShape = %+v, %v", s, err)
	}
}
