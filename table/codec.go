package table

import (
	"encoding/binary"
	"fmt"

	"github.com/sievetable/sievetable/internal/crc"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// A Codec compresses and decompresses blocks. It must be safe for concurrent use. Snappy and
// NoCompression are built in. Set another one as WriterOptions.Compression, and in
// ReaderOptions.Codecs to read the tables. Codecs are options of each Reader because an id
// can have several meanings: 2 is zstd in LevelDB > 1.23, and zlib in Mojang's fork. The module
// github.com/sievetable/sievetable/table/codecs has both, and Mojang's deflate.
type Codec interface {
	// ID identifies the encoding. The trailer of each compressed block has it. It must
	// not be 0, which means that a block is not compressed.
	ID() byte

	// Encode compresses src, a block of ≤ 1 GiB, and appends the result to dst. It
	// returns the extended slice. It must not change or keep src.
	Encode(dst, src []byte) []byte

	// Decode decompresses src and appends the result to dst. It returns the extended
	// slice. It is an error if src is damaged or decompresses to more than limit bytes.
	// Decode should find out the size before it allocates memory. It must not change or
	// keep src, and must not panic, whatever the bytes of src.
	Decode(dst, src []byte, limit int) ([]byte, error)
}

var (
	// Snappy is LevelDB's compression. Its id is 1.
	Snappy Codec = tablefile.Snappy{}

	// NoCompression stores blocks as they are. Its id is 0.
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
