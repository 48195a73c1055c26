package seen

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/sievetable/sievetable/filter/blocked"
)

// Files of the first version contain a blocked.Filter, which does not grow, followed by
//
//	"SstSeen1", Keys u64le, Rate float64 u64le, Lines u64le, CRC-32C of these u32le
const (
	fixedMagic   = "SieveBlk" // start of a Filter
	trailerMagic = "SstSeen1"
	trailerLen   = len(trailerMagic) + 3*8 + 4
)

// numbers are the numbers in such a file.
type numbers struct {
	Keys  uint64  // number of lines that the filter was sized for
	Rate  float64 // false-positive rate with that many lines, 0 to 1
	Lines uint64  // number of lines in the filter
}

const maxLines = 1 << 62

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// readFixed reads a file of the first version. Its filter becomes the first one of the Growing.
func readFixed(r io.Reader) (*blocked.Growing, error) {
	f, err := blocked.Read(r)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, int64(trailerLen)+1))
	if err != nil {
		return nil, err
	}
	n, err := parseTrailer(b)
	if err != nil {
		return nil, err
	}
	return blocked.Grow(f, n.Lines, n.Rate)
}

// parseTrailer parses the numbers after the filter.
func parseTrailer(b []byte) (n numbers, err error) {
	if len(b) != trailerLen || string(b[:len(trailerMagic)]) != trailerMagic {
		return n, fmt.Errorf("trailer is not %d bytes that begin with %q", trailerLen, trailerMagic)
	}
	fields, stored := b[:trailerLen-4], binary.LittleEndian.Uint32(b[trailerLen-4:])
	if sum := crc32.Checksum(fields, castagnoli); sum != stored {
		return n, fmt.Errorf("trailer checksum 0x%08x differs from the stored 0x%08x", sum, stored)
	}
	binary.Decode(fields[len(trailerMagic):], binary.LittleEndian, &n) // they are as long as n
	if n.Keys < 1 || n.Keys > MaxKeys || !(n.Rate >= MinRate && n.Rate <= MaxRate) || n.Lines > maxLines {
		return n, fmt.Errorf("trailer is out of range: size %d (1 to %d), rate %g (%g to %g), %d lines (at most %d)",
			n.Keys, uint64(MaxKeys), n.Rate, MinRate, MaxRate, n.Lines, uint64(maxLines))
	}
	return n, nil
}

// endsAsFixed reports whether a file of this size ends like a file of the first version.
func endsAsFixed(f *os.File, size int64) (bool, error) {
	end := make([]byte, len(trailerMagic))
	if size < int64(trailerLen) {
		return false, nil
	}
	_, err := f.ReadAt(end, size-int64(trailerLen))
	return string(end) == trailerMagic, err
}
