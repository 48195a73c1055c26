package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// maxProperties bounds the number of properties that are read. Engines write far fewer.
const maxProperties = 1000

// countEntry counts an entry, and checks whether RocksDB can ingest the table with it. The entry must not be in the
// data block yet.
func (w *Writer) countEntry(key, value []byte) {
	p := &w.properties
	p.RawKeySize += uint64(len(key))
	p.RawValueSize += uint64(len(value))
	if k, ok := internalkey.Parse(key); ok && k.Kind == internalkey.Delete && ofInternalKeys(w.o.Comparer) {
		p.Deletions++
	}
	w.external = w.external && w.staysExternal(key)
}

// RocksDB up to 10.x ingests other programs' tables if they have two properties: a version, and 8 bytes for the
// sequence number that then replaces 0 in all entries. It checks only the first and the last key. So a Writer sets
// these properties only if all entries comply.

// staysExternal reports whether RocksDB can ingest the table if key is the next one. The key must have sequence
// number 0 and one of LevelDB's kinds, and be the only version of its user key. RocksDB looks up user keys in a
// table filter.
func (w *Writer) staysExternal(key []byte) bool {
	k, ok := internalkey.Parse(key)
	last := w.data.LastKey()
	if !ok || k.Sequence > 0 || k.Kind > internalkey.Set || last != nil && bytes.Equal(k.UserKey, internalkey.UserKey(last)) {
		return false
	}
	if w.tableFilter == nil {
		return true
	}
	filterKey := filterKeyOf(w.o.FilterKey, key)
	return filterKey != nil && bytes.Equal(filterKey, k.UserKey)
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

// propertyFields returns the fields of p that are properties, by name. Numbers are stored as varints.
func propertyFields(p *layout.Properties) map[string]any {
	return map[string]any{
		"rocksdb.num.entries":         &p.Entries,
		"rocksdb.deleted.keys":        &p.Deletions,
		"rocksdb.raw.key.size":        &p.RawKeySize,
		"rocksdb.raw.value.size":      &p.RawValueSize,
		"rocksdb.num.data.blocks":     &p.DataBlocks,
		"rocksdb.data.size":           &p.DataSize,
		"rocksdb.index.size":          &p.IndexSize,
		"rocksdb.filter.size":         &p.FilterSize,
		"rocksdb.num.filter_entries":  &p.FilterEntries,
		"rocksdb.filter.policy":       &p.FilterPolicy,
		"rocksdb.comparator":          &p.Comparer,
		"rocksdb.compression":         &p.Compression,
		"sievetable.block.size":       &p.BlockSize,
		"sievetable.restart.interval": &p.RestartInterval,
		"sievetable.filter.base.lg":   &p.FilterBaseLg,
		"sievetable.filter.prefix":    &p.FilterPrefix,
		"sievetable.filter.only":      &p.FilterOnly, // marks a table with a filter and no entries
	}
}

// indexTypeName is the name of the property for the type of the index. Its value is 4 zero bytes, which means a
// single sorted block.
const indexTypeName = "rocksdb.block.based.table.index.type"

// encodeProperties returns the contents of the properties block.
func encodeProperties(p *layout.Properties) ([]byte, error) {
	all := map[string][]byte{indexTypeName: make([]byte, 4)}
	maps.Copy(all, p.Other)
	for name, field := range propertyFields(p) {
		switch f := field.(type) {
		case *uint64:
			all[name] = binary.AppendUvarint(nil, *f)
		case *string:
			if *f != "" {
				all[name] = []byte(*f)
			}
		case *bool:
			if *f {
				all[name] = []byte{1}
			}
		}
	}
	names := slices.Sorted(maps.Keys(all))
	// One restart point, as in RocksDB's block.
	return encodeBlock(math.MaxInt32, len(names), func(i int) (key, value []byte) {
		return []byte(names[i]), all[names[i]]
	})
}

// Properties reads the table's properties, or returns ErrNotFound.
func (r *Reader) Properties() (p *layout.Properties, err error) {
	if r.closed.Load() {
		return nil, ErrClosed
	}
	t, err := r.table()
	if err != nil {
		return nil, err
	}
	err = t.file.WithMetaindex(func(m tablefile.Metaindex) (err error) {
		if p, err = t.findProperties(m, format.PropertiesName, new(tablefile.Scratch)); p == nil && err == nil {
			err = ErrNotFound
		}
		return err
	})
	return p, err
}

// readProperties reads the properties block at h. The result does not use memory of s.
func (t *openTable) readProperties(h tablefile.Handle, s *tablefile.Scratch) (*layout.Properties, error) {
	contents, err := t.file.ReadBlock(tablefile.PropertiesBlock, h, s)
	if err != nil {
		return nil, err
	}
	p, err := decodeProperties(contents, t.file.Allow(propertiesBudget))
	if err != nil {
		return nil, t.file.Damaged(tablefile.PropertiesBlock, h, err)
	}
	return p, nil
}

// propertiesBudget bounds the memory for names and values.
var propertiesBudget = tablefile.Budget{Fixed: 1 << 20, PerByte: 1}

// decodeProperties decodes a properties block. It takes at most budget bytes of memory for names and values. Names
// that share bytes can be far longer than the block, and a compressed block far longer than the file.
func decodeProperties(contents []byte, budget int) (*layout.Properties, error) {
	p, n, left := &layout.Properties{Other: map[string][]byte{}}, 0, budget/2
	fields := propertyFields(p)
	var first error // of a property; damage to the block explains it
	err := format.Walk(contents, true, budget/2, func(name, value []byte) error {
		if left -= len(name) + len(value); n == maxProperties || left < 0 {
			return fmt.Errorf("more than %d properties, or names and values that are too long together", n)
		}
		n++
		switch f := fields[string(name)].(type) {
		case *uint64:
			v, size := format.Uvarint(value)
			if size == 0 || size < len(value) {
				first = cmp.Or(first, fmt.Errorf("property %s is %x, not a minimal varint", name, value[:min(len(value), 20)]))
			}
			*f = v
		case *string:
			*f = string(value)
		case *bool:
			*f = true
		default:
			p.Other[string(name)] = bytes.Clone(value)
		}
		return nil
	})
	if err = cmp.Or(err, first); err != nil {
		return nil, err
	}
	return p, nil
}
