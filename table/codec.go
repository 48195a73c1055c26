package table

import (
	"encoding/binary"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// A Codec compresses and decompresses blocks. It must be safe for concurrent use. [Snappy] and [NoCompression] are
// built in; the module table/codecs has zstd, zlib and deflate. Set it in WriterOptions.Compression and
// ReaderOptions.Codecs.
type Codec interface {
	// ID returns the number stored in each compressed block. It must not be 0.
	ID() byte

	// Encode appends the compressed src, at most 1 GiB, to dst. It must not modify or keep src.
	Encode(dst, src []byte) []byte

	// Decode appends the decompressed src to dst. If src is corrupt or decompresses to more than limit bytes, it
	// returns an error, if possible before allocating. It must not modify or keep src, or panic.
	Decode(dst, src []byte, limit int) ([]byte, error)
}

var (
	// Snappy is LevelDB's compression. Its id is 1.
	Snappy Codec = tablefile.Snappy{}

	// NoCompression stores blocks as they are. Its id is 0.
	NoCompression Codec = noCodec{}
)

// checkCodec checks that c does not have the id of NoCompression, unless it is that.
func checkCodec(c Codec) error {
	if c != nil && c != NoCompression && c.ID() == NoCompression.ID() {
		return fmt.Errorf("table: codec has id %d, which means no compression: use another id", c.ID())
	}
	return nil
}

type noCodec struct{}

func (noCodec) ID() byte { return 0 }

func (noCodec) Encode(dst, src []byte) []byte { return append(dst, src...) }

func (noCodec) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(src) > limit {
		return nil, fmt.Errorf("block of %d bytes exceeds the limit of %d", len(src), limit)
	}
	return append(dst, src...), nil
}

// A blockEncoder compresses blocks and adds their trailers.
type blockEncoder struct {
	codec   Codec
	scratch []byte
}

// encode appends raw to dst with its trailer, compressed if that makes it smaller
// by more than an eighth.
func (e *blockEncoder) encode(dst, raw []byte) []byte {
	start, id := len(dst), e.codec.ID()
	switch {
	case id == NoCompression.ID():
	case e.codec == Snappy: // it is sure to append to dst, and to leave the rest of it alone
		dst = e.codec.Encode(dst, raw)
	default:
		encoded := e.codec.Encode(e.scratch[:0], raw)
		dst = append(dst, encoded...)
		if cap(encoded) > cap(e.scratch) { // encoded itself can be memory of the codec, or raw
			e.scratch = make([]byte, cap(encoded))
		}
	}
	if n := len(dst) - start; n > 0 && n < len(raw)-len(raw)/8 {
		return appendTrailer(dst, start, id)
	}
	return appendTrailer(append(dst[:start], raw...), start, NoCompression.ID())
}

// appendTrailer appends the trailer of the block that is buf from start on.
func appendTrailer(buf []byte, start int, compression byte) []byte {
	t := trailerOf(buf[start:], compression)
	return append(buf, t[:]...)
}

// A trailer follows each block in the file: its compression id and its checksum.
type trailer [format.TrailerLen]byte

// trailerOf returns the trailer of a block.
func trailerOf(stored []byte, compression byte) (t trailer) {
	t[0] = compression
	binary.LittleEndian.PutUint32(t[1:], format.Checksum(stored, compression))
	return t
}

// lastTrailer returns the trailer of the block that buf ends with.
func lastTrailer(buf []byte) []byte { return buf[len(buf)-format.TrailerLen:] }
