package table

import (
	"bytes"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// A MetaindexEntry is an entry of the metaindex: the name of a meta block, and where it is.
// Meta blocks are filters, properties, and blocks of other engines.
type MetaindexEntry struct {
	Name string // such as "filter.leveldb.BuiltinBloomFilter" or "rocksdb.properties"
	Handle
}

// A metaReader reads what the metaindex of a table lists.
type metaReader struct {
	*tablefile.File
	o *ReaderOptions
}

// metaEntries reads the metaindex and returns its entries, in the order of their names.
func (f metaReader) metaEntries() ([]MetaindexEntry, error) {
	m, err := f.ReadMetaindex(new(tablefile.Scratch))
	if err == nil {
		err = f.CheckNames(m)
	}
	if err != nil {
		return nil, err
	}
	var entries []MetaindexEntry
	for _, e := range m {
		h, err := f.MetaHandle(tablefile.MetaBlock, e.Handle)
		if err != nil {
			return nil, err
		}
		entries = append(entries, MetaindexEntry{string(e.Name), Handle(h)})
	}
	return entries, nil
}

// A filterKind is a kind of filters: of data blocks, or of the whole table.
type filterKind struct {
	prefix string // of names in the metaindex, before the name of the policy
	block  tablefile.Kind
}

var (
	blockFilters = filterKind{format.FilterPrefix, tablefile.FilterBlock}
	tableFilters = filterKind{format.TableFilterPrefix, tablefile.TableFilterBlock}
)

// policyOf returns the name of the policy in the name of a filter of that kind. Of another name, found
// is false.
func (k filterKind) policyOf(name []byte) (policy []byte, found bool) {
	return bytes.CutPrefix(name, []byte(k.prefix))
}

// first returns the policy's name of the first filter of that kind in the metaindex, and
// whether there is one.
func (k filterKind) first(m tablefile.Metaindex) (policy []byte, found bool) {
	for _, e := range m {
		if policy, found = k.policyOf(e.Name); found {
			return policy, true
		}
	}
	return nil, false
}

// A namedPolicy is a filter.Policy or a filter.TablePolicy.
type namedPolicy interface{ Name() string }

// An aliaser is a policy with the optional method Aliases.
type aliaser interface{ Aliases() []string }

// filterNames returns the name and the aliases of p, in ascending order, without duplicates.
func filterNames(p namedPolicy) []string {
	names := []string{p.Name()}
	if a, ok := p.(aliaser); ok {
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
	if a, ok := p.(aliaser); ok && slices.ContainsFunc(a.Aliases(), same) {
		return true
	}
	a, ok := p.(interface{ ReadAliases() []string })
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
