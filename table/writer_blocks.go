package table

import (
	"fmt"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// startDataBlock starts a data block: where it is to be written, if it is stored
// as it is built.
func (w *Writer) startDataBlock() {
	switch {
	case w.batches != nil:
		w.data.ResetTo(w.batches.raw())
	case w.o.Compression.ID() == NoCompression.ID():
		w.data.ResetTo(w.out.buf)
	default:
		w.data.Reset()
	}
}

// finishDataBlock ends the data block and starts the next. Its index entry waits
// for the next key, which bounds the separator.
func (w *Writer) finishDataBlock() error {
	if err := checkSize(DataBlock, uint64(w.data.Size())); err != nil {
		return err
	}
	w.blocks++
	var err error
	if raw := w.data.Finish(); w.batches != nil {
		err = w.finishBatched(raw)
	} else {
		err = w.finishEncoded(raw)
	}
	w.startDataBlock()
	return err
}

// finishEncoded writes the data block: raw, or what raw ends with behind out.buf,
// if it was built there.
func (w *Writer) finishEncoded(raw []byte) error {
	before := len(w.out.buf)
	if w.o.Compression.ID() == NoCompression.ID() {
		w.out.buf = appendTrailer(raw, before, NoCompression.ID())
	} else {
		w.out.buf = w.encoder.encode(w.out.buf, raw)
	}
	w.pending, w.waiting = Handle{w.offset, uint64(len(w.out.buf)-before) - format.TrailerLen}, true
	if err := w.wrote(len(w.out.buf) - before); err != nil {
		return err
	}
	return w.placed()
}

// wrote says that n bytes were added to out.buf.
func (w *Writer) wrote(n int) error {
	w.offset += uint64(n)
	return w.out.settle()
}

// placed goes on with index and filter behind a data block whose place in the
// file is known.
func (w *Writer) placed() error {
	if err := checkSize(IndexBlock, uint64(w.index.Size())); err != nil {
		return err
	}
	if w.filter == nil {
		return nil
	}
	// Its offset array alone, before StartBlock makes it, then its filters too.
	if err := checkSize(FilterBlock, 4*(w.offset>>w.o.FilterBaseLg)); err != nil {
		return err
	}
	if err := w.filter.StartBlock(w.offset); err != nil {
		return err
	}
	return checkSize(FilterBlock, w.filter.Size())
}

// finishBatched has the data block, which raw ends with, encoded, and writes
// what is ready by now.
func (w *Writer) finishBatched(raw []byte) error {
	w.waiting = true
	w.batches.add(raw)
	for b := w.batches.due(); b != nil; b = w.batches.due() {
		if err := w.writeBatch(b); err != nil {
			return err
		}
	}
	return nil
}

// writeBatch writes the blocks of a batch, now that it is known where they start.
func (w *Writer) writeBatch(b *batch) error {
	var stored, separator, keys, key int // where the block's start
	for i, x := range b.blocks {
		for _, end := range b.heldEnd[keys:x.keys] {
			w.filter.AddHash(b.held[key:end])
			key = end
		}
		contents := b.stored[stored:b.ends[i]]
		w.pending = Handle{w.offset, uint64(len(contents)) - format.TrailerLen}
		if err := w.addIndex(b.separators[separator:b.separatorEnds[i]]); err != nil {
			return err
		}
		w.offset += uint64(len(contents))
		if err := w.out.add(contents); err != nil {
			return err
		}
		if err := w.placed(); err != nil {
			return err
		}
		stored, separator, keys = b.ends[i], b.separatorEnds[i], x.keys
	}
	w.batches.release(b)
	return nil
}

// indexPending gives the last data block its index entry, if that is still to be
// done, with a separator below key.
func (w *Writer) indexPending(key []byte) error {
	if !w.waiting {
		return nil
	}
	c, last := w.o.Comparer, w.data.LastKey()
	s := c.Separator(w.separator[:0], last, key)
	if s != nil && (c.Compare(last, s) > 0 || c.Compare(s, key) >= 0) {
		return fmt.Errorf("table: comparer %q: separator %s, want it from %s to below %s",
			c.Name(), wire.Quote(s), wire.Quote(last), wire.Quote(key))
	}
	return w.separate(s)
}

// indexLast gives the last data block its index entry, with any separator.
func (w *Writer) indexLast() error {
	if !w.waiting {
		return nil
	}
	c, last := w.o.Comparer, w.data.LastKey()
	s := c.Successor(w.separator[:0], last)
	if s != nil && c.Compare(last, s) > 0 {
		return fmt.Errorf("table: comparer %q: successor %s, want at least %s", c.Name(), wire.Quote(s), wire.Quote(last))
	}
	return w.separate(s)
}

// separate gives the last data block separator s, or its last key if that is nil.
func (w *Writer) separate(s []byte) error {
	w.waiting = false
	if s == nil {
		s = w.data.LastKey()
	} else {
		w.separator = s
	}
	if w.batches != nil {
		w.batches.setSeparator(s)
		return nil
	}
	return w.addIndex(s)
}

// addIndex adds the index entry of the pending block.
func (w *Writer) addIndex(separator []byte) error {
	w.encoded = w.pending.append(w.encoded[:0])
	return w.index.Append(separator, w.encoded)
}

// finish writes what follows the data blocks.
func (w *Writer) finish() error {
	if err := w.finishData(); err != nil {
		return err
	}
	w.dataEnd = w.offset
	metaindex, err := w.finishMetaindex()
	if err != nil {
		return err
	}
	index, err := w.writeIndex()
	if err != nil {
		return err
	}
	w.out.buf = footer{metaindex, index}.append(w.out.buf)
	w.offset += format.FooterLen
	return w.out.flush()
}

// finishData writes the data blocks that are left.
func (w *Writer) finishData() error {
	if w.data.Entries() > 0 {
		if err := w.finishDataBlock(); err != nil {
			return err
		}
	}
	if err := w.indexLast(); err != nil || w.batches == nil {
		return err
	}
	w.batches.start()
	for len(w.batches.queue) > 0 {
		if err := w.writeBatch(w.batches.next()); err != nil {
			return err
		}
	}
	w.batches.close()
	return nil
}

// finishMetaindex writes the filter block, and the metaindex that lists it.
// Both stay uncompressed: not every engine reads them otherwise.
func (w *Writer) finishMetaindex() (Handle, error) {
	meta, err := block.NewWriter(w.o.RestartInterval)
	if err != nil {
		return Handle{}, err
	}
	if w.filter != nil {
		contents, err := w.filter.Finish()
		if err != nil {
			return Handle{}, err
		}
		if err := w.writeFilter(meta, blockFilters, w.o.FilterPolicy, contents); err != nil {
			return Handle{}, err
		}
	}
	if w.inTableFilter > 0 {
		contents, err := w.tableFilter.Generate()
		if err != nil {
			return Handle{}, fmt.Errorf("table: filter policy %q: %w", w.o.TableFilterPolicy.Name(), err)
		}
		if err := w.writeFilter(meta, tableFilters, w.o.TableFilterPolicy, contents); err != nil {
			return Handle{}, err
		}
	}
	if err := w.writeProperties(meta); err != nil {
		return Handle{}, err
	}
	return w.writeRaw(meta.Finish(), MetaindexBlock)
}

// writeFilter writes a filter, and lists it in the metaindex.
func (w *Writer) writeFilter(meta *block.Writer, kind filterKind, p namedPolicy, contents []byte) error {
	if len(contents) == 0 {
		return fmt.Errorf("table: policy %q wrote a filter of no bytes", p.Name())
	}
	h, err := w.writeRaw(contents, kind.block)
	if err != nil {
		return err
	}
	w.filterSize += h.Length
	for _, name := range filterNames(p) {
		if err := meta.Append([]byte(kind.prefix+name), h.append(nil)); err != nil {
			return err
		}
	}
	return nil
}

// writeIndex writes the index block.
func (w *Writer) writeIndex() (Handle, error) {
	raw := w.index.Finish()
	if err := checkSize(IndexBlock, uint64(len(raw))); err != nil {
		return Handle{}, err
	}
	before := len(w.out.buf)
	w.out.buf = w.encoder.encode(w.out.buf, raw)
	h := Handle{w.offset, uint64(len(w.out.buf)-before) - format.TrailerLen}
	return h, w.wrote(len(w.out.buf) - before)
}

// writeRaw writes a block uncompressed.
func (w *Writer) writeRaw(contents []byte, kind BlockKind) (Handle, error) {
	if err := checkSize(kind, uint64(len(contents))); err != nil {
		return Handle{}, err
	}
	h := Handle{w.offset, uint64(len(contents))}
	w.offset += h.Length + format.TrailerLen
	return h, w.out.writeRaw(contents)
}

// checkSize holds a block to the size that a Reader takes by default.
func checkSize(kind BlockKind, size uint64) error {
	if size > defaultMaxBlockSize {
		return fmt.Errorf("table: %s of %d bytes, want at most %d", kind, size, defaultMaxBlockSize)
	}
	return nil
}
