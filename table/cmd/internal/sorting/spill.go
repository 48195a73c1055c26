package sorting

import (
	"bufio"
	"encoding/binary"
	"fmt"
)

// A spillFile is a temporary file of large keys and values. The zero value creates the file
// when it is needed.
type spillFile struct {
	file TempFile
	out  *bufio.Writer // writes to file
	size int64
	buf  []byte // buffer of value
}

// spillRefLen is the length of a reference to a key and a value in a spillFile.
const spillRefLen = 16

// write writes a key and a value, and returns a reference to them. They can be read after
// flush.
func (s *spillFile) write(dir string, key, value []byte) (place [spillRefLen]byte, err error) {
	if s.out == nil {
		if err := s.file.Create(dir); err != nil {
			return place, err
		}
		s.out = bufio.NewWriterSize(s.file, 64<<10)
	}
	binary.LittleEndian.PutUint64(place[:], uint64(s.size))
	binary.LittleEndian.PutUint32(place[8:], uint32(len(key)))
	binary.LittleEndian.PutUint32(place[12:], uint32(len(value)))
	s.size += int64(len(key) + len(value))
	s.out.Write(key) // the next Write returns the same error
	if _, err := s.out.Write(value); err != nil {
		return place, fmt.Errorf("temporary file: %w", err)
	}
	return place, nil
}

// flush makes everything that was written readable.
func (s *spillFile) flush() error {
	if s.out == nil {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

// key returns the key of a reference. It stays valid. key is safe for concurrent use.
func (s *spillFile) key(place []byte) ([]byte, error) {
	key := make([]byte, binary.LittleEndian.Uint32(place[8:]))
	return key, s.read(key, binary.LittleEndian.Uint64(place))
}

// value returns the value of a reference. It is valid until the next call.
func (s *spillFile) value(place []byte) ([]byte, error) {
	n := int(binary.LittleEndian.Uint32(place[12:]))
	if n > cap(s.buf) {
		s.buf = nil // free it before the next allocation
		s.buf = make([]byte, n)
	}
	start := binary.LittleEndian.Uint64(place) + uint64(binary.LittleEndian.Uint32(place[8:]))
	return s.buf[:n], s.read(s.buf[:n], start)
}

func (s *spillFile) read(p []byte, at uint64) error {
	if _, err := s.file.ReadAt(p, int64(at)); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

func (s *spillFile) close() { s.file.Close() }
