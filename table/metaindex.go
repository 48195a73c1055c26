package table

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/encoded"
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

// A metaindex has the entries of the metaindex block, in the order of their names, with handles as
// they are stored: an entry is checked when it is used.
type metaindex []struct{ name, handle []byte }

// readMetaindex reads the metaindex, which is valid until b is used for another block. It is in the
// bytewise order, whatever the Comparer is.
func (f *tableFile) readMetaindex(b *buffers) (metaindex, error) {
	h := f.footer.metaindex
	contents, err := f.readBlock(MetaindexBlock, h, b)
	if err != nil {
		return nil, err
	}
	b.meta, b.key = b.meta[:0], b.key[:0]
	memory := metaindexKeyBudget.forFile(f.footerOffset)
	budget := encoded.Budget{Memory: memory}
	err = encoded.Walk(contents, encoded.Order{}, &budget, func(name []byte, shared int, handle []byte) error {
		if len(b.meta) == maxMetaBlocks {
			return errTooManyMetaBlocks
		}
		if shared > 0 { // it is in memory of Walk
			if memory -= len(name); memory < 0 {
				return errTooManyMetaBlocks
			}
			n := len(b.key)
			b.key = append(b.key, name...)
			name = b.key[n:]
		}
		b.meta = append(b.meta, struct{ name, handle []byte }{name, handle})
		return nil
	})
	if err != nil {
		return nil, f.damaged(MetaindexBlock, h, err)
	}
	return b.meta, nil
}

// errTooManyMetaBlocks is the error for a metaindex that lists too much.
var errTooManyMetaBlocks = fmt.Errorf("more than %d entries, or names that are too long together", maxMetaBlocks)

// checkNoData checks that an index without entries is an index. If a table has no filter, its
// metaindex has no entries, and a footer with the two handles swapped would read as that of
// an empty table. But the metaindex would then list separators, which are not names of meta
// blocks.
func (f *tableFile) checkNoData(m metaindex) error {
	if f.index.len() > 0 {
		return nil
	}
	for _, e := range m {
		if !format.MetaName.Match(e.name) {
			return f.corrupt(IndexBlock, f.footer.index, "no entries, but the metaindex has %s, which is no meta block: the two handles may be swapped", wire.Quote(e.name))
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

// checkNames checks that names are not too long together to be copied.
func (m metaindex) checkNames(f *tableFile) error {
	left := metaindexKeyBudget.forFile(f.footerOffset)
	for _, e := range m {
		if left -= len(e.name); left < 0 {
			return f.damaged(MetaindexBlock, f.footer.metaindex, errTooManyMetaBlocks)
		}
	}
	return nil
}

// metaEntries reads the metaindex and returns its entries, in the order of their names.
func (f *tableFile) metaEntries() ([]MetaindexEntry, error) {
	m, err := f.readMetaindex(new(buffers))
	if err == nil {
		err = m.checkNames(f)
	}
	if err != nil {
		return nil, err
	}
	var entries []MetaindexEntry
	for _, e := range m {
		h, err := f.metaHandle(MetaBlock, e.handle)
		if err != nil {
			return nil, err
		}
		entries = append(entries, MetaindexEntry{string(e.name), h})
	}
	return entries, nil
}

// findMeta returns the handle that the metaindex has for the name of a block of that kind, or
// a zero Handle if it does not have the name.
func (f *tableFile) findMeta(m metaindex, kind BlockKind, name string) (Handle, error) {
	for _, e := range m {
		if string(e.name) == name {
			return f.metaHandle(kind, e.handle)
		}
	}
	return Handle{}, nil
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

// policyOf returns the name of the policy in the name of a filter of that kind. Of another name, found
// is false.
func (k filterKind) policyOf(name []byte) (policy []byte, found bool) {
	return bytes.CutPrefix(name, []byte(k.prefix))
}

// first returns the policy's name of the first filter of that kind in the metaindex, and
// whether there is one.
func (k filterKind) first(m metaindex) (policy []byte, found bool) {
	for _, e := range m {
		if policy, found = k.policyOf(e.name); found {
			return policy, true
		}
	}
	return nil, false
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

// isNamed reports whether p reads filters of that name, which is its own or an alias. That of a file can
// be very long.
func isNamed(p namedPolicy, name []byte) bool {
	same := func(alias string) bool { return alias == string(name) }
	if same(p.Name()) {
		return true
	}
	if a, ok := p.(filter.Aliaser); ok && slices.ContainsFunc(a.Aliases(), same) {
		return true
	}
	a, ok := p.(filter.ReadAliaser)
	return ok && slices.ContainsFunc(a.ReadAliases(), same)
}

// policyOf returns the first of the policies that reads filters of that name, and its number, or nil and
// their number.
func policyOf[P namedPolicy](policies []P, name []byte) (none P, rank int) {
	for i, p := range policies {
		if isNamed(p, name) {
			return p, i
		}
	}
	return none, len(policies)
}
