package set

import (
	"context"
	"encoding/hex"
	"hash"
	"io"
)

// chunkSize is how many bytes Verify reads at once.
const chunkSize = 1 << 20

// A sequential reads a table from its start to its end by large reads, and hashes it meanwhile.
// It is for a Reader that reads the data blocks in their order. One goroutine at a time may use
// it.
type sequential struct {
	file
	ctx  context.Context // of Verify
	tail []byte          // the end of the table
	free bool            // the Reader may leave the tail: it is open, and lookups' do not before that
	hash hash.Hash       // of what was read, up to the window's end

	window []byte // a part of the table
	start  int64  // of the window
}

// ReadAt reads from the tail or the window, and moves the window on for that. What is before the
// window it reads from the Source.
func (s *sequential) ReadAt(p []byte, off int64) (int, error) {
	if start := s.Size - int64(len(s.tail)); off >= start && off <= s.Size {
		return copied(p, s.tail[off-start:])
	}
	if !s.free {
		return 0, s.outsideTail(off, len(s.tail))
	}
	if off < s.start {
		return s.read(s.ctx, p, off)
	}
	for off+int64(len(p)) > s.end() && s.end() < s.Size {
		if err := s.advance(off); err != nil {
			return 0, err
		}
	}
	return copied(p, s.window[min(off, s.end())-s.start:])
}

// copied copies src to p. It returns io.EOF if that does not fill p.
func copied(p, src []byte) (int, error) {
	n := copy(p, src)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// end returns where the window ends.
func (s *sequential) end() int64 { return s.start + int64(len(s.window)) }

// advance adds the next chunk to the window, and removes what is before keep.
func (s *sequential) advance(keep int64) error {
	end := s.end()
	keep = min(max(keep, s.start), end)
	s.window, s.start = append(s.window[:0], s.window[keep-s.start:]...), keep
	kept, tail := len(s.window), s.Size-int64(len(s.tail))
	if end >= tail { // which was read
		rest := s.tail[end-tail:]
		s.window = append(s.window, rest[:min(chunkSize, len(rest))]...)
	} else if err := s.readChunk(end, int(min(chunkSize, tail-end))); err != nil {
		return err
	}
	s.hash.Write(s.window[kept:])
	return nil
}

// readChunk adds the n bytes at off to the window.
func (s *sequential) readChunk(off int64, n int) error {
	kept := len(s.window)
	s.window = append(s.window, make([]byte, n)...)
	got, err := s.read(s.ctx, s.window[kept:], off)
	if got == n {
		return nil
	}
	s.window = s.window[:kept]
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return s.errorf("reading %d bytes at %d: %w", n, off, err)
}

// checkSum compares the SHA-256 of the table with the manifest. It reads the rest of the table.
func (s *sequential) checkSum() error {
	for s.end() < s.Size {
		if err := s.advance(s.Size); err != nil {
			return err
		}
	}
	if sum := hex.EncodeToString(s.hash.Sum(nil)); sum != s.SHA256 {
		return s.mismatch("sha256", "that of the table is %s, want %s", sum, s.SHA256)
	}
	return nil
}
