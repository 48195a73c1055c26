package merge

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/internal/tempfile"
	"github.com/sievetable/sievetable/table"
)

// A runFile is a temporary file of runs, each a table.
type runFile struct {
	tempfile.File
	size int64
	runs []section
}

// A section is a part of a file.
type section struct{ at, size int64 }

// runBlock is the size of a data block of a run. Each run that is merged has one in memory.
const runBlock = 64 << 10

// writeRun writes the entries of an Iterator as a run.
func (f *runFile) writeRun(s *Sorter, it Iterator) (err error) {
	if err := f.Create(s.Dir); err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, runBlock)
	w, err := table.NewWriter(out, &table.WriterOptions{Comparer: s.order, BlockSize: runBlock, Compression: table.NoCompression})
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	for more := it.First(); more; more = it.Next() {
		if err := cmp.Or(s.ctx.Err(), w.Append(it.Key(), it.Value())); err != nil {
			return temporary(err)
		}
	}
	if err := errors.Join(it.Error(), w.Close(), out.Flush()); err != nil {
		return temporary(err)
	}
	f.runs = append(f.runs, section{f.size, w.Size()})
	f.size += w.Size()
	return nil
}

// open returns an Iterator of a run.
func (f *runFile) open(s *Sorter, run section) (Iterator, error) {
	r, err := table.NewReader(io.NewSectionReader(f, run.at, run.size), run.size, &table.ReaderOptions{Comparer: s.order})
	if err != nil {
		return nil, temporary(err)
	}
	return r.NewIter(nil), nil
}

// merged returns the pairs of all runs and chunks. While there are more runs than can be merged at once, it merges the
// oldest ones into one.
func (s *Sorter) merged() (*Iter, error) {
	for len(s.file.runs) > s.limits.fanIn {
		oldest, err := s.mergedRuns(s.limits.fanIn)
		if err != nil {
			return nil, err
		}
		s.file.runs = s.file.runs[s.limits.fanIn:]
		if err := errors.Join(s.file.writeRun(s, oldest), oldest.Close()); err != nil {
			return nil, err
		}
	}
	return s.mergedRuns(len(s.file.runs))
}

// mergedRuns returns the pairs of the first n runs, and if these are all, of the chunks in memory too.
func (s *Sorter) mergedRuns(n int) (*Iter, error) {
	var its []Iterator
	for _, run := range s.file.runs[:n] {
		it, err := s.file.open(s, run)
		if err != nil {
			return nil, err
		}
		its = append(its, it)
	}
	if n == len(s.file.runs) {
		for _, c := range s.sorted {
			its = append(its, c.iterator())
		}
	}
	return New(s.order, its...), nil
}

func temporary(err error) error { return fmt.Errorf("temporary file: %w", err) }

// A spillFile is a temporary file of large pairs.
type spillFile struct {
	file tempfile.File
	out  *bufio.Writer // writes to file; nil: there is no pair
	size int64
	buf  []byte // of value
}

// placeLen is the length of the place of a pair in a spillFile: offset, key length, value length.
const placeLen = 16

// write writes a pair, and returns its place. It can be read after flush.
func (s *spillFile) write(dir string, key, value []byte) (place [placeLen]byte, err error) {
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
		return place, temporary(err)
	}
	return place, nil
}

// flush makes everything that was written readable.
func (s *spillFile) flush() error {
	if s.out == nil {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return temporary(err)
	}
	return nil
}

// key returns a key, in new memory. It is safe for concurrent use.
func (s *spillFile) key(place []byte) ([]byte, error) {
	key := make([]byte, binary.LittleEndian.Uint32(place[8:]))
	return key, s.read(key, binary.LittleEndian.Uint64(place))
}

// value returns a value. It is valid until the next call.
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
		return temporary(err)
	}
	return nil
}
