// Package codecs has the compressions, beside Snappy, that tables of LevelDB's kin
// use: zstd of LevelDB after 1.23, and zlib and deflate of Minecraft Bedrock's.
package codecs

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/sievetable/sievetable/table"
)

// The codecs. Two of them have the same id, so that a Reader is given one that
// decodes both, see All.
var (
	Zstd    table.Codec = codec{id: 2, name: "zstd", newReader: newZstdReader, newWriter: newZstdWriter}
	Zlib    table.Codec = codec{id: 2, name: "zlib", newReader: zlib.NewReader, newWriter: newZlibWriter}
	Deflate table.Codec = codec{id: 4, name: "deflate", newReader: newFlateReader, newWriter: newFlateWriter}
)

// All returns what reads all of them: blocks of id 2 are told apart by the magic
// number that zstd's start with, and zlib's cannot.
func All() []table.Codec { return []table.Codec{zstdOrZlib{Zlib}, Deflate} }

// IsZstd reports whether a block that starts so is zstd's.
func IsZstd(start []byte) bool { return bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")) }

type zstdOrZlib struct{ table.Codec }

func (z zstdOrZlib) Decode(dst, src []byte, limit int) ([]byte, error) {
	if IsZstd(src) {
		return Zstd.Decode(dst, src, limit)
	}
	return z.Codec.Decode(dst, src, limit)
}

type codec struct {
	id        byte
	name      string
	newReader func(r io.Reader) (io.ReadCloser, error)
	newWriter func(w io.Writer) (io.WriteCloser, error)
}

func (c codec) ID() byte { return c.id }

// Encode panics if memory cannot be written to, which does not happen.
func (c codec) Encode(dst, src []byte) []byte {
	out := bytes.NewBuffer(slices.Grow(dst, len(src)+len(src)/1024+64)) // for what does not get smaller
	w, err := c.newWriter(out)
	if err == nil {
		_, err = w.Write(src)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(fmt.Sprintf("codecs: %s: %v", c.name, err))
	}
	return out.Bytes()
}

// Decode decodes piece by piece: memory is taken for what there is, not for what a
// block claims to be.
func (c codec) Decode(dst, src []byte, limit int) (_ []byte, err error) {
	in := bytes.NewReader(src)
	r, err := c.newReader(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	defer func() {
		if closeErr := r.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("%s: %w", c.name, closeErr)
		}
	}()
	start := len(dst)
	for {
		if len(dst) == cap(dst) { // double, up to what is one byte too many
			have := len(dst) - start
			dst = slices.Grow(dst, min(max(4096, have), limit-have+1))
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if len(dst)-start > limit {
			return nil, fmt.Errorf("%s: decodes to over %d bytes", c.name, limit)
		}
		if err == io.EOF && in.Len() > 0 {
			return nil, fmt.Errorf("%s: %d bytes behind the end", c.name, in.Len())
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
}

func newZlibWriter(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }

func newFlateReader(r io.Reader) (io.ReadCloser, error) { return flate.NewReader(r), nil }

func newFlateWriter(w io.Writer) (io.WriteCloser, error) {
	return flate.NewWriter(w, flate.DefaultCompression)
}

// maxZstdWindow is the most that a zstd block may look back, which is memory that it
// takes on its word.
const maxZstdWindow = 8 << 20

func newZstdReader(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

func newZstdWriter(w io.Writer) (io.WriteCloser, error) {
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
}
