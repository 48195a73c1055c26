package table

import (
	"fmt"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
)

// counts are what the properties say of the entries.
type counts struct {
	keys, values uint64 // bytes
	deletions    uint64
}

// count counts an entry, whose key is internal or not.
func (c *counts) count(key, value []byte, internal bool) {
	c.keys += uint64(len(key))
	c.values += uint64(len(value))
	if k, ok := ParseInternalKey(key); internal && ok && k.Kind == KindDelete {
		c.deletions++
	}
}

// properties returns those of the table, all but the index of which is written.
func (w *Writer) properties() *Properties {
	o := &w.o
	p := &Properties{
		Entries:         uint64(w.entries),
		Deletions:       w.counts.deletions,
		RawKeySize:      w.counts.keys,
		RawValueSize:    w.counts.values,
		DataBlocks:      uint64(w.blocks),
		DataSize:        w.dataEnd - format.TrailerLen*uint64(w.blocks),
		IndexSize:       uint64(w.index.Size()),
		FilterSize:      w.filterSize,
		FilterEntries:   uint64(w.inTableFilter),
		Comparer:        userOrder(o.Comparer),
		Compression:     compressionName(o.Compression),
		BlockSize:       uint64(o.BlockSize),
		RestartInterval: uint64(o.RestartInterval),
	}
	if o.FilterPolicy != nil {
		p.FilterPolicy, p.FilterBaseLg = o.FilterPolicy.Name(), uint64(o.FilterBaseLg)
	}
	if o.TableFilterPolicy != nil {
		p.FilterPolicy = o.TableFilterPolicy.Name()
	}
	return p
}

// userOrder returns the name of the order of keys or, if they are internal keys, of
// the users' keys.
func userOrder(c Comparer) string {
	if internal, ok := c.(internalComparer); ok {
		return internal.user.Name()
	}
	return c.Name()
}

// compressionName returns RocksDB's name for a codec.
func compressionName(c Codec) string {
	switch c.ID() {
	case NoCompression.ID():
		return "NoCompression"
	case Snappy.ID():
		return "Snappy"
	}
	return fmt.Sprintf("id %d", c.ID())
}

// writeProperties writes the properties, if they are wanted, and lists them in the
// metaindex.
func (w *Writer) writeProperties(meta *block.Writer) error {
	if !w.o.Properties {
		return nil
	}
	contents, err := w.properties().encode()
	if err != nil {
		return err
	}
	h, err := w.writeRaw(contents, PropertiesBlock)
	if err != nil {
		return err
	}
	return meta.Append([]byte(format.PropertiesName), h.append(nil))
}
