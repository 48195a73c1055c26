package extern

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
)

// spill is a temporary file of values that are too large to be sorted with their
// keys. The zero value has no file yet.
type spill struct {
	file *os.File
	w    *bufio.Writer
	size uint64
}

// write keeps a value, and returns its place.
func (s *spill) write(dir string, value []byte) (place []byte, err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(dir, "sst-values-*"); err != nil {
			return nil, fmt.Errorf("temporary file: %w", err)
		}
		s.w = bufio.NewWriterSize(s.file, 1<<20)
	}
	if _, err := s.w.Write(value); err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	place = binary.LittleEndian.AppendUint64(nil, s.size)
	s.size += uint64(len(value))
	return binary.LittleEndian.AppendUint32(place, uint32(len(value))), nil
}

// flush makes all values readable.
func (s *spill) flush() error {
	if s.file == nil {
		return nil
	}
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

// read returns the value at a place.
func (s *spill) read(place []byte) ([]byte, error) {
	value := make([]byte, binary.LittleEndian.Uint32(place[8:]))
	if _, err := s.file.ReadAt(value, int64(binary.LittleEndian.Uint64(place))); err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	return value, nil
}

// close removes the file. What is lost with it nobody wants any more.
func (s *spill) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
}
