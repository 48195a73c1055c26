package table

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/internal/wire"
)

// startDataBlock starts a data block. If the block is stored as it is built, or if a
// job encodes it, it is built right there.
func (w *Writer) startDataBlock() {
	w.prefixInBlock = false
	switch {
	case w.queue != nil:
		w.data.ResetTo(w.queue.filling.raw)
	case w.o.Compression.ID() == NoCompression.ID():
		w.data.ResetTo(w.out.buf)
	default:
		w.data.Reset()
	}
}

// finishDataBlock ends the data block and starts the next. Its index entry waits for the next
// key, since the separator must be < that.
func (w *Writer) finishDataBlock() (err error) {
	if err := checkSize(DataBlock, uint64(w.data.Size())); err != nil {
		return err
	}
	w.blocks++
	w.pendingIndexEntry = true
	if raw := w.data.Finish(); w.queue != nil {
		w.queue.filling.addBlock(raw)
	} else {
		err = w.writeDataBlock(raw)
	}
	w.startDataBlock()
	return err
}

// writeDataBlock writes the data block: raw, or what raw ends with behind out.buf, if
// it was built there.
func (w *Writer) writeDataBlock(raw []byte) error {
	start := len(w.out.buf)
	if w.o.Compression.ID() == NoCompression.ID() {
		w.out.buf = appendTrailer(raw, start, NoCompression.ID())
	} else {
		w.out.buf = w.encoder.encode(w.out.buf, raw)
		w.out.raw += len(raw)
	}
	w.addToDigest(w.out.buf)
	w.pendingHandle = w.nextHandle(len(w.out.buf) - start)
	if err := w.out.flushIfFull(); err != nil {
		return err
	}
	return w.startFilterBlock()
}

// nextHandle returns the handle of the next block, which takes that many bytes with its
// trailer, and moves offset behind it.
func (w *Writer) nextHandle(stored int) tablefile.Handle {
	h := tablefile.Handle{Offset: w.offset, Length: uint64(stored) - format.TrailerLen}
	w.offset = h.End()
	return h
}

// startFilterBlock starts the filter keys of the data block at w.offset.
func (w *Writer) startFilterBlock() error {
	if w.filter == nil {
		return nil
	}
	// First the offset array alone, before StartBlock allocates it.
	if err := checkSize(FilterBlock, 4*(w.offset>>w.o.FilterBaseLg)); err != nil {
		return err
	}
	if err := w.filter.StartBlock(w.offset); err != nil {
		return err
	}
	return checkSize(FilterBlock, w.filter.Size())
}

// flushPendingIndexEntry gives the last data block its index entry, which is pending. The
// separator is ≥ the block's last key and < key.
func (w *Writer) flushPendingIndexEntry(key []byte) error {
	c, last := w.o.Comparer, w.data.LastKey()
	if c.Compare(last, key) >= 0 {
		return w.outOfOrder(key)
	}
	s := c.Separator(w.separator[:0], last, key)
	if s != nil && (c.Compare(last, s) > 0 || c.Compare(s, key) >= 0) {
		return fmt.Errorf("table: comparer %q: separator %s, want it ≥ %s and < %s",
			c.Name(), wire.Quote(s), wire.Quote(last), wire.Quote(key))
	}
	return w.setSeparator(s)
}

// flushLastIndexEntry does the same after the last key: the separator only has to be
// ≥ that.
func (w *Writer) flushLastIndexEntry() error {
	if !w.pendingIndexEntry {
		return nil
	}
	c, last := w.o.Comparer, w.data.LastKey()
	s := c.Successor(w.separator[:0], last)
	if s != nil && c.Compare(last, s) > 0 {
		return fmt.Errorf("table: comparer %q: successor %s, want it ≥ %s", c.Name(), wire.Quote(s), wire.Quote(last))
	}
	return w.setSeparator(s)
}

// setSeparator gives the last data block the separator s, or its last key if s is nil.
func (w *Writer) setSeparator(s []byte) error {
	w.pendingIndexEntry = false
	if s == nil {
		s = w.data.LastKey()
	} else {
		w.separator = append(w.separator[:0], s...) // s can be a part of the caller's key
		s = w.separator
	}
	if w.queue == nil {
		return w.addIndexEntry(s, w.pendingHandle)
	}
	w.queue.filling.setSeparator(s)
	if !w.queue.full() {
		return nil
	}
	w.queue.submit()
	w.startDataBlock() // in the next job
	return w.writeJobs(w.queue.nextDue)
}

// addIndexEntry adds the index entry of the data block at h.
func (w *Writer) addIndexEntry(separator []byte, h tablefile.Handle) error {
	w.encodedHandle = h.Append(w.encodedHandle[:0])
	if err := w.index.Append(separator, w.encodedHandle); err != nil {
		return err
	}
	return checkSize(IndexBlock, uint64(w.index.Size()))
}

// writeJobs writes the jobs that next returns, until it returns nil.
func (w *Writer) writeJobs(next func() *encodeJob) error {
	for job := next(); job != nil; job = next() {
		if err := w.writeJob(job); err != nil {
			return err
		}
		w.queue.recycle(job)
	}
	return nil
}

// writeJob writes the blocks of a job. Only now is it known where they start, which
// index and filter need.
func (w *Writer) writeJob(job *encodeJob) error {
	for _, b := range job.blocks {
		if w.filter != nil {
			job.writeFilterKeys(w.filter, b)
		}
		encoded := b.encoded.of(job.encoded)
		w.addToDigest(encoded)
		h := w.nextHandle(len(encoded))
		if err := w.addIndexEntry(b.separator.of(job.separators), h); err != nil {
			return err
		}
		w.out.raw += b.raw.end - b.raw.start
		if err := w.out.write(encoded); err != nil {
			return err
		}
		if err := w.startFilterBlock(); err != nil {
			return err
		}
	}
	return nil
}

// checkSize returns an error if a Reader with default options would refuse the block.
func checkSize(kind BlockKind, size uint64) error {
	if size > defaultMaxBlockSize {
		return fmt.Errorf("table: %s of %d bytes, want at most %d", kind, size, defaultMaxBlockSize)
	}
	return nil
}
