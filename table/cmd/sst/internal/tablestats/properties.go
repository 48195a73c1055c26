package tablestats

import (
	"maps"
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
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
	return text.AppendJSON(nil, object)
}

func propertiesOf(p *table.Properties) Properties {
	all := Properties{
		{"entries", p.Entries}, {"deletions", p.Deletions}, {"raw_key_bytes", p.RawKeySize}, {"raw_value_bytes", p.RawValueSize},
		{"data_blocks", p.DataBlocks}, {"data_bytes", p.DataSize}, {"index_bytes", p.IndexSize}, {"filter_bytes", p.FilterSize},
		{"table_filter_keys", p.FilterEntries}, {"filter_policy", p.FilterPolicy}, {"comparator", p.Comparer}, {"compression", p.Compression},
		{"block_size", p.BlockSize}, {"restart_interval", p.RestartInterval}, {"filter_base_lg", p.FilterBaseLg},
	}
	if p.FilterOnly {
		all = append(all, Property{"filter_only", true})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Other)) {
		all = append(all, Property{text.Escape([]byte(name)), text.Escape(p.Other[name])})
	}
	return all
}
