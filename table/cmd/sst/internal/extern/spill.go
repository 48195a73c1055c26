package extern

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
)

// spill is a temporary file of keys and values that are too large to be sorted. The zero
// value has no file yet. It is safe for concurrent use.
type spill struct {
	mu     sync.Mutex
	file   *os.File
	size   int64
	closed bool
}

// placeLen is how many bytes a place takes.
const placeLen = 16

// write keeps a key and a value, and returns their place.
func (s *spill) write(dir string, key, value []byte) (place []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("temporary file: closed")
	}
	if s.file == nil {
		if s.file, err = os.CreateTemp(dir, "sst-values-*"); err != nil {
			return nil, fmt.Errorf("temporary file: %w", err)
		}
	}
	place = binary.LittleEndian.AppendUint64(make([]byte, 0, placeLen), uint64(s.size))
	place = binary.LittleEndian.AppendUint32(place, uint32(len(key)))
	place = binary.LittleEndian.AppendUint32(place, uint32(len(value)))
	for _, p := range [][]byte{key, value} {
		n, err := s.file.WriteAt(p, s.size)
		if err != nil {
			return nil, fmt.Errorf("temporary file: %w", err)
		}
		s.size += int64(n)
	}
	return place, nil
}

// read returns the key and the value at a place.
func (s *spill) read(place []byte) (key, value []byte, err error) {
	s.mu.Lock()
	file := s.file
	s.mu.Unlock()
	n := binary.LittleEndian.Uint32(place[8:])
	both := make([]byte, uint64(n)+uint64(binary.LittleEndian.Uint32(place[12:])))
	if _, err := file.ReadAt(both, int64(binary.LittleEndian.Uint64(place))); err != nil {
		return nil, nil, fmt.Errorf("temporary file: %w", err)
	}
	return both[:n:n], both[n:], nil
}

// close removes the file. What is lost with it nobody wants any more.
func (s *spill) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}
