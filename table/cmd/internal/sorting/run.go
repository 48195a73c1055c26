package sorting

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/lanrat/extsort/queue"
)

// A run is records in order, of which one is next.
type run struct {
	next   func() (encodedRecord, error) // returns nil at the end; valid until the next call
	record encodedRecord
	prefix uint64 // of record, after what all keys start with
}

// fromChunk returns the run of a sorted chunk.
func fromChunk(c *chunk) *run {
	i := 0
	return &run{next: func() (encodedRecord, error) {
		if i == len(c.refs) {
			return nil, nil
		}
		i++
		return c.record(c.refs[i-1]), nil
	}}
}

// fromFile returns a run that write has written.
func fromFile(in *bufio.Reader) *run {
	var buf []byte
	return &run{next: func() (encodedRecord, error) {
		n, err := binary.ReadUvarint(in)
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, temporaryFileError(err)
		}
		buf = slices.Grow(buf[:0], int(n))[:n]
		if _, err := io.ReadFull(in, buf); err != nil {
			return nil, temporaryFileError(err)
		}
		return buf, nil
	}}
}

// write writes a sorted chunk as the next run to the temporary file.
func (f *runFile) write(dir string, c *chunk) error {
	if err := f.create(dir); err != nil {
		return err
	}
	var buf []byte
	for _, ref := range c.refs {
		buf = binary.AppendUvarint(buf[:0], uint64(ref.length))
		if _, err := f.writer.Write(append(buf, c.record(ref)...)); err != nil {
			return temporaryFileError(err)
		}
	}
	if _, err := f.writer.Next(); err != nil {
		return temporaryFileError(err)
	}
	return nil
}

func temporaryFileError(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("temporary file: %w", nameless(err))
}

// merge sends the records of all runs in order, in chunks of batchSize.
func (s *sorter) merge(runs []*run, to chan<- *chunk) {
	next := queue.NewPriorityQueue(s.compareRuns)
	for _, r := range runs {
		if s.advance(r); r.record != nil {
			next.Push(r)
		}
	}
	batch := new(chunk)
	for next.Len() > 0 && s.ctx.Err() == nil {
		r := next.Peek()
		if !batch.fits(len(r.record), batchSize) {
			s.send(batch, to)
			batch = new(chunk)
		}
		copy(batch.add(len(r.record)), r.record)
		if s.advance(r); r.record != nil {
			next.PeekUpdate()
		} else {
			next.Pop()
		}
	}
	s.send(batch, to)
}

// send sends a chunk, unless sorting has failed, for then it may not be in order.
func (s *sorter) send(c *chunk, to chan<- *chunk) {
	if s.ctx.Err() != nil {
		return
	}
	select {
	case to <- c:
	case <-s.ctx.Done():
	}
}

// advance reads the next record of a run. If there is an error, sorting fails.
func (s *sorter) advance(r *run) {
	record, err := r.next()
	if err != nil {
		s.fail(err)
	}
	if r.record = record; record != nil {
		r.prefix = s.prefixAfter(s.common, record)
	}
}

func (s *sorter) compareRuns(a, b *run) int {
	if a.prefix != b.prefix {
		return comparePrefixes(a.prefix, b.prefix)
	}
	return s.compare(a.record, b.record)
}
