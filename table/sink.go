package table

import (
	"encoding/binary"
	"io"

	"github.com/sievetable/sievetable/internal/crc"
)

// writeBuffer is how many bytes are gathered for one write.
const writeBuffer = 256 << 10

// sink gathers what is appended to buf into large writes.
type sink struct {
	w   io.Writer
	buf []byte
}

// settle writes buf if that is worth a write.
func (s *sink) settle() error {
	if len(s.buf) < writeBuffer {
		return nil
	}
	return s.flush()
}

// flush writes buf.
func (s *sink) flush() error {
	err := s.writeNow(s.buf)
	if s.buf = s.buf[:0]; cap(s.buf) > 4*writeBuffer { // a huge value's
		s.buf = nil
	}
	return err
}

// writeNow writes p. A writer that writes less than all of it fails, whatever it
// says.
func (s *sink) writeNow(p []byte) error {
	n, err := s.w.Write(p)
	if n != len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return wrap(err)
}

// add writes p: a large one at once, without a copy.
func (s *sink) add(p []byte) error {
	if len(p) < writeBuffer {
		s.buf = append(s.buf, p...)
		return s.settle()
	}
	if err := s.flush(); err != nil {
		return err
	}
	return s.writeNow(p)
}

// writeRaw writes an uncompressed block and its trailer.
func (s *sink) writeRaw(contents []byte) error {
	sum := crc.Block(contents, NoCompression.ID())
	if err := s.add(contents); err != nil {
		return err
	}
	s.buf = binary.LittleEndian.AppendUint32(append(s.buf, NoCompression.ID()), sum)
	return s.settle()
}

// appendTrailer appends the trailer of the block that is buf from start on.
func appendTrailer(buf []byte, start int, compression byte) []byte {
	sum := crc.Block(buf[start:], compression)
	return binary.LittleEndian.AppendUint32(append(buf, compression), sum)
}

// encoder makes blocks what is stored of them.
type encoder struct {
	codec   Codec
	scratch []byte
}

// encode appends raw to dst with its trailer, compressed if that makes it smaller
// by more than an eighth.
func (e *encoder) encode(dst, raw []byte) []byte {
	start, id := len(dst), e.codec.ID()
	switch {
	case id == NoCompression.ID():
	case e.codec == Snappy: // which is known to append to dst, and nothing else
		dst = e.codec.Encode(dst, raw)
	default:
		e.scratch = e.codec.Encode(e.scratch[:0], raw)
		dst = append(dst, e.scratch...)
	}
	if n := len(dst) - start; n > 0 && n < len(raw)-len(raw)/8 {
		return appendTrailer(dst, start, id)
	}
	return appendTrailer(append(dst[:start], raw...), start, NoCompression.ID())
}
