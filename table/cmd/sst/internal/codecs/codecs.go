// Package codecs has the compressions, beside Snappy, that tables of LevelDB's kin
// use: zstd of LevelDB after 1.23, and zlib and deflate of Minecraft Bedrock's.
package codecs

import (
	"compress/flate"
	"compress/zlib"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/sievetable/sievetable/table"
)

// The codecs. Two of them have the same id, so that a Reader is given one that
// decodes both, see All.
var (
	Zstd    table.Codec = newCodec(2, "zstd", newZstdReader, newZstdWriter)
	Zlib    table.Codec = newCodec(2, "zlib", newZlibReader, newZlibWriter)
	Deflate table.Codec = newCodec(4, "deflate", newFlateReader, newFlateWriter)
)

// All returns what reads all of them: blocks of id 2 are told apart by the magic
// number that zstd's start with, and zlib's cannot.
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

// inflateReader is a reader of compress/zlib, which is made at the first block, or of
// compress/flate.
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

// maxZstdWindow is the most that a zstd block may look back, which is memory that it
// takes on its word.
const maxZstdWindow = 8 << 20

func newZstdReader() reader {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	return must(d, err)
}

func newZstdWriter() writer {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true))
	return must(e, err)
}

// must panics if the options of a codec are wrong, which they are not.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
