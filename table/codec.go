package table

import (
	"fmt"
	"slices"

	"github.com/golang/snappy"
)

// A Codec compresses blocks. It must be safe for concurrent use.
//
// Two codecs may claim one id: 2 is zstd in LevelDB after 1.23, and zlib in
// Mojang's fork. So there is no registry of codecs; a Reader is given those that
// its tables use, beside Snappy, which it knows.
type Codec interface {
	// ID is stored in the trailer of each block that the Codec compressed. It is
	// not 0, which stands for no compression.
	ID() byte

	// Encode appends the compressed form of src, a block of up to 1 GiB, to dst
	// and returns the result.
	Encode(dst, src []byte) []byte

	// Decode appends the decompressed form of src to dst and returns the
	// result. It is an error if src is damaged, or if that form has more than
	// limit bytes, which is to be found before memory is taken for it.
	Decode(dst, src []byte, limit int) ([]byte, error)
}

var (
	// Snappy is LevelDB's compression, id 1.
	Snappy Codec = snappyCodec{}

	// NoCompression leaves blocks as they are, id 0.
	NoCompression Codec = noCodec{}
)

type noCodec struct{}

func (noCodec) ID() byte { return 0 }

func (noCodec) Encode(dst, src []byte) []byte { return append(dst, src...) }

func (noCodec) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(src) > limit {
		return nil, fmt.Errorf("block of %d bytes, want at most %d", len(src), limit)
	}
	return append(dst, src...), nil
}

type snappyCodec struct{}

func (snappyCodec) ID() byte { return 1 }

func (snappyCodec) Encode(dst, src []byte) []byte {
	dst = slices.Grow(dst, snappy.MaxEncodedLen(len(src)))
	return dst[:len(dst)+len(snappy.Encode(dst[len(dst):cap(dst)], src))]
}

// maxSnappyGain is how many times its length a Snappy block can decode to: its
// densest element is a copy of 64 bytes that takes 3.
const maxSnappyGain = 22

func (snappyCodec) Decode(dst, src []byte, limit int) ([]byte, error) {
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
	dst = extend(dst, n)
	got, err := snappy.Decode(dst[len(dst):len(dst)+n], src)
	if err != nil {
		return nil, err
	}
	return dst[:len(dst)+len(got)], nil
}
