package partition

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/tempfile"
)

// A spool keeps entries in a temporary file, in their order. Each has the lengths of key and
// value as varints, the key and the value. It creates the file with the first entry.
type spool struct {
	dir  string // of the temporary file; "": that of the system
	file tempfile.File
	out  *bufio.Writer
	n    int   // entries
	err  error // why all ended early
}

// spoolBuffer is how many bytes a spool writes and reads at once.
const spoolBuffer = 256 << 10

func newSpool(dir string) *spool { return &spool{dir: dir} }

// write adds an entry.
func (s *spool) write(key, value []byte) error {
	if s.out == nil {
		if err := s.file.Create(s.dir); err != nil {
			return err
		}
		s.out = bufio.NewWriterSize(s.file, spoolBuffer)
	}
	s.n++
	lengths := binary.AppendUvarint(s.out.AvailableBuffer(), uint64(len(key)))
	lengths = binary.AppendUvarint(lengths, uint64(len(value)))
	s.out.Write(lengths) // the next Write returns the same error
	s.out.Write(key)
	if _, err := s.out.Write(value); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

// all yields the entries. If it ends early, err says why.
func (s *spool) all() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		if s.out == nil {
			return
		}
		err := s.out.Flush()
		if err == nil {
			_, err = s.file.Seek(0, io.SeekStart)
		}
		in := bufio.NewReaderSize(s.file, spoolBuffer)
		var key, value []byte
		for range s.n {
			if err == nil {
				key, value, err = readEntry(in, key, value)
			}
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				s.err = fmt.Errorf("temporary file: %w", err)
				return
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// readEntry reads the next entry into the memory of key and value.
func readEntry(in *bufio.Reader, key, value []byte) ([]byte, []byte, error) {
	keyLen, err := binary.ReadUvarint(in)
	if err != nil {
		return key, value, err
	}
	valueLen, err := binary.ReadUvarint(in)
	if err != nil {
		return key, value, err
	}
	key, value = resize(key, int(keyLen)), resize(value, int(valueLen))
	if _, err := io.ReadFull(in, key); err != nil {
		return key, value, err
	}
	_, err = io.ReadFull(in, value)
	return key, value, err
}

// resize returns a slice of n bytes, in the memory of b if it has room.
func resize(b []byte, n int) []byte {
	if n > cap(b) {
		return make([]byte, n)
	}
	return b[:n]
}

// close removes the file.
func (s *spool) close() error { return s.file.Close() }
