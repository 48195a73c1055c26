package tablestats

import (
	"bytes"
	"math"

	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// unknownCount is the number of keys in a damaged block.
const unknownCount = -1

// maxFilterKeys bounds what the properties of a table say of its filter.
const maxFilterKeys = math.MaxInt32

// FilterKeys counts the distinct keys in the filters of a table, and the prefixes.
type FilterKeys struct {
	file   *dbfile.File
	budget *Budget
	blocks []int // of each block filter
	table  int

	prefix []byte // the last one; nil: none
	slot   uint64 // the block filter that has it
}

// NewFilterKeys returns the FilterKeys of a table, before any block was added. The rates of its filters are
// predicted within b.
func NewFilterKeys(f *dbfile.File, b *Budget) *FilterKeys {
	k := &FilterKeys{file: f, budget: b}
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
	slot := uint64(0)
	if blocks := k.file.Filters().Blocks; blocks != nil {
		slot = b.Offset >> blocks.BaseLg()
	}
	whole, perBlock := k.prefixes(b, slot)
	k.table = addCounts(k.table, whole)
	if slot < uint64(len(k.blocks)) {
		k.blocks[slot] = addCounts(k.blocks[slot], addCounts(users, perBlock))
	}
}

// prefixes returns how many prefixes of the keys of a block the filter of the table holds, and the block
// filter with that number, which keys before have not brought there.
func (k *FilterKeys) prefixes(b Block, slot uint64) (whole, perBlock int) {
	p := k.file.Filters().Prefix
	if p == nil || b.Iter == nil {
		return 0, 0
	}
	for ok := b.Iter.First(); ok; ok = b.Iter.Next() {
		key := k.file.FilterKey(b.Iter.Key())
		n := p.PrefixLen(key)
		if n <= 0 || n > len(key) {
			continue
		}
		again := bytes.Equal(k.prefix, key[:n])
		if !again {
			whole++
		}
		if !again || k.slot != slot {
			perBlock++
		}
		k.prefix, k.slot = append(k.prefix[:0], key[:n]...), slot
	}
	return whole, perBlock
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
