package tablestats

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table"
)

// Properties are the properties that a table records.
type Properties []Property

// A Property is a number or a text. Known properties have names in lower case with
// underscores. Others have the stored name.
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

func propertiesOf(p *table.Properties) Properties {
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

// indexTypes are RocksDB's types of the index, by the number that the property stores.
var indexTypes = []string{"binary search", "hash search", "two levels", "binary search with first keys"}

// numbers are properties of RocksDB that are stored as varints.
var numbers = []string{
	"rocksdb.column.family.id", "rocksdb.creation.time", "rocksdb.file.creation.time", "rocksdb.oldest.key.time",
	"rocksdb.fixed.key.length", "rocksdb.format.version", "rocksdb.merge.operands", "rocksdb.num.range-deletions",
	"rocksdb.index.key.is.user.key", "rocksdb.index.value.is.delta.encoded", "rocksdb.original.file.number",
	"rocksdb.tail.start.offset", "rocksdb.top-level.index.size", "rocksdb.index.partitions",
}

// otherProperty returns a property that package table does not decode. If its value is not what
// its name promises, the value is text.
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
