package codecs

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/sievetable/sievetable/table"
)

// The codecs are safe for concurrent use. Zstd and Zlib have the same id, but decode only their own blocks; [All]
// contains a codec that decodes both.
var (
	// Zstd is zstd (RFC 8878), with id 2.
	Zstd table.Codec = newCodec(2, "zstd", newZstdReader, newZstdWriter)

	// Zlib is zlib (RFC 1950), with id 2.
	Zlib table.Codec = newCodec(2, "zlib", newZlibReader, newZlibWriter)

	// Deflate is raw deflate (RFC 1951), with id 4.
	Deflate table.Codec = newCodec(4, "deflate", newFlateReader, newFlateWriter)
)

// All returns codecs for ReaderOptions.Codecs that decode every compression of this package, and Snappy. Each returns
// a [TooLargeError] for a block above the limit. The caller owns the slice.
func All() []table.Codec { return []table.Codec{zstdOrZlib{Zlib}, Deflate, snappy{table.Snappy}} }

// IsZstd reports whether a stored block starts with the magic number of a zstd frame, which no zlib block does. The
// first 4 bytes suffice.
func IsZstd(block []byte) bool { return bytes.HasPrefix(block, []byte("\x28\xb5\x2f\xfd")) }

// zstdOrZlib decodes all blocks with compression id 2.
type zstdOrZlib struct{ table.Codec }

func (z zstdOrZlib) Decode(dst, src []byte, limit int) ([]byte, error) {
	if IsZstd(src) {
		return Zstd.Decode(dst, src, limit)
	}
	return z.Codec.Decode(dst, src, limit)
}

func newZlibReader() reader {
	return inflateReader{must(zlib.NewReader(bytes.NewReader([]byte("\x78\x9c"))))} // a header: NewReader reads it
}

func newZlibWriter() writer { return zlib.NewWriter(nil) }

func newFlateReader() reader { return inflateReader{flate.NewReader(new(bytes.Reader))} }

func newFlateWriter() writer {
	return must(flate.NewWriter(nil, flate.DefaultCompression))
}

// inflateReader is a reader of compress/zlib or compress/flate.
type inflateReader struct{ io.Reader }

func (i inflateReader) Reset(r io.Reader) error { return i.Reader.(flate.Resetter).Reset(r, nil) }

// maxZstdWindow is the largest window of a zstd block. The decoder allocates the window
// that the block claims.
const maxZstdWindow = 8 << 20

func newZstdReader() reader {
	return must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow)))
}

func newZstdWriter() writer {
	return must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true)))
}

// must panics if err is not nil. Its callers pass constants, which are valid.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
