package fuse

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
)

// ErrTooManyKeys is the error of Generate for > [MaxKeys] keys. Test for it with errors.Is. Write
// several tables, or use another filter.
var ErrTooManyKeys = fmt.Errorf(
	"fuse: more than %d keys in one filter: write several tables, or use another filter", MaxKeys)

// NewTableGenerator returns an empty generator. It takes 8 bytes of memory for each key, or none if
// the key equals the one added before it. Generate takes about 24 more for a moment. A key that is
// added again later takes as much space in the filter as another one.
//
// Generate returns no filter if there are no keys, and ErrTooManyKeys if there are > [MaxKeys].
func (p Policy) NewTableGenerator() filter.TableGenerator {
	return &generator{bits: p.Bits()}
}

type generator struct {
	bits   int
	hashes []uint64
	more   bool // than MaxKeys
}

func (g *generator) Add(key []byte) {
	h := xxh3.Hash(key)
	switch n := len(g.hashes); {
	case n > 0 && g.hashes[n-1] == h:
	case n == MaxKeys:
		g.more = true
	default:
		g.hashes = append(g.hashes, h)
	}
}

func (g *generator) Generate() ([]byte, error) {
	if g.more {
		return nil, ErrTooManyKeys
	}
	if len(g.hashes) == 0 {
		return nil, nil
	}
	if g.bits <= 8 {
		return build[uint8](g.hashes, g.bits)
	}
	return build[uint16](g.hashes, g.bits)
}

// build returns the filter of keys with these hashes. Package xorfilter removes hashes that are there
// more than once, but fails if several of many hashes are there ≥ 64 times. Then build removes them.
func build[T uint8 | uint16](hashes []uint64, fingerprintBits int) ([]byte, error) {
	f, err := xorfilter.NewBinaryFuse[T](hashes)
	if err != nil {
		slices.Sort(hashes)
		f, err = xorfilter.NewBinaryFuse[T](slices.Compact(hashes))
	}
	if err != nil {
		return nil, fmt.Errorf("fuse: no filter of %d keys: %w", len(hashes), err)
	}
	filter := pack(f.Fingerprints, fingerprintBits)
	filter = binary.LittleEndian.AppendUint64(filter, f.Seed)
	filter = binary.LittleEndian.AppendUint32(filter, f.SegmentCount)
	return append(filter, byte(bits.TrailingZeros32(f.SegmentLength)), byte(fingerprintBits)), nil
}

// pack returns the low bits of each fingerprint, one after the other, and the spare bytes. It
// leaves room for the trailer. Segments have 4 fingerprints or more, so that the bits are whole bytes.
func pack[T uint8 | uint16](fingerprints []T, fingerprintBits int) []byte {
	size := packedSize(uint64(len(fingerprints)), fingerprintBits)
	packed := make([]byte, 0, size+trailerLen)
	mask := T(1)<<fingerprintBits - 1
	var pending uint64 // bits that are no whole byte yet
	n := 0             // the number of them, 0 after the last fingerprint
	for _, f := range fingerprints {
		pending |= uint64(f&mask) << n
		for n += fingerprintBits; n >= 8; n -= 8 {
			packed = append(packed, byte(pending))
			pending >>= 8
		}
	}
	return packed[:size]
}
