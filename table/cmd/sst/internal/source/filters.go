package source

import (
	"regexp"
	"strings"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// Filters are the filters of a table that are known and sound.
type Filters struct {
	Blocks     *filter.BlockReader // by data blocks; nil if there is none
	BlocksPart table.Part
	Whole      *filter.TableReader // of all keys; nil if there is none
	WholePart  table.Part
	WholeBytes []byte // what Whole reads
	Unknown    string // the name of a filter that is of no known kind, or ""
}

var isFilter = regexp.MustCompile(`^(full|partitioned)?filter\.`)

// readFilters reads the filters. What is wrong with one leaves it out: lookups do
// without, and sst verify says it.
func readFilters(l *table.Layout) Filters {
	var f Filters
	meta, err := l.Meta()
	if err != nil {
		return f
	}
	for _, part := range meta {
		switch name := string(part.Name); {
		case f.Blocks == nil && strings.HasPrefix(name, "filter.leveldb.BuiltinBloomFilter"):
			f.Blocks, f.BlocksPart = readBlocks(l, part), part
		case name == "fullfilter.rocksdb.BuiltinBloomFilter":
			f.readWhole(l, part)
		case isFilter.MatchString(name) && !strings.HasPrefix(name, "filter.leveldb.BuiltinBloomFilter"):
			f.Unknown = isFilter.ReplaceAllString(name, "")
		}
	}
	return f
}

func readBlocks(l *table.Layout, part table.Part) *filter.BlockReader {
	contents, _, err := l.ReadBlock(part.Handle)
	if err != nil {
		return nil
	}
	r, err := filter.OpenBlock(contents, filter.NewBloom(0))
	if err != nil {
		return nil
	}
	return r
}

func (f *Filters) readWhole(l *table.Layout, part table.Part) {
	contents, _, err := l.ReadBlock(part.Handle)
	if err != nil {
		return
	}
	if r, err := filter.OpenTable(contents, filter.NewTableBloom(0)); err == nil {
		f.Whole, f.WholePart, f.WholeBytes = r, part, contents
	}
}

// Contains reports whether key may be in the data block at offset.
func (f Filters) Contains(offset uint64, key []byte) bool {
	return (f.Whole == nil || f.Whole.Contains(key)) && (f.Blocks == nil || f.Blocks.Contains(offset, key))
}

// None reports whether there is no filter at all.
func (f Filters) None() bool { return f.Blocks == nil && f.Whole == nil }
