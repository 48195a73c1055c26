package table

import (
	"fmt"
	"io"
	"sync"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// startDataBlock starts a data block. A block for a job is built in the job's buffer, and one that is stored as it
// is in the sink's.
func (w *Writer) startDataBlock() {
	w.prefixInBlock = false
	switch {
	case w.queue != nil:
		w.data.ResetTo(w.queue.filling.raw)
	case w.inPlace:
		w.data.ResetTo(w.out.buf)
	default:
		w.data.Reset()
	}
}

// finishDataBlock ends the data block and starts the next. Its index entry waits for the next key, since the
// separator must be less than it.
func (w *Writer) finishDataBlock() (err error) {
	size := w.data.Size()
	if err := checkSize(tablefile.DataBlock, uint64(size)); err != nil {
		return err
	}
	if p := w.o.FilterPrefix; p != nil {
		if err := checkPrefixer(p, filterKeyOf(w.o.FilterKey, w.data.LastKey())); err != nil {
			return fmt.Errorf("table: %w", err)
		}
	}
	w.properties.DataBlocks++
	w.pendingIndexEntry = true
	start := len(w.out.buf)
	switch raw := w.data.Finish(); {
	case w.queue != nil:
		w.queue.filling.addBlock(raw)
	case w.inPlace:
		w.out.buf = appendTrailer(raw, start, NoCompression.ID())
		w.pendingHandle, err = w.endDataBlock(w.out.buf[start:], size)
	default:
		w.out.buf = w.encoder.encode(w.out.buf, raw)
		w.pendingHandle, err = w.endDataBlock(w.out.buf[start:], size)
	}
	w.startDataBlock()
	return err
}

// endDataBlock returns the handle of a data block that is in out, and starts the next block in the block filter.
// size is the block's size before compression.
func (w *Writer) endDataBlock(stored []byte, size int) (tablefile.Handle, error) {
	if w.digest != nil {
		w.digest.Write(lastTrailer(stored))
	}
	h := w.nextHandle(len(stored))
	w.out.raw += size
	if err := w.out.flushIfFull(); err != nil || w.blockFilter == nil {
		return h, err
	}
	// First check the offset array alone, before StartBlock allocates it.
	if err := checkSize(tablefile.FilterBlock, 4*(w.offset>>w.o.FilterBaseLg)); err != nil {
		return h, err
	}
	if err := w.blockFilter.StartBlock(w.offset); err != nil {
		return h, err
	}
	return h, checkSize(tablefile.FilterBlock, w.blockFilter.Size())
}

// nextHandle returns the handle of the next block, which takes that many bytes with its trailer, and advances offset
// past it.
func (w *Writer) nextHandle(stored int) tablefile.Handle {
	h := tablefile.Handle{Offset: w.offset, Length: uint64(stored) - format.TrailerLen}
	w.offset = h.End()
	return h
}

// flushPendingIndexEntry adds the pending index entry of the last data block. The separator is >= the block's last
// key and < key.
func (w *Writer) flushPendingIndexEntry(key []byte) error {
	c, last := w.o.Comparer, w.data.LastKey()
	if c.Compare(last, key) >= 0 {
		return outOfOrder(key, last)
	}
	s := c.Separator(w.separator[:0], last, key)
	if s != nil && (c.Compare(last, s) > 0 || c.Compare(s, key) >= 0) {
		return fmt.Errorf("table: comparer %q: separator %s is not ≥ %s and < %s",
			c.Name(), format.Quote(s), format.Quote(last), format.Quote(key))
	}
	return w.setSeparator(s)
}

// flushLastIndexEntry does the same after the last key: the separator only has to be >= that key.
func (w *Writer) flushLastIndexEntry() error {
	if !w.pendingIndexEntry {
		return nil
	}
	c, last := w.o.Comparer, w.data.LastKey()
	s := c.Successor(w.separator[:0], last)
	if s != nil && c.Compare(last, s) > 0 {
		return fmt.Errorf("table: comparer %q: successor %s is less than %s", c.Name(), format.Quote(s), format.Quote(last))
	}
	return w.setSeparator(s)
}

// setSeparator gives the last data block the separator s, or its last key if s is nil.
func (w *Writer) setSeparator(s []byte) error {
	w.pendingIndexEntry = false
	if s == nil {
		s = w.data.LastKey()
	}
	w.separator = append(w.separator[:0], s...) // s can be a part of the caller's key
	if w.queue == nil {
		return w.addIndexEntry(w.separator, w.pendingHandle)
	}
	w.queue.filling.setSeparator(w.separator)
	if !w.queue.full() {
		return nil
	}
	w.queue.submit()
	w.startDataBlock() // in the next job
	return w.writeJobs(false)
}

// addIndexEntry adds the index entry of the data block at h.
func (w *Writer) addIndexEntry(separator []byte, h tablefile.Handle) error {
	w.encodedHandle = h.Append(w.encodedHandle[:0])
	if err := w.index.Append(separator, w.encodedHandle); err != nil {
		return err
	}
	return checkSize(tablefile.IndexBlock, uint64(w.index.Size()))
}

// writeJobs writes the jobs that are due, or all of them.
func (w *Writer) writeJobs(all bool) error {
	for job := w.queue.next(all); job != nil; job = w.queue.next(all) {
		if err := w.writeJob(job); err != nil {
			return err
		}
		w.queue.recycle(job)
	}
	return nil
}

// writeJob writes the blocks of a job. Only now are their offsets known, which index and filter need.
func (w *Writer) writeJob(job *encodeJob) error {
	var last queuedBlock
	for _, b := range job.blocks {
		if w.blockFilter != nil {
			job.moveFilterKeys(w.blockFilter, last, b)
		}
		stored := job.encoded[last.encoded:b.encoded]
		w.out.write(stored)
		h, err := w.endDataBlock(stored, b.raw-last.raw)
		if err != nil {
			return err
		}
		if err := w.addIndexEntry(job.separators[last.separators:b.separators], h); err != nil {
			return err
		}
		last = b
	}
	return nil
}

// checkSize returns an error if a Reader with default options would refuse the block.
func checkSize(kind layout.BlockKind, size uint64) error {
	if size > defaultMaxBlockSize {
		return fmt.Errorf("table: %s of %d bytes (maximum %d)", kind, size, defaultMaxBlockSize)
	}
	return nil
}

const (
	// writeBuffer is the size at which a sink writes its buffer.
	writeBuffer = 256 << 10

	// maxUnwritten is the size of data blocks before compression at which a sink writes its buffer too, so that a
	// full disk is noticed soon, however well the blocks compress.
	maxUnwritten = 2 * writeBuffer

	// maxSinkBuffer is the largest buffer that a sink keeps. A larger one has held a huge value.
	maxSinkBuffer = 16 * writeBuffer
)

// A sink buffers the table in buf, to write it in large pieces.
type sink struct {
	w   io.Writer
	buf []byte
	raw int   // size of the data blocks in buf, before compression
	err error // of the first failed write, after which nothing is written
}

// sinks has the sinks of closed Writers, with their buffers.
var sinks = sync.Pool{New: func() any { return new(sink) }}

// release leaves the sink to another Writer.
func (s *sink) release() {
	if cap(s.buf) <= maxSinkBuffer {
		*s = sink{buf: s.buf[:0]}
		sinks.Put(s)
	}
}

// flushIfFull writes buf if it is large enough.
func (s *sink) flushIfFull() error {
	if len(s.buf) >= writeBuffer || s.raw >= maxUnwritten {
		s.flush()
	}
	return s.err
}

// flush writes buf.
func (s *sink) flush() {
	s.writeDirect(s.buf)
	s.raw = 0
	if s.buf = s.buf[:0]; cap(s.buf) > maxSinkBuffer {
		s.buf = nil
	}
}

// writeDirect writes p without buffering it. If w writes fewer bytes, that is an error even if w returns none.
func (s *sink) writeDirect(p []byte) {
	if s.err != nil {
		return
	}
	n, err := s.w.Write(p)
	if n != len(p) && err == nil {
		err = io.ErrShortWrite
	}
	s.err = wrap(err)
}

// write writes p. If p is large, it does not copy it to the buffer. The caller calls flushIfFull.
func (s *sink) write(p []byte) {
	if len(p) < writeBuffer {
		s.buf = append(s.buf, p...)
		return
	}
	s.flush()
	s.writeDirect(p)
}
