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

// flush writes buf. A writer that writes less than all of it fails, whatever it
// says.
func (s *sink) flush() error {
	n, err := s.w.Write(s.buf)
	if n != len(s.buf) && err == nil {
		err = io.ErrShortWrite
	}
	if s.buf = s.buf[:0]; cap(s.buf) > 4*writeBuffer { // a huge value's
		s.buf = nil
	}
	return wrap(err)
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
	start := len(dst)
	if id := e.codec.ID(); id != NoCompression.ID() {
		e.scratch = e.codec.Encode(e.scratch[:0], raw)
		if n := len(e.scratch); n > 0 && n < len(raw)-len(raw)/8 {
			return appendTrailer(append(dst, e.scratch...), start, id)
		}
	}
	return appendTrailer(append(dst, raw...), start, NoCompression.ID())
}
