package tablestats

import (
	"math"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// unknownCount is the number of keys in a damaged block.
const unknownCount = -1

// maxFilterKeys bounds what the properties of a table say of its filter.
const maxFilterKeys = math.MaxInt32

// FilterKeys counts the distinct keys in the filters of a table.
type FilterKeys struct {
	file   *source.File
	blocks []int // of each block filter
	table  int
}

// NewFilterKeys returns the FilterKeys of a table, before any block was added.
func NewFilterKeys(f *source.File) *FilterKeys {
	k := &FilterKeys{file: f}
	if blocks := f.Filters().Blocks; blocks != nil {
		k.blocks = make([]int, blocks.Len())
	}
	return k
}

// Add adds the next of Blocks, and its error.
func (k *FilterKeys) Add(b Block, err error) {
	users := b.UserKeys
	if err != nil {
		users = unknownCount
	}
	k.table = addCounts(k.table, users)
	if b.Continues && k.table != unknownCount {
		k.table--
	}
	blocks := k.file.Filters().Blocks
	if blocks == nil {
		return
	}
	if i := b.Offset >> blocks.BaseLg(); i < uint64(len(k.blocks)) {
		k.blocks[i] = addCounts(k.blocks[i], users)
	}
}

// addCounts adds two numbers of keys, either of which may be unknown.
func addCounts(a, b int) int {
	if a == unknownCount || b == unknownCount {
		return unknownCount
	}
	return a + b
}

// Stats returns the statistics of the filters, once all blocks are added: of the block
// filters, and of the filter of the whole table, if the table has them. If the table has a
// filter only, its properties have the number of keys.
func (k *FilterKeys) Stats() (all []FilterStats) {
	if k.file.Reader.FilterOnly() {
		if p, err := k.file.Reader.Properties(); err == nil {
			k.table = int(min(p.FilterEntries, maxFilterKeys))
		}
	}
	filters := k.file.Filters()
	if filters.Blocks != nil {
		all = append(all, k.blockFilters(filters.Blocks, filters.BlocksEntry))
	}
	if filters.Table != nil {
		all = append(all, k.tableFilter(filters.TableEntry))
	}
	return all
}
