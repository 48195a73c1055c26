package table

import (
	"encoding/binary"

	"github.com/sievetable/sievetable/internal/crc"
	"github.com/sievetable/sievetable/internal/format"
)

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
	binary.LittleEndian.PutUint32(t[1:], crc.Block(stored, compression))
	return t
}

// lastTrailer returns the trailer of the block that buf ends with.
func lastTrailer(buf []byte) []byte { return buf[len(buf)-format.TrailerLen:] }
