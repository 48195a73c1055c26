package table

import (
	"bytes"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// A MetaindexEntry is an entry of the metaindex: the name of a meta block, and where it is.
// Meta blocks are filters, properties, and blocks of other engines.
type MetaindexEntry struct {
	Name string // such as "filter.leveldb.BuiltinBloomFilter" or "rocksdb.properties"
	Handle
}

// maxMetaBlocks bounds how many entries of a metaindex are read. Engines write far fewer.
const maxMetaBlocks = 1000

// readMetaindex reads the metaindex. It is in the bytewise order, whatever the Comparer is.
func (f *tableFile) readMetaindex() (*block.Iter, error) {
	h := f.footer.metaindex
	var b buffers
	contents, err := f.readBlock(MetaindexBlock, h, &b)
	if err != nil {
		return nil, err
	}
	it, budget := new(block.Iter), block.Budget{Memory: metaindexKeyBudget.forFile(f.footerOffset)}
	if err := it.Open(contents, block.Order{}, &budget); err != nil {
		return nil, f.damaged(MetaindexBlock, h, err)
	}
	return it, nil
}

// checkNoData checks that an index without entries is an index. If a table has no filter, its
// metaindex has no entries, and a footer with the two handles swapped would read as that of
// an empty table. But the metaindex would then list separators, which are not names of meta
// blocks.
func (f *tableFile) checkNoData(metaindex *block.Iter) error {
	if f.index.len() > 0 {
		return nil
	}
	for ok := metaindex.First(); ok; ok = metaindex.Next() {
		if name := metaindex.Key(); !format.MetaName.Match(name) {
			return f.corrupt(IndexBlock, f.footer.index, "no entries, but the metaindex has %s, which is no meta block: the two handles may be swapped", wire.Quote(name))
		}
	}
	return nil
}

// metaHandle decodes a value of the metaindex, and checks that the block does not overlap
// data blocks, the index or the metaindex.
func (f *tableFile) metaHandle(kind BlockKind, value []byte) (Handle, error) {
	h, _, err := decodeHandle(value, f.footerOffset)
	if err != nil {
		return h, f.damaged(MetaindexBlock, f.footer.metaindex, err)
	}
	if _, data := f.index.overlapping(h); data || h.overlaps(f.footer.metaindex) || h.overlaps(f.footer.index) {
		return h, f.corrupt(kind, h, "overlaps another block")
	}
	return h, nil
}

// metaEntries reads the metaindex and returns its entries, in the order of their names.
func (f *tableFile) metaEntries() ([]MetaindexEntry, error) {
	it, err := f.readMetaindex()
	if err != nil {
		return nil, err
	}
	var entries []MetaindexEntry
	nameBudget := metaindexKeyBudget.forFile(f.footerOffset)
	for it.Next() {
		if nameBudget -= len(it.Key()); len(entries) == maxMetaBlocks || nameBudget < 0 {
			return nil, f.tooManyMetaBlocks()
		}
		h, err := f.metaHandle(MetaBlock, it.Value())
		if err != nil {
			return nil, err
		}
		entries = append(entries, MetaindexEntry{string(it.Key()), h})
	}
	return entries, nil
}

// tooManyMetaBlocks is the error for a metaindex that lists too much.
func (f *tableFile) tooManyMetaBlocks() error {
	return f.corrupt(MetaindexBlock, f.footer.metaindex, "more than %d entries, or names that are too long together", maxMetaBlocks)
}

// hasMeta reports whether the metaindex has the name of a block.
func hasMeta(metaindex *block.Iter, name string) bool {
	return metaindex.SeekGE([]byte(name)) && string(metaindex.Key()) == name
}

// findMeta returns the handle that the metaindex has for the name of a block of that kind, or
// a zero Handle if it does not have the name.
func (f *tableFile) findMeta(metaindex *block.Iter, kind BlockKind, name string) (Handle, error) {
	if !hasMeta(metaindex, name) {
		return Handle{}, nil
	}
	return f.metaHandle(kind, metaindex.Value())
}

// A filterKind is a kind of filters: of data blocks, or of the whole table.
type filterKind struct {
	prefix string // of names in the metaindex, before the name of the policy
	block  BlockKind
}

var (
	blockFilters = filterKind{format.FilterPrefix, FilterBlock}
	tableFilters = filterKind{format.TableFilterPrefix, TableFilterBlock}
)

// first returns the policy's name of the first filter of that kind in the metaindex, and
// whether there is one.
func (k filterKind) first(metaindex *block.Iter) (name []byte, found bool) {
	if !metaindex.SeekGE([]byte(k.prefix)) {
		return nil, false
	}
	return bytes.CutPrefix(metaindex.Key(), []byte(k.prefix))
}

// A namedPolicy is a filter.Policy or a filter.TablePolicy.
type namedPolicy interface{ Name() string }

// filterNames returns the name and the aliases of p, in ascending order, without duplicates.
func filterNames(p namedPolicy) []string {
	names := []string{p.Name()}
	if a, ok := p.(filter.Aliaser); ok {
		names = append(names, a.Aliases()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// policyOf returns the first of the policies that has the name or alias, and its number, or nil and
// their number. It does not copy the name: that of a file can be very long.
func policyOf[P namedPolicy](policies []P, name []byte) (none P, rank int) {
	for i, p := range policies {
		if slices.ContainsFunc(filterNames(p), func(n string) bool { return n == string(name) }) {
			return p, i
		}
	}
	return none, len(policies)
}
