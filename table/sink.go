package table

import (
	"io"
	"sync"
)

// writeBuffer is the size from which on a sink writes its buffer.
const writeBuffer = 256 << 10

// maxUnwritten is the size of compressed blocks, before compression, from which on a sink writes its
// buffer too: so a full disk is seen soon, however small the blocks have become.
const maxUnwritten = 2 * writeBuffer

// maxSinkBuffer is the largest buffer that a sink keeps. One that is larger had a huge value.
const maxSinkBuffer = 16 * writeBuffer

// A sink buffers what is appended to buf, to write it in large pieces. It begins with a buffer that
// an earlier sink has left, if there is one.
type sink struct {
	w   io.Writer
	buf []byte
	raw int // bytes of the compressed blocks in buf, before they were
}

var sinkBuffers sync.Pool // of *[]byte

// takeBuffer gives the sink its buffer.
func (s *sink) takeBuffer() {
	if b, ok := sinkBuffers.Get().(*[]byte); ok {
		s.buf = *b
	}
}

// leaveBuffer leaves the buffer to the next sink. s must not be used any more.
func (s *sink) leaveBuffer() {
	if s.buf = s.buf[:0]; cap(s.buf) > 0 && cap(s.buf) <= maxSinkBuffer {
		b := s.buf
		sinkBuffers.Put(&b)
	}
	s.buf = nil
}

// flushIfFull writes buf if it is large enough.
func (s *sink) flushIfFull() error {
	if len(s.buf) < writeBuffer && s.raw < maxUnwritten {
		return nil
	}
	return s.flush()
}

// flush writes buf.
func (s *sink) flush() error {
	err := s.writeDirect(s.buf)
	s.raw = 0
	if s.buf = s.buf[:0]; cap(s.buf) > maxSinkBuffer {
		s.buf = nil
	}
	return err
}

// writeDirect writes p, without buffering it. It is an error if w writes fewer bytes, even if w
// reports none.
func (s *sink) writeDirect(p []byte) error {
	n, err := s.w.Write(p)
	if n != len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return wrap(err)
}

// write writes p. If p is large, it does not copy it to the buffer.
func (s *sink) write(p []byte) error {
	if len(p) < writeBuffer {
		s.buf = append(s.buf, p...)
		return s.flushIfFull()
	}
	if err := s.flush(); err != nil {
		return err
	}
	return s.writeDirect(p)
}

// writeRaw writes an uncompressed block and its trailer, which it returns.
func (s *sink) writeRaw(contents []byte) (trailer, error) {
	t := trailerOf(contents, NoCompression.ID())
	if err := s.write(contents); err != nil {
		return t, err
	}
	s.buf = append(s.buf, t[:]...)
	return t, s.flushIfFull()
}
