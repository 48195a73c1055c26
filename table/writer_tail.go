package table

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// finish writes the remaining data blocks, and then filters, properties, metaindex, index and footer.
func (w *Writer) finish() error {
	if err := w.finishData(); err != nil {
		return err
	}
	dataEnd := w.offset
	w.properties.DataSize = dataEnd - format.TrailerLen*w.properties.DataBlocks
	metaindex, err := w.writeMetaindex()
	if err != nil {
		return err
	}
	start := len(w.out.buf)
	w.out.buf = w.encoder.encode(w.out.buf, w.index.Finish())
	w.tail = append(w.tail, lastTrailer(w.out.buf)...)
	f := tablefile.Footer{Metaindex: metaindex, Index: w.nextHandle(len(w.out.buf) - start)}
	w.out.buf = f.Append(w.out.buf)
	w.offset += format.FooterLen
	w.tailSize = int64(w.offset - dataEnd - w.pages)
	if w.digest != nil {
		w.tail = w.digest.Sum(w.tail)
	}
	w.tailSum = sha256.Sum256(f.Append(w.tail))
	w.out.flush()
	return w.out.err
}

// finishData writes the remaining data blocks.
func (w *Writer) finishData() error {
	if w.data.Entries() > 0 {
		if err := w.finishDataBlock(); err != nil {
			return err
		}
	}
	if err := w.flushLastIndexEntry(); err != nil || w.queue == nil {
		return err
	}
	w.queue.submit()
	return w.writeJobs(true)
}

// A listedBlock is a written meta block, under one of its names in the metaindex.
type listedBlock struct {
	name string
	tablefile.Handle
	trailer
}

// writeMetaindex writes the meta blocks, and the metaindex that lists them. All stay uncompressed, since not every
// engine reads compressed ones.
func (w *Writer) writeMetaindex() (tablefile.Handle, error) {
	filters := []func() error{w.writeBlockFilter, w.writeTableFilter}
	if byPage(w.o.TableFilterPolicy) != nil {
		slices.Reverse(filters) // its pages are then before the tail
	}
	for _, write := range append(filters, w.writeProperties, w.writeDigest, w.writeExceptions) {
		if err := write(); err != nil {
			return tablefile.Handle{}, err
		}
	}
	return w.listMeta()
}

// listMeta writes the metaindex of the meta blocks written so far.
func (w *Writer) listMeta() (tablefile.Handle, error) {
	slices.SortFunc(w.meta, func(a, b listedBlock) int { return cmp.Compare(a.name, b.name) })
	contents, err := encodeBlock(w.o.RestartInterval, len(w.meta), func(i int) (key, value []byte) {
		b := w.meta[i]
		w.tail = append(w.tail, b.trailer[:]...)
		return []byte(b.name), b.Append(nil)
	})
	if err != nil {
		return tablefile.Handle{}, err
	}
	h, t, err := w.writeRaw(tablefile.MetaindexBlock, contents)
	w.tail = append(w.tail, t[:]...)
	return h, err
}

// encodeBlock returns the contents of a block of n entries, in bytewise order.
func encodeBlock(restartInterval, n int, entry func(i int) (key, value []byte)) ([]byte, error) {
	b, err := block.NewWriter(restartInterval, block.Order{})
	for i := 0; i < n && err == nil; i++ {
		err = b.Append(entry(i))
	}
	if err != nil {
		return nil, err
	}
	return b.Finish(), nil
}

// writeMeta writes a meta block, which the metaindex will list under these names.
func (w *Writer) writeMeta(kind layout.BlockKind, contents []byte, names ...string) error {
	h, t, err := w.writeRaw(kind, contents)
	for _, name := range names {
		w.meta = append(w.meta, listedBlock{name, h, t})
	}
	return err
}

// writeRaw writes a block uncompressed.
func (w *Writer) writeRaw(kind layout.BlockKind, contents []byte) (tablefile.Handle, trailer, error) {
	if err := checkSize(kind, uint64(len(contents))); err != nil {
		return tablefile.Handle{}, trailer{}, err
	}
	t := trailerOf(contents, NoCompression.ID())
	w.out.write(contents)
	w.out.buf = append(w.out.buf, t[:]...)
	return w.nextHandle(len(contents) + len(t)), t, w.out.flushIfFull()
}

// writeProperties writes the properties, if Properties is set. All blocks except the index must have been written.
func (w *Writer) writeProperties() error {
	o := &w.o
	if !o.Properties {
		return nil
	}
	p, names := w.properties, []string{format.PropertiesName}
	p.IndexSize = uint64(w.index.Size())
	p.Comparer, p.Compression = userComparerName(o.Comparer), compressionName(o.Compression)
	p.BlockSize, p.RestartInterval = uint64(o.BlockSize), uint64(o.RestartInterval)
	if o.FilterPolicy != nil {
		p.FilterPolicy, p.FilterBaseLg = o.FilterPolicy.Name(), uint64(o.FilterBaseLg)
	}
	if o.TableFilterPolicy != nil {
		p.FilterPolicy = o.TableFilterPolicy.Name()
	}
	if o.FilterPrefix != nil {
		p.FilterPrefix = o.FilterPrefix.Name()
		names = append(names, format.PrefixName) // so that a Reader reads them when it opens the table
	}
	if o.FilterOnly {
		p.FilterOnly, p.Entries = true, 0
	}
	if w.external && p.Entries > 0 {
		p.Other = map[string][]byte{
			"rocksdb.external_sst_file.version":      {2, 0, 0, 0},
			"rocksdb.external_sst_file.global_seqno": make([]byte, 8),
		}
	}
	contents, err := encodeProperties(&p)
	if err != nil {
		return err
	}
	return w.writeMeta(tablefile.PropertiesBlock, contents, names...)
}

// writeDigest writes the digest block, if DataDigest is set.
func (w *Writer) writeDigest() error {
	if w.digest == nil {
		return nil
	}
	return w.writeMeta(tablefile.DigestBlock, w.digest.Sum(nil), format.DigestName)
}

// writeExceptions writes the exceptions of the table filter. Even without any, Readers learn from the block that the
// filter must not be narrowed, which could let keys in Never pass.
func (w *Writer) writeExceptions() error {
	if w.never == nil || w.properties.FilterEntries == 0 {
		return nil
	}
	keys := w.never.exceptions
	contents, err := encodeBlock(block.DefaultRestartInterval, len(keys), func(i int) (key, value []byte) {
		return keys[i], nil
	})
	if err != nil {
		return err
	}
	return w.writeMeta(tablefile.NeverBlock, contents, format.NeverName)
}
