package table

import (
	"bytes"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// A MetaindexEntry is a meta block that the metaindex lists: a filter, the properties,
// or one of another engine.
type MetaindexEntry struct {
	Name string
	Handle
}

// maxMetaBlocks is how many entries of a metaindex are looked at. It is far more than
// any engine writes.
const maxMetaBlocks = 1000

// readMetaindex reads the metaindex, which is in bytewise order in every table.
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

// checkNoData checks that an index without entries is an index. That of a table
// without filter and its metaindex look alike, so that a footer with the two
// handles swapped would read as an empty table. But the separators in such a
// metaindex are not names of meta blocks.
func (f *tableFile) checkNoData(metaindex *block.Iter) error {
	if f.index.len() > 0 {
		return nil
	}
	for metaindex.Next() {
		if name := metaindex.Key(); !format.MetaName.Match(name) {
			return f.corrupt(IndexBlock, f.footer.index, "no data blocks, but the metaindex lists one as %s", wire.Quote(name))
		}
	}
	return nil
}

// metaHandle decodes a metaindex value: the handle of a block of that kind, which
// is neither data nor index.
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

// metaEntries returns the entries of the metaindex, in the order of their names.
func (f *tableFile) metaEntries() ([]MetaindexEntry, error) {
	it, err := f.readMetaindex()
	if err != nil {
		return nil, err
	}
	var entries []MetaindexEntry
	nameBudget := metaindexKeyBudget.forFile(f.footerOffset)
	for it.Next() {
		if nameBudget -= len(it.Key()); len(entries) == maxMetaBlocks || nameBudget < 0 {
			return nil, f.corrupt(MetaindexBlock, f.footer.metaindex, "more than %d entries, or too long ones", maxMetaBlocks)
		}
		h, err := f.metaHandle(MetaBlock, it.Value())
		if err != nil {
			return nil, err
		}
		entries = append(entries, MetaindexEntry{string(it.Key()), h})
	}
	return entries, nil
}

// findMeta returns the handle of the block of that kind that the metaindex lists under
// the name. It is empty if there is none.
func (f *tableFile) findMeta(metaindex *block.Iter, kind BlockKind, name string) (Handle, error) {
	if !metaindex.SeekGE([]byte(name)) || string(metaindex.Key()) != name {
		return Handle{}, nil
	}
	return f.metaHandle(kind, metaindex.Value())
}

// filterKind is one of the ways in which a table has filters.
type filterKind struct {
	prefix string // of a policy's name in the metaindex
	block  BlockKind
}

var (
	blockFilters = filterKind{format.FilterPrefix, FilterBlock}
	tableFilters = filterKind{format.TableFilterPrefix, TableFilterBlock}
)

// unknown returns the name of a policy, of the first filter of that kind in the
// metaindex, which is there if any is.
func (k filterKind) unknown(metaindex *block.Iter) (name []byte, found bool) {
	if !metaindex.SeekGE([]byte(k.prefix)) {
		return nil, false
	}
	return bytes.CutPrefix(metaindex.Key(), []byte(k.prefix))
}

// namedPolicy is what a filter.Policy and a filter.TablePolicy have in common.
type namedPolicy interface{ Name() string }

// filterNames returns the names that p's filters go by, ascending, each once.
func filterNames(p namedPolicy) []string {
	names := []string{p.Name()}
	if a, ok := p.(filter.Aliaser); ok {
		names = append(names, a.Aliases()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// policyOf returns the first of the policies that has the name, or nil. It copies no
// name: one out of a file may be very long.
func policyOf[P namedPolicy](policies []P, name []byte) (none P) {
	for _, p := range policies {
		if slices.ContainsFunc(filterNames(p), func(n string) bool { return n == string(name) }) {
			return p
		}
	}
	return none
}
