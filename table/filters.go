package table

import (
	"bytes"
	"errors"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// Filters are the filters of a table that lookups check. [Layout.Filters] returns them.
type Filters struct {
	Blocks      *filter.BlockReader // the filter block; nil if there is none that can be used
	BlocksEntry MetaindexEntry      // its name and handle in the metaindex
	Table       filter.TableFilter  // of the whole table; nil if there is none that can be used
	TableEntry  MetaindexEntry      // its name and handle in the metaindex
	Never       *Exceptions         // of Table; nil if there are none that can be used
	NeverEntry  MetaindexEntry      // their name and handle in the metaindex
	Prefix      Prefixer            // whose prefixes both hold; nil if they hold none, or if it is unknown
}

// openFilters opens the filters that the metaindex lists, and what is stored beside them. If
// some cannot be used, openFilters returns the others and an error. To have no filters is no error.
func (f metaReader) openFilters(m tablefile.Metaindex) (filters Filters, err error) {
	others := append(make([]tablefile.Handle, 0, 2), f.propertiesHandle(m))
	var blocksErr, tableErr error
	if policy, found := blockFilters.first(m); found {
		filters.Blocks, blocksErr = openFilter(f, m, blockFilters, policy, f.o.blockPolicies(m), others, &filters.BlocksEntry, openFilterBlock)
	}
	if unread(blocksErr) {
		return filters, blocksErr
	}
	others = append(others, tablefile.Handle(filters.BlocksEntry.Handle))
	if policy, found := tableFilters.first(m); found {
		filters.Table, tableErr = openFilter(f, m, tableFilters, policy, f.o.tablePolicies(), others, &filters.TableEntry, filter.TablePolicy.Open)
	}
	if unread(tableErr) {
		return filters, tableErr
	}
	neverErr, prefixErr := f.openBeside(&filters, m, append(others, tablefile.Handle(filters.TableEntry.Handle)))
	for _, err := range []error{neverErr, prefixErr} {
		if unread(err) {
			return filters, err
		}
	}
	return filters, errors.Join(blocksErr, tableErr, neverErr, prefixErr)
}

// openBeside opens what is stored beside the filters: the exceptions, and the name of the Prefixer.
func (f metaReader) openBeside(filters *Filters, m tablefile.Metaindex, others []tablefile.Handle) (neverErr, prefixErr error) {
	if filters.Table != nil {
		filters.Never, filters.NeverEntry, neverErr = f.openExceptions(m, others)
	}
	if !unread(neverErr) && (filters.Table != nil || filters.Blocks != nil) {
		filters.Prefix, prefixErr = f.openPrefixer(m)
	}
	return neverErr, prefixErr
}

// openFilterBlock is filter.NewBlockReader, with the arguments in openFilter's order.
func openFilterBlock(p filter.Policy, contents []byte) (*filter.BlockReader, error) {
	return filter.NewBlockReader(contents, p)
}

// unread reports whether err is an error of reading a filter, not of what was read.
func unread(err error) bool {
	return err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnknownFilter)
}

// openFilter opens the filter of the first policy that the metaindex lists a filter of, and
// sets entry to its name and handle. The filter must not share bytes with the other blocks: the memory
// for all is bounded by the size of the file. first is the name of the first policy that is listed.
func openFilter[P namedPolicy, F any](f metaReader, m tablefile.Metaindex, kind filterKind, first []byte, policies []P, others []tablefile.Handle,
	entry *MetaindexEntry, open func(P, []byte) (F, error)) (none F, err error) {
	for _, p := range policies {
		for _, e := range m {
			if name, found := kind.policyOf(e.Name); !found || !isNamed(p, name) {
				continue
			}
			h, err := f.MetaHandle(kind.block, e.Handle)
			if err != nil {
				return none, err
			}
			if h.Length == 0 {
				continue
			}
			*entry = MetaindexEntry{string(e.Name), Handle(h)}
			for _, other := range others {
				if other.Length > 0 && h.Overlaps(other) {
					return none, f.Corrupt(kind.block, h, "overlaps the block at %d", other.Offset)
				}
			}
			return readFilter(f, kind.block, h, p, open)
		}
	}
	return none, f.o.errorf("filter %s: %w", format.Quote(first), ErrUnknownFilter)
}

// readFilter reads the filter at h, and opens it.
func readFilter[P, F any](f metaReader, kind tablefile.Kind, h tablefile.Handle, p P, open func(P, []byte) (F, error)) (none F, err error) {
	var b tablefile.Scratch
	contents, err := f.ReadInPlace(kind, h, &b)
	if err != nil {
		return none, err
	}
	opened, err := open(p, contents)
	if err != nil {
		return none, f.Damaged(kind, h, err)
	}
	return opened, nil
}

// builtInBloom is the policy that reads LevelDB's filters, if no other is in the options.
var builtInBloom = filter.NewBloom(0)

// blockPolicies returns the policies that read the filter blocks that the metaindex lists, those
// of the options before the built-in one. If it lists no name that tells which of two hashes the
// filters of LevelDB are of, these policies take both.
func (o *ReaderOptions) blockPolicies(m tablefile.Metaindex) []filter.Policy {
	all := append(slices.Clip(o.FilterPolicies), filter.Policy(builtInBloom))
	all = slices.DeleteFunc(all, func(p filter.Policy) bool { return p == nil })
	for _, name := range builtInBloom.Aliases() { // of one hash only
		for _, e := range m {
			if policy, found := blockFilters.policyOf(e.Name); found && string(policy) == name {
				return all
			}
		}
	}
	for i, p := range all {
		if isNamed(p, []byte(builtInBloom.Name())) {
			all[i] = filter.EitherHash(p)
		}
	}
	return all
}

// tablePolicies returns the policies that read table filters, in the same order.
func (o *ReaderOptions) tablePolicies() []filter.TablePolicy {
	all := append(slices.Clip(o.TableFilterPolicies), filter.NewTableBloom(0))
	return slices.DeleteFunc(all, func(p filter.TablePolicy) bool { return p == nil })
}

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
