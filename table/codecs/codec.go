package codecs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/format"
)

// A codec compresses and decompresses with pooled encoders and decoders. Creating one takes
// more memory and time than most blocks do.
type codec struct {
	id                 byte
	name               string
	encoders, decoders *sync.Pool
}

// A writer compresses what is written until Close. Reset prepares it for the next block.
type writer interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// A reader decompresses r after Reset.
type reader interface {
	io.Reader
	Reset(r io.Reader) error
}

type encoder struct {
	out bytes.Buffer
	writer
}

type decoder struct {
	in bytes.Reader
	reader
}

func newCodec(id byte, name string, newReader func() reader, newWriter func() writer) codec {
	return codec{
		id: id, name: name,
		encoders: &sync.Pool{New: func() any { return &encoder{writer: newWriter()} }},
		decoders: &sync.Pool{New: func() any { return &decoder{reader: newReader()} }},
	}
}

func (c codec) ID() byte { return c.id }

// Encode compresses src. Writing to memory does not fail, so Encode panics if it does.
func (c codec) Encode(dst, src []byte) []byte {
	e := c.encoders.Get().(*encoder)
	e.out = *bytes.NewBuffer(slices.Grow(dst, len(src)+len(src)/1024+64)) // enough for incompressible data
	e.Reset(&e.out)
	_, err := e.Write(src)
	if err := errors.Join(err, e.Close()); err != nil {
		panic(fmt.Sprintf("codecs: %s: %v", c.name, err))
	}
	encoded := e.out.Bytes()
	e.out = bytes.Buffer{}
	c.encoders.Put(e)
	return encoded
}

// Decode allocates memory for the actual contents, not for the size that a block claims.
func (c codec) Decode(dst, src []byte, limit int) ([]byte, error) {
	d := c.decoders.Get().(*decoder)
	decoded, err := d.decode(dst, src, limit)
	d.in.Reset(nil)
	c.decoders.Put(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return decoded, nil
}

// largeBlock is the size up to which the output buffer grows step by step. Growing takes up
// to three times the memory. For larger blocks, decode first counts the bytes, and
// allocates once.
const largeBlock = 16 << 20

func (d *decoder) decode(dst, src []byte, limit int) ([]byte, error) {
	start := len(dst)
	if err := d.start(src); err != nil {
		return nil, err
	}
	for {
		if len(dst) == cap(dst) {
			var err error
			if dst, err = d.grow(dst, start, src, limit); err != nil {
				return nil, err
			}
		}
		n, err := d.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst)-start > limit:
			return nil, tooLarge(d, len(dst)-start, limit)
		case err == io.EOF && d.in.Len() > 0:
			return nil, fmt.Errorf("%s after the compressed data", format.Plural(uint64(d.in.Len()), "byte"))
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return nil, err
		}
	}
}

func (d *decoder) start(src []byte) error {
	d.in.Reset(src)
	return d.Reset(&d.in)
}

// grow returns dst with more capacity, at most for limit+1 bytes after start. If dst
// already has largeBlock bytes after start, it counts the rest, allocates exactly once, and
// restarts the decoding of src.
func (d *decoder) grow(dst []byte, start int, src []byte, limit int) ([]byte, error) {
	have := len(dst) - start
	if have < largeBlock {
		return slices.Grow(dst, min(max(4096, have), limit-have+1)), nil
	}
	more, err := io.Copy(io.Discard, io.LimitReader(d, int64(limit-have+1)))
	if err == nil && int(more) > limit-have {
		err = tooLarge(d, have+int(more), limit)
	}
	if err != nil {
		return nil, err
	}
	size := len(dst) + int(more) + 1 // + 1, so that the last Read returns io.EOF
	if err := alloc.CheckLarge(uint64(size)); err != nil {
		return nil, err
	}
	all := make([]byte, start, size)
	copy(all, dst)
	return all, d.start(src)
}
