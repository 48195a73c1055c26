// Package codecs has the compressions that databases like LevelDB use, other than Snappy:
// zstd of LevelDB since 1.23, and zlib and deflate of Minecraft Bedrock's LevelDB.
package codecs

import (
	"compress/flate"
	"compress/zlib"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/sievetable/sievetable/table"
)

// The codecs. Zstd and Zlib have the same compression id. All returns a codec that decodes
// both.
var (
	Zstd    table.Codec = newCodec(2, "zstd", newZstdReader, newZstdWriter)
	Zlib    table.Codec = newCodec(2, "zlib", newZlibReader, newZlibWriter)
	Deflate table.Codec = newCodec(4, "deflate", newFlateReader, newFlateWriter)
)

// All returns codecs that decode every known compression. Blocks with compression id 2 are
// zstd if they start with zstd's magic number, which no zlib block does, and zlib
// otherwise.
func All() []table.Codec { return []table.Codec{zstdOrZlib{Zlib}, Deflate, snappy{table.Snappy}} }

type zstdOrZlib struct{ table.Codec }

func (z zstdOrZlib) Decode(dst, src []byte, limit int) ([]byte, error) {
	if IsZstd(src) {
		return Zstd.Decode(dst, src, limit)
	}
	return z.Codec.Decode(dst, src, limit)
}

func newZlibReader() reader { return &inflateReader{newReader: zlib.NewReader} }

func newZlibWriter() writer { return zlib.NewWriter(nil) }

func newFlateReader() reader {
	return &inflateReader{newReader: func(r io.Reader) (io.ReadCloser, error) { return flate.NewReader(r), nil }}
}

func newFlateWriter() writer {
	w, err := flate.NewWriter(nil, flate.DefaultCompression)
	return must(w, err)
}

// inflateReader is a reader of compress/zlib or compress/flate. It is created at the first
// Reset, because zlib.NewReader reads the header.
type inflateReader struct {
	io.ReadCloser
	newReader func(r io.Reader) (io.ReadCloser, error)
}

func (i *inflateReader) Reset(r io.Reader) (err error) {
	if i.ReadCloser != nil {
		return i.ReadCloser.(flate.Resetter).Reset(r, nil)
	}
	i.ReadCloser, err = i.newReader(r)
	return err
}

// maxZstdWindow is the largest window of a zstd block. The decoder allocates the window
// that the block claims.
const maxZstdWindow = 8 << 20

func newZstdReader() reader {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	return must(d, err)
}

func newZstdWriter() writer {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true))
	return must(e, err)
}

// must panics if the options of a codec are invalid. The options are constants, so they are
// not.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Name returns the name of a compression, as far as the compression id tells.
func Name(id byte) string {
	switch id {
	case table.NoCompression.ID():
		return "none"
	case table.Snappy.ID():
		return "snappy"
	case Zstd.ID(): // and Zlib.ID()
		return "zstd or zlib"
	case Deflate.ID():
		return "deflate"
	}
	return "unknown"
}
