package tablestats

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/layout"
)

// Stats are the statistics of a table.
type Stats struct {
	File         string `json:"file"`
	Size         int64  `json:"bytes"`
	InternalKeys bool   `json:"internal_keys"`
	Comparer     string `json:"comparator,omitempty"` // comparator of user keys; "": unknown
	OrderNote    string `json:"order_note,omitempty"` // why the order is unexpected

	Footer    int64       `json:"footer_offset"`
	Metaindex BlockInfo   `json:"metaindex"`
	Index     BlockInfo   `json:"index"`
	Meta      []MetaBlock `json:"meta_blocks"`

	DataBlocks  int            `json:"data_blocks"`
	DataStored  int64          `json:"data_stored_bytes"` // size as stored, without trailers
	DataRaw     int64          `json:"data_raw_bytes"`    // size after decompression
	Compression map[string]int `json:"blocks_by_compression"`
	Smallest    uint64         `json:"smallest_block_bytes"` // size as stored
	Largest     uint64         `json:"largest_block_bytes"`

	Totals

	FilterNote      string             `json:"unused_filter,omitempty"` // why a filter is not used
	Filters         []FilterStats      `json:"filters"`
	Exceptions      *Exceptions        `json:"filter_exceptions,omitempty"` // of the table filter
	Estimate        Estimate           `json:"-"`
	Properties      Properties         `json:"properties,omitempty"`
	TableProperties *layout.Properties `json:"-"` // the source of Properties; nil: none
	Damage          []string           `json:"damage,omitempty"`

	budget *Budget
}

// A BlockInfo describes a block other than a data block.
type BlockInfo struct {
	Offset      uint64 `json:"offset"`
	Bytes       uint64 `json:"bytes"` // size as stored, without trailer
	Raw         int    `json:"raw_bytes"`
	Compression string `json:"compression"`
}

// A MetaBlock is a block that the metaindex lists.
type MetaBlock struct {
	Name string `json:"name"`
	BlockInfo
}

// Exceptions are the table filter's known false positives, which lookups rule out.
type Exceptions struct {
	Keys   int    `json:"keys"`
	Offset uint64 `json:"offset"`
	Bytes  uint64 `json:"bytes"` // as stored, without trailer
}

// Collect reads the whole table. It does not measure the filters: see Measure. If the table is damaged, the Stats
// describe the undamaged parts. The error joins all damage as wrapped by wrap, which is dbfile.File.Wrap or
// source.LossIn. Damage for which wrap returns nil is ignored. A command must use one Budget for all tables.
func Collect(f *dbfile.File, wrap func(error) error, b *Budget) (*Stats, error) {
	s := &Stats{budget: b, File: f.Path, Size: f.Size, InternalKeys: f.Internal, OrderNote: f.OrderNote, Footer: f.Layout.Footer, Compression: map[string]int{}}
	if f.Order != table.AnyOrder {
		s.Comparer = f.Order.Name()
	}
	var damage []error
	seen := map[string]bool{} // errors of blocks that the metaindex lists, which can be read twice
	add := func(err error) {
		if err == nil || seen[err.Error()] {
			return
		}
		if wrapped := wrap(err); wrapped != nil {
			damage, s.Damage = append(damage, wrapped), append(s.Damage, text.Lines(err)...)
		}
	}
	addOnce := func(err error) {
		if err != nil {
			add(err)
			seen[err.Error()] = true
		}
	}
	add(f.Layout.FooterErr)
	s.addIndexes(f, addOnce)
	keys := NewFilterKeys(f, b)
	for _, part := range f.Layout.Data {
		b, err := ReadBlock(f, part)
		add(err) // the index lists each block once, and can list very many
		s.addBlock(f, b)
		keys.Add(b, err)
	}
	if p, err := f.Reader.Properties(); err == nil {
		s.Properties, s.TableProperties = propertiesOf(p), p
	} else if !errors.Is(err, table.ErrNotFound) {
		add(err)
	}
	s.Filters, s.FilterNote = keys.Stats(), f.FilterNote()
	if filters := f.Filters(); filters.Never.Len() > 0 {
		s.Exceptions = &Exceptions{filters.Never.Len(), filters.NeverEntry.Offset, filters.NeverEntry.Length}
	}
	return s, errors.Join(damage...)
}

// addIndexes adds the index, the metaindex and the blocks that the metaindex lists.
func (s *Stats) addIndexes(f *dbfile.File, add func(error)) {
	known := map[layout.Handle]BlockInfo{} // the metaindex can list a block very often
	info := func(h layout.Handle) BlockInfo {
		if b, ok := known[h]; ok {
			return b
		}
		contents, compression, err := f.Layout.ReadBlock(h)
		add(err)
		b := BlockInfo{Offset: h.Offset, Bytes: h.Length, Raw: len(contents)}
		if err == nil {
			b.Compression = Compression(f, h, compression)
		}
		known[h] = b
		return b
	}
	s.Metaindex, s.Index = info(f.Layout.Metaindex), info(f.Layout.Index)
	parts, err := f.Layout.Meta()
	add(err)
	for _, part := range parts {
		s.Meta = append(s.Meta, MetaBlock{part.Name, info(part.Handle)})
	}
}

func (s *Stats) addBlock(f *dbfile.File, b Block) {
	if s.DataBlocks == 0 {
		s.Smallest = b.Length
	}
	s.DataBlocks++
	s.DataStored += int64(b.Length)
	s.Smallest, s.Largest = min(s.Smallest, b.Length), max(s.Largest, b.Length)
	if b.Raw == 0 {
		return // damaged
	}
	s.DataRaw += int64(b.Raw)
	s.Compression[Compression(f, b.Handle, b.Compression)]++
	s.Totals.Add(&b.Totals)
	s.Estimate.Add(b, b.Handle == f.Layout.Data[len(f.Layout.Data)-1].Handle)
}

// Properties are the recorded properties of a table.
type Properties []Property

// A Property is a number, a text or a bool. Known properties have lower-case names with underscores. Others have
// the stored name.
type Property struct {
	Name  string
	Value any
}

// MarshalJSON returns a JSON object with a field per property.
func (p Properties) MarshalJSON() ([]byte, error) {
	object := map[string]any{}
	for _, property := range p {
		object[property.Name] = property.Value
	}
	return printable.AppendJSON(nil, object)
}

func propertiesOf(p *layout.Properties) Properties {
	all := Properties{
		{"entries", p.Entries}, {"deletions", p.Deletions}, {"raw_key_bytes", p.RawKeySize}, {"raw_value_bytes", p.RawValueSize},
		{"data_blocks", p.DataBlocks}, {"data_bytes", p.DataSize}, {"index_bytes", p.IndexSize}, {"filter_bytes", p.FilterSize},
		{"table_filter_keys", p.FilterEntries}, {"filter_policy", p.FilterPolicy}, {"comparator", p.Comparer}, {"compression", p.Compression},
		{"block_size", p.BlockSize}, {"restart_interval", p.RestartInterval}, {"filter_base_lg", p.FilterBaseLg},
	}
	if p.FilterPrefix != "" {
		all = append(all, Property{"filter_prefix", printable.Escape([]byte(p.FilterPrefix))})
	}
	if p.FilterOnly {
		all = append(all, Property{"filter_only", true})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Other)) {
		all = append(all, otherProperty(name, p.Other[name]))
	}
	return all
}

// indexTypes are RocksDB's index types, by their number in the property.
var indexTypes = []string{"binary search", "hash search", "two levels", "binary search with first keys"}

// numbers are RocksDB properties that are stored as varints.
var numbers = []string{
	"rocksdb.column.family.id", "rocksdb.creation.time", "rocksdb.file.creation.time", "rocksdb.oldest.key.time",
	"rocksdb.fixed.key.length", "rocksdb.format.version", "rocksdb.merge.operands", "rocksdb.num.range-deletions",
	"rocksdb.index.key.is.user.key", "rocksdb.index.value.is.delta.encoded", "rocksdb.original.file.number",
	"rocksdb.tail.start.offset", "rocksdb.top-level.index.size", "rocksdb.index.partitions",
}

// otherProperty returns a property that package table does not decode. If its value is not of the type that belongs
// to its name, the value is returned as text.
func otherProperty(name string, value []byte) Property {
	if name == "rocksdb.block.based.table.index.type" && len(value) == 4 {
		if i := binary.LittleEndian.Uint32(value); i < uint32(len(indexTypes)) {
			return Property{"index_type", indexTypes[i]}
		}
	}
	if n, size := binary.Uvarint(value); slices.Contains(numbers, name) && size > 0 && size == len(value) {
		return Property{name, n}
	}
	return Property{printable.Escape([]byte(name)), printable.Escape(value)}
}
