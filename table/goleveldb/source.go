package goleveldb

import (
	"io"
	"sync"
)

// A source is the file that a Reader reads from. Its errors are sourceErrors.
type source struct {
	mu   sync.RWMutex // so that the file is not closed while it is read
	file io.ReaderAt  // nil after Release

	account *account // of the block cache; nil without one
}

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	defer s.account.afterRead()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.file == nil {
		return 0, &sourceError{ErrReaderReleased}
	}
	n, err := s.file.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = &sourceError{err}
	}
	return n, err
}

// release waits for all reads, and closes the file if it can be closed.
func (s *source) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.file.(io.Closer); ok {
		// As in goleveldb, an error is ignored: the file was only read.
		_ = c.Close()
	}
	s.file = nil
}
