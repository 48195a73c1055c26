package table

import (
	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// finish writes the data blocks that are left, and what follows them: filters,
// properties, metaindex, index and footer.
func (w *Writer) finish() error {
	if err := w.finishData(); err != nil {
		return err
	}
	w.dataEnd = w.offset
	metaindex, err := w.writeMetaindex()
	if err != nil {
		return err
	}
	index, err := w.writeIndex()
	if err != nil {
		return err
	}
	f := tablefile.Footer{Metaindex: metaindex, Index: index}
	w.out.buf = f.Append(w.out.buf)
	w.finishTailSum(f)
	w.offset += format.FooterLen
	w.tailSize = int64(w.offset - w.dataEnd)
	return w.out.flush()
}

// finishData writes the data blocks that are left.
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
	return w.writeJobs(w.queue.next)
}

// writeMetaindex writes the filters and the properties, and the metaindex that lists
// them. All stay uncompressed: not every engine reads them otherwise.
func (w *Writer) writeMetaindex() (tablefile.Handle, error) {
	meta, err := block.NewWriter(w.o.RestartInterval, block.Order{})
	if err != nil {
		return tablefile.Handle{}, err
	}
	if err := w.writeBlockFilter(meta); err != nil {
		return tablefile.Handle{}, err
	}
	if err := w.writeTableFilter(meta); err != nil {
		return tablefile.Handle{}, err
	}
	properties, err := w.writeProperties(meta)
	if err != nil {
		return tablefile.Handle{}, err
	}
	if err := w.writeDigest(meta); err != nil {
		return tablefile.Handle{}, err
	}
	if err := w.writeNever(meta); err != nil {
		return tablefile.Handle{}, err
	}
	if w.o.FilterPrefix != nil { // a second name, so that a Reader reads them when it opens the table
		if err := w.list(meta, format.PrefixName, properties); err != nil {
			return tablefile.Handle{}, err
		}
	}
	b, err := w.writeRaw(meta.Finish(), MetaindexBlock)
	w.tail = append(w.tail, b.trailer[:]...)
	return b.Handle, err
}

// A storedBlock is a block that is written.
type storedBlock struct {
	tablefile.Handle
	trailer
}

// list lists a meta block in the metaindex.
func (w *Writer) list(meta *block.Writer, name string, b storedBlock) error {
	w.tail = append(w.tail, b.trailer[:]...)
	return meta.Append([]byte(name), b.Append(nil))
}

// writeProperties writes the properties, if Properties is set, and lists them in the
// metaindex.
func (w *Writer) writeProperties(meta *block.Writer) (b storedBlock, err error) {
	if !w.o.Properties {
		return b, nil
	}
	contents, err := w.properties().encode()
	if err != nil {
		return b, err
	}
	if b, err = w.writeRaw(contents, PropertiesBlock); err != nil {
		return b, err
	}
	return b, w.list(meta, format.PropertiesName, b)
}

// properties returns the table's properties. All but the index must be written.
func (w *Writer) properties() *Properties {
	o := &w.o
	p := &Properties{
		Entries:         uint64(w.entries),
		FilterOnly:      w.o.FilterOnly,
		Deletions:       w.counts.deletions,
		RawKeySize:      w.counts.keyBytes,
		RawValueSize:    w.counts.valueBytes,
		DataBlocks:      uint64(w.blocks),
		DataSize:        w.dataEnd - format.TrailerLen*uint64(w.blocks),
		IndexSize:       uint64(w.index.Size()),
		FilterSize:      w.filterSize,
		FilterEntries:   w.tableFilterKeys,
		Comparer:        userComparerName(o.Comparer),
		Compression:     compressionName(o.Compression),
		BlockSize:       uint64(o.BlockSize),
		RestartInterval: uint64(o.RestartInterval),
	}
	if o.FilterPolicy != nil {
		p.FilterPolicy, p.FilterBaseLg = o.FilterPolicy.Name(), uint64(o.FilterBaseLg)
	}
	if o.FilterPrefix != nil {
		p.FilterPrefix = o.FilterPrefix.Name()
	}
	if o.TableFilterPolicy != nil {
		p.FilterPolicy = o.TableFilterPolicy.Name()
	}
	if o.FilterOnly {
		p.Entries = 0
	}
	if w.external && w.entries > 0 {
		p.Other = externalFile()
	}
	return p
}

// writeIndex writes the index block.
func (w *Writer) writeIndex() (tablefile.Handle, error) {
	start := len(w.out.buf)
	w.out.buf = w.encoder.encode(w.out.buf, w.index.Finish())
	w.tail = append(w.tail, lastTrailer(w.out.buf)...)
	return w.nextHandle(len(w.out.buf) - start), w.out.flushIfFull()
}

// writeRaw writes a block uncompressed.
func (w *Writer) writeRaw(contents []byte, kind BlockKind) (storedBlock, error) {
	if err := checkSize(kind, uint64(len(contents))); err != nil {
		return storedBlock{}, err
	}
	t, err := w.out.writeRaw(contents)
	return storedBlock{w.nextHandle(len(contents) + format.TrailerLen), t}, err
}
