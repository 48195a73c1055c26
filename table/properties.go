package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/internal/wire"
)

// Properties describe a table: its contents, and the options that it was written with. A
// table has them if it was written with WriterOptions.Properties, or by RocksDB or Pebble,
// whose format this is. [Reader.Properties] reads them. A field is zero if the table does
// not have the property. Nothing checks that the properties are true of the table.
type Properties struct {
	Entries      uint64 // number of entries, including deletions
	Deletions    uint64 // number of entries of KindDelete; 0 unless the keys are internal keys
	RawKeySize   uint64 // bytes of all keys, uncompressed and whole
	RawValueSize uint64 // bytes of all values, uncompressed
	DataBlocks   uint64 // number of data blocks
	DataSize     uint64 // bytes of the data blocks in the file, without trailers
	IndexSize    uint64 // bytes of the index block, uncompressed
	FilterSize   uint64 // bytes of the filter blocks in the file, without trailers

	// FilterEntries is the number of keys in the filter of the whole table, and of prefixes.
	FilterEntries uint64

	// FilterPolicy is the name of the filter's policy. If there are two filters, it is that
	// of the filter of the whole table.
	FilterPolicy string

	// FilterPrefix is the name of the WriterOption: of the Prefixer whose prefixes the filters hold.
	FilterPrefix string

	// Comparer is the name of the Comparer. For internal keys, it is that of the user keys.
	Comparer string

	// Compression is "NoCompression", "Snappy", or another engine's name for a codec.
	Compression string

	// These are the WriterOptions of the same names.
	BlockSize       uint64
	RestartInterval uint64
	FilterBaseLg    uint64

	// FilterOnly is the WriterOption: the table has a filter of FilterEntries keys, and no
	// entries.
	FilterOnly bool

	// Other has all other properties, by name.
	Other map[string][]byte
}

// maxProperties bounds how many properties are read. Engines write far fewer.
const maxProperties = 1000

// entryCounts count the entries for the properties.
type entryCounts struct{ keyBytes, valueBytes, deletions uint64 }

// add counts an entry. internal says whether its key is an internal key.
func (c *entryCounts) add(key, value []byte, internal bool) {
	c.keyBytes += uint64(len(key))
	c.valueBytes += uint64(len(value))
	if k, ok := ParseInternalKey(key); internal && ok && k.Kind == KindDelete {
		c.deletions++
	}
}

// userComparerName returns the name of c. If c is an InternalComparer, it returns the name
// of the Comparer of user keys.
func userComparerName(c Comparer) string {
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

// numbers returns the fields for the properties that are stored as varints, by name.
func (p *Properties) numbers() map[string]*uint64 {
	return map[string]*uint64{
		"rocksdb.num.entries":         &p.Entries,
		"rocksdb.deleted.keys":        &p.Deletions,
		"rocksdb.raw.key.size":        &p.RawKeySize,
		"rocksdb.raw.value.size":      &p.RawValueSize,
		"rocksdb.num.data.blocks":     &p.DataBlocks,
		"rocksdb.data.size":           &p.DataSize,
		"rocksdb.index.size":          &p.IndexSize,
		"rocksdb.filter.size":         &p.FilterSize,
		"rocksdb.num.filter_entries":  &p.FilterEntries,
		"sievetable.block.size":       &p.BlockSize,
		"sievetable.restart.interval": &p.RestartInterval,
		"sievetable.filter.base.lg":   &p.FilterBaseLg,
	}
}

// texts returns the fields for the properties that are stored as text, by name.
func (p *Properties) texts() map[string]*string {
	return map[string]*string{
		"rocksdb.filter.policy": &p.FilterPolicy,
		"rocksdb.comparator":    &p.Comparer,
		"rocksdb.compression":   &p.Compression,

		"sievetable.filter.prefix": &p.FilterPrefix,
	}
}

// indexTypeName is the name of the property for the type of the index. Its value is 0 in 4
// bytes, which stands for a single sorted block.
const indexTypeName = "rocksdb.block.based.table.index.type"

// encode returns the contents of the properties block.
func (p *Properties) encode() ([]byte, error) {
	all := map[string][]byte{indexTypeName: make([]byte, 4)}
	maps.Copy(all, p.Other)
	for name, n := range p.numbers() {
		all[name] = binary.AppendUvarint(nil, *n)
	}
	for name, s := range p.texts() {
		if *s != "" {
			all[name] = []byte(*s)
		}
	}
	if p.FilterOnly {
		all[filterOnlyName] = []byte{1}
	}
	w, err := block.NewWriter(math.MaxInt32, block.Order{}) // one restart point, as in RocksDB's
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := w.Append([]byte(name), all[name]); err != nil {
			return nil, err
		}
	}
	return w.Finish(), nil
}

// Properties reads the properties of the table. If the table has none, the error is
// ErrNotFound. The result is the caller's.
func (r *Reader) Properties() (p *Properties, err error) {
	if r.closed.Load() {
		return nil, ErrClosed
	}
	t, err := r.table()
	if err != nil {
		return nil, err
	}
	err = t.file.Guard(func() error {
		f := t.meta()
		m, err := f.ReadMetaindex(new(tablefile.Scratch))
		if err == nil {
			p, err = f.readProperties(m, new(tablefile.Scratch))
		}
		return err
	})
	return p, err
}

// readProperties reads the properties that the metaindex lists, into b.
func (f metaReader) readProperties(m tablefile.Metaindex, b *tablefile.Scratch) (*Properties, error) {
	h, err := f.FindMeta(m, tablefile.PropertiesBlock, format.PropertiesName)
	if err != nil {
		return nil, err
	}
	if h.Length == 0 {
		return nil, ErrNotFound
	}
	return f.propertiesAt(h, b)
}

// propertiesHandle returns where the properties block is. It is zero if there is none that can be
// read.
func (f metaReader) propertiesHandle(m tablefile.Metaindex) tablefile.Handle {
	h, err := f.FindMeta(m, tablefile.PropertiesBlock, format.PropertiesName)
	if err != nil {
		return tablefile.Handle{}
	}
	return h
}

// propertiesAt reads the properties block at h into b.
func (f metaReader) propertiesAt(h tablefile.Handle, b *tablefile.Scratch) (*Properties, error) {
	contents, err := f.ReadBlock(tablefile.PropertiesBlock, h, b)
	if err != nil {
		return nil, err
	}
	p, err := decodeProperties(contents, f.Allow(propertiesBudget))
	if err != nil {
		return nil, f.Damaged(tablefile.PropertiesBlock, h, err)
	}
	return p, nil
}

// propertiesBudget bounds the memory for names and values.
var propertiesBudget = tablefile.Budget{Fixed: 1 << 20, PerByte: 1}

// decodeProperties decodes a properties block. It takes at most budget bytes of memory for
// names and values. Names can share bytes, and then be far longer than the block. The block can
// be far longer than the file.
func decodeProperties(contents []byte, budget int) (*Properties, error) {
	var it encoded.Iter
	if err := it.Open(contents, encoded.Order{}, &encoded.Budget{Memory: budget / 2}); err != nil {
		return nil, err
	}
	p := &Properties{Other: map[string][]byte{}}
	return p, p.decode(&it, budget/2)
}

// decode sets the properties that are the entries of it. Their names and values may have at most
// budget bytes together.
func (p *Properties) decode(it *encoded.Iter, budget int) error {
	numbers, texts := p.numbers(), p.texts()
	for n := 0; it.Next(); n++ {
		name, value := it.Key(), it.Value()
		if budget -= len(name) + len(value); n == maxProperties || budget < 0 {
			return fmt.Errorf("more than %d properties, or names and values that are too long together", n)
		}
		if number := numbers[string(name)]; number != nil {
			v, size := wire.Uvarint(value)
			if size == 0 || size < len(value) {
				return fmt.Errorf("property %s is %x, want a minimal varint", name, value[:min(len(value), 20)])
			}
			*number = v
		} else if text := texts[string(name)]; text != nil {
			*text = string(value)
		} else if string(name) == filterOnlyName {
			p.FilterOnly = true
		} else {
			p.Other[string(name)] = bytes.Clone(value)
		}
	}
	return nil
}
