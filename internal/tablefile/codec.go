package tablefile

import (
	"fmt"
	"slices"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/internal/alloc"
)

// A Codec decompresses blocks: table.Codec.
type Codec interface {
	ID() byte
	Decode(dst, src []byte, limit int) ([]byte, error)
}

// Snappy is LevelDB's compression.
type Snappy struct{}

// ID returns 1.
func (Snappy) ID() byte { return 1 }

// Encode appends src to dst, compressed.
func (Snappy) Encode(dst, src []byte) []byte {
	dst = slices.Grow(dst, snappy.MaxEncodedLen(len(src)))
	return dst[:len(dst)+len(snappy.Encode(dst[len(dst):cap(dst)], src))]
}

// maxSnappyGain bounds how many times its length a Snappy block can decompress to. The densest element takes 3 bytes
// and stands for 64.
const maxSnappyGain = 22

// Decode appends src to dst, decompressed. More than limit bytes are an error.
func (Snappy) Decode(dst, src []byte, limit int) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, fmt.Errorf("snappy: decodes to %d bytes, want at most %d", n, limit)
	}
	if uint64(n) > maxSnappyGain*uint64(len(src)) {
		return nil, fmt.Errorf("snappy: %d bytes claim to decode to %d", len(src), n)
	}
	if n > cap(dst)-len(dst) {
		if err := alloc.CheckLarge(uint64(len(dst) + n)); err != nil {
			return nil, fmt.Errorf("snappy: %w", err)
		}
	}
	dst = grow(dst, n)
	got, err := snappy.Decode(dst[len(dst):len(dst)+n], src)
	if err != nil {
		return nil, err
	}
	return dst[:len(dst)+len(got)], nil
}
