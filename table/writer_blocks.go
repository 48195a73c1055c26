package table

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/crc"
	"github.com/sievetable/sievetable/internal/wire"
)

// finishDataBlock writes the data block. Its index entry waits for the next
// key, which bounds the separator.
func (w *Writer) finishDataBlock() error {
	h, err := w.writeBlock(w.data, partData)
	if err != nil {
		return err
	}
	w.pending = h
	w.blocks++
	if err := checkSize(partIndex, uint64(w.index.Size())); err != nil {
		return err
	}
	if w.filter == nil {
		return nil
	}
	// Its offset array alone, before StartBlock makes it, then its filters too.
	if err := checkSize(partFilter, 4*(w.offset>>w.o.FilterBaseLg)); err != nil {
		return err
	}
	if err := w.filter.StartBlock(w.offset); err != nil {
		return err
	}
	return checkSize(partFilter, w.filter.Size())
}

// indexPending writes the index entry of the last data block, if that is still
// to be done, with a separator below key.
func (w *Writer) indexPending(key []byte) error {
	if w.pending.length == 0 {
		return nil
	}
	c, last := w.o.Comparer, w.data.LastKey()
	s := c.Separator(w.separator[:0], last, key)
	if s != nil && (c.Compare(last, s) > 0 || c.Compare(s, key) >= 0) {
		return fmt.Errorf("table: comparer %q: separator %s, want it from %s to below %s",
			c.Name(), wire.Quote(s), wire.Quote(last), wire.Quote(key))
	}
	return w.addIndex(s)
}

// indexLast writes the last data block's index entry, with any separator.
func (w *Writer) indexLast() error {
	if w.pending.length == 0 {
		return nil
	}
	c, last := w.o.Comparer, w.data.LastKey()
	s := c.Successor(w.separator[:0], last)
	if s != nil && c.Compare(last, s) > 0 {
		return fmt.Errorf("table: comparer %q: successor %s, want at least %s", c.Name(), wire.Quote(s), wire.Quote(last))
	}
	return w.addIndex(s)
}

// addIndex writes the pending index entry under separator s, or the block's
// last key if that is nil.
func (w *Writer) addIndex(s []byte) error {
	if s == nil {
		s = w.data.LastKey()
	} else {
		w.separator = s
	}
	w.encoded = w.pending.append(w.encoded[:0])
	w.pending = handle{}
	return w.index.Append(s, w.encoded)
}

// finish writes what follows the data blocks.
func (w *Writer) finish() error {
	if w.data.Entries() > 0 {
		if err := w.finishDataBlock(); err != nil {
			return err
		}
	}
	if err := w.indexLast(); err != nil {
		return err
	}
	metaindex, err := w.finishMetaindex()
	if err != nil {
		return err
	}
	index, err := w.writeBlock(w.index, partIndex)
	if err != nil {
		return err
	}
	if err := w.write(footer{metaindex, index}.append(w.encoded[:0])); err != nil {
		return err
	}
	return wrap(w.out.Flush())
}

// finishMetaindex writes the filter block, and the metaindex that lists it.
// Both stay uncompressed: not every engine reads them otherwise.
func (w *Writer) finishMetaindex() (handle, error) {
	meta, err := block.NewWriter(w.o.RestartInterval)
	if err != nil {
		return handle{}, err
	}
	if w.filter != nil {
		contents, err := w.filter.Finish()
		if err != nil {
			return handle{}, err
		}
		h, err := w.writeRaw(contents, partFilter)
		if err != nil {
			return handle{}, err
		}
		for _, name := range filterNames(w.o.FilterPolicy) {
			if err := meta.Append([]byte(filterPrefix+name), h.append(nil)); err != nil {
				return handle{}, err
			}
		}
	}
	return w.writeRaw(meta.Finish(), partMetaindex)
}

// filterPrefix stands before a policy's name in the metaindex.
const filterPrefix = "filter."

// filterNames returns the names that p's filters go by, ascending, each once.
func filterNames(p filter.Policy) []string {
	names := []string{p.Name()}
	if a, ok := p.(filter.Aliaser); ok {
		names = append(names, a.Aliases()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// writeBlock completes b's block, writes it, compressed if that makes it
// smaller by more than an eighth, and resets b.
func (w *Writer) writeBlock(b *block.Writer, part string) (handle, error) {
	defer b.Reset()
	raw := b.Finish()
	if err := checkSize(part, uint64(len(raw))); err != nil {
		return handle{}, err
	}
	if id := w.o.Compression.ID(); id != 0 {
		w.compressed = w.o.Compression.Encode(w.compressed[:0], raw)
		if n := len(w.compressed); n > 0 && n < len(raw)-len(raw)/8 {
			return w.writeStored(w.compressed, id)
		}
	}
	return w.writeStored(raw, 0)
}

// writeRaw writes a block uncompressed.
func (w *Writer) writeRaw(contents []byte, part string) (handle, error) {
	if err := checkSize(part, uint64(len(contents))); err != nil {
		return handle{}, err
	}
	return w.writeStored(contents, 0)
}

// checkSize holds a block to the size that a Reader takes by default.
func checkSize(part string, size uint64) error {
	if size > defaultMaxBlockSize {
		return fmt.Errorf("table: %s of %d bytes, want at most %d", part, size, defaultMaxBlockSize)
	}
	return nil
}

// writeStored writes a block's stored bytes and its trailer.
func (w *Writer) writeStored(stored []byte, compression byte) (handle, error) {
	h := handle{w.offset, uint64(len(stored))}
	if err := w.write(stored); err != nil {
		return h, err
	}
	trailer := append(w.encoded[:0], compression)
	w.encoded = binary.LittleEndian.AppendUint32(trailer, crc.Block(stored, compression))
	return h, w.write(w.encoded)
}

func (w *Writer) write(p []byte) error {
	n, err := w.out.Write(p)
	w.offset += uint64(n)
	return wrap(err)
}
