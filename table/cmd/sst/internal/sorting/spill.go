package sorting

import (
	"bufio"
	"encoding/binary"
	"fmt"
)

// spillFile is a temporary file of keys and values that are too large to be sorted. The zero
// value has no file yet.
type spillFile struct {
	file TempFile
	out  *bufio.Writer // to the file
	size int64
	buf  []byte // of value
}

// spillRefLen is how many bytes a place takes.
const spillRefLen = 16

// write keeps a key and a value, and returns their place. They can be read after flush.
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
	s.out.Write(key) // an error stays, and is the next Write's too
	if _, err := s.out.Write(value); err != nil {
		return place, fmt.Errorf("temporary file: %w", err)
	}
	return place, nil
}

// flush has all be read that was written.
func (s *spillFile) flush() error {
	if s.out == nil {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

// key returns the key at a place, which stays valid. It is safe for concurrent use.
func (s *spillFile) key(place []byte) ([]byte, error) {
	key := make([]byte, binary.LittleEndian.Uint32(place[8:]))
	return key, s.read(key, binary.LittleEndian.Uint64(place))
}

// value returns the value at a place, which is valid until the next call.
func (s *spillFile) value(place []byte) ([]byte, error) {
	n := int(binary.LittleEndian.Uint32(place[12:]))
	if n > cap(s.buf) {
		s.buf = nil // gone before there is another one
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
