package source

import (
	"sort"
	"time"

	"github.com/sievetable/sievetable/table"
)

// A Path is the way of a lookup in one table.
type Path struct {
	File  *File
	Found bool
	Entry Entry // what was found

	Whole Answer // of the whole table's filter

	IndexEntry int // the first whose separator is not below the key; len(Layout.Data) if all are
	Block      table.IndexEntry
	Blocks     Answer // of the data block's filter
	Slot       int    // its number in the filter block; -1 if that has none for the block
	Filter     []byte // its bits and the byte for k

	Read  uint64 // data blocks that were read
	Bytes uint64 // and what they took in the file
	Time  time.Duration
}

// An Answer is what a filter says of a key.
type Answer int

// The answers.
const (
	NotAsked Answer = iota // there is no filter, or it was not come to
	MayContain
	Absent
)

func (a Answer) String() string {
	return [...]string{"not asked", "may contain", "certainly absent"}[a]
}

// Explain looks key up in the file, and says how that went: what the filters say
// and the index holds, and what a Reader then read.
func (f *File) Explain(key []byte) (Path, error) {
	p := Path{File: f, Slot: -1}
	p.find(key)
	read, bytes := f.Metrics.DataBlocks.Load(), f.Metrics.BytesRead.Load()
	start := time.Now()
	var err error
	p.Entry, p.Found, err = f.Get(key)
	p.Time = time.Since(start)
	p.Read = f.Metrics.DataBlocks.Load() - read
	p.Bytes = f.Metrics.BytesRead.Load() - bytes
	return p, err
}

// Explain is Get with the way of the lookup in each table that it asks.
func (s *Source) Explain(key []byte) (newest Entry, found bool, paths []Path, err error) {
	newest, found, err = s.newest(key, func(f *File) (Entry, bool, error) {
		p, err := f.Explain(key)
		paths = append(paths, p)
		return p.Entry, p.Found, err
	})
	return newest, found, paths, err
}

// find finds the way up to the data block.
func (p *Path) find(key []byte) {
	f := p.File
	filters := f.Filters()
	if filters.Table != nil {
		p.Whole = answer(filters.Table.Contains(key))
	}
	stored := f.seekKey(key)
	data := f.Layout.Data
	p.IndexEntry = sort.Search(len(data), func(i int) bool { return f.Compare(data[i].Separator, stored) >= 0 })
	if p.IndexEntry == len(data) {
		return
	}
	p.Block = data[p.IndexEntry]
	if blocks := filters.Blocks; blocks != nil {
		p.Blocks = answer(blocks.Contains(p.Block.Offset, key))
		if slot := p.Block.Offset >> blocks.BaseLg(); slot < uint64(blocks.Len()) {
			p.Slot, p.Filter = int(slot), blocks.Filter(int(slot))
		}
	}
}

func answer(contains bool) Answer {
	if contains {
		return MayContain
	}
	return Absent
}

// Filters returns the filters that lookups ask, or none where they are not asked.
func (f *File) Filters() Filters { return f.filters }
