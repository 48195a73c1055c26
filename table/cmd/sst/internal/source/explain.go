package source

import (
	"sort"
	"time"

	"github.com/sievetable/sievetable/table"
)

// A LookupTrace is the way of a lookup in one table.
type LookupTrace struct {
	File  *File
	Found bool
	Entry Entry // what was found

	TableFilter FilterResult // of the whole table's filter

	IndexEntry  int // the first whose separator is not below the key; len(Layout.Data) if all are
	Block       table.IndexEntry
	BlockFilter FilterResult // of the data block's filter
	FilterIndex int          // its number in the filter block; -1 if that has none for the block
	FilterData  []byte       // its bits and the byte for k

	BlocksRead uint64 // data blocks that were read
	BytesRead  uint64 // and what they took in the file
	Time       time.Duration
}

// An FilterResult is what a filter says of a key.
type FilterResult int

// The answers.
const (
	NotChecked FilterResult = iota // there is no filter, or it was not come to
	MayContain
	Absent
)

func (a FilterResult) String() string {
	return [...]string{"not checked", "may contain", "certainly absent"}[a]
}

// Explain looks key up in the file, and says how that went: what the filters say
// and the index holds, and what a Reader then read.
func (f *File) Explain(key []byte) (LookupTrace, error) {
	p := LookupTrace{File: f, FilterIndex: -1}
	p.traceFilters(key)
	read, bytes := f.Metrics.DataBlocks.Load(), f.Metrics.BytesRead.Load()
	start := time.Now()
	var err error
	p.Entry, p.Found, err = f.Get(key)
	p.Time = time.Since(start)
	p.BlocksRead = f.Metrics.DataBlocks.Load() - read
	p.BytesRead = f.Metrics.BytesRead.Load() - bytes
	return p, err
}

// Explain is Get with the way of the lookup in each table that it asks.
func (s *Source) Explain(key []byte) (newest Entry, found bool, paths []LookupTrace, err error) {
	newest, found, err = s.getNewest(key, func(f *File) (Entry, bool, error) {
		p, err := f.Explain(key)
		paths = append(paths, p)
		return p.Entry, p.Found, err
	})
	return newest, found, paths, err
}

// traceFilters finds the way up to the data block.
func (p *LookupTrace) traceFilters(key []byte) {
	f := p.File
	filters := f.Filters()
	if filters.Table != nil {
		p.TableFilter = filterResult(filters.Table.Contains(key))
	}
	stored := f.seekKey(key)
	data := f.Layout.Data
	p.IndexEntry = sort.Search(len(data), func(i int) bool { return f.Compare(data[i].Separator, stored) >= 0 })
	if p.IndexEntry == len(data) {
		return
	}
	p.Block = data[p.IndexEntry]
	if blocks := filters.Blocks; blocks != nil {
		p.BlockFilter = filterResult(blocks.Contains(p.Block.Offset, key))
		if slot := p.Block.Offset >> blocks.BaseLg(); slot < uint64(blocks.Len()) {
			p.FilterIndex, p.FilterData = int(slot), blocks.Filter(int(slot))
		}
	}
}

func filterResult(contains bool) FilterResult {
	if contains {
		return MayContain
	}
	return Absent
}

// Filters returns the filters that lookups ask, or none where they are not asked.
func (f *File) Filters() Filters { return f.filters }
