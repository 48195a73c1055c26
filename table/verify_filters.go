package table

import (
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// A filterChecks is the part of a verifier that checks the table's filters.
type filterChecks struct {
	filters    []checkedFilter
	hashBudget int64 // bytes of filter keys that may still be hashed

	falseNegatives  []error // one for each filter and data block whose keys it rules out
	negativesBudget int     // bytes of memory that may still be taken for them
	names           []byte  // scratch

	table      *checkedFilter     // the table filter that a Reader uses; nil if there is none
	exceptions *layout.Exceptions // nil if there are none
	listed     *metaBlock         // their block

	checks          int        // number of checks of a filter for a key
	unnamed         int        // ruled-out keys that are not counted in falseNegatives
	foundAsInternal int        // ruled-out keys that the filter contains without their last 8 bytes
	firstFilter     *metaBlock // the filter that ruled out the first key
}

// A checkedFilter is a filter whose form is sound, and whose policy is known.
type checkedFilter struct {
	*metaBlock
	contains func(offset uint64, filterKey []byte) bool // offset is the key's data block's
	prefixes bool                                       // contains is about the prefix of filterKey
}

// checkFilters checks each filter for each key of the data block at h, in which c is. If the keys are far longer
// than the blocks, as forged ones can be, it returns an error and checks no more filters: hashing all keys would
// take too long.
func (v *verifier) checkFilters(c *tablefile.Cursor, h tablefile.Handle) error {
	v.hashBudget += maxExpansion * int64(len(v.filters)) * int64(c.Size())
	for _, f := range v.filters {
		v.checkFilter(f, c, h)
	}
	if v.hashBudget >= 0 || v.filters == nil {
		return nil
	}
	first := v.filters[0]
	v.filters = nil
	return v.t.o.errorf("%s at %d: not checked for all keys: the keys up to the data block at %d are, together, "+
		"over %d times as long as the blocks",
		first.Kind, first.Offset, h.Offset, maxExpansion)
}

// maxNamedKeys is the number of a data block's keys that a finding names.
const maxNamedKeys = 3

// checkFilter checks one filter for each key of a data block, and adds a finding that counts
// the keys that the filter rules out, and names the first ones, within the budget.
func (v *verifier) checkFilter(f checkedFilter, c *tablefile.Cursor, h tablefile.Handle) {
	names, n, checked := v.names[:0], 0, 0
	for ok := c.First(); ok && v.hashBudget >= 0; ok = c.Next() {
		checked++
		if !v.rulesOut(f, h.Offset, c.Key()) {
			continue
		}
		if v.firstFilter == nil {
			v.firstFilter = f.metaBlock
		}
		if n++; n <= maxNamedKeys {
			names = format.AppendQuote(append(names, ", "...), c.Key())
		}
	}
	if v.names = names; n > 0 {
		v.addFalseNegative(f, h, n, checked, names)
	}
}

// addFalseNegative adds a finding: the filter rules out n of the keys of the data block at h that were checked.
func (v *verifier) addFalseNegative(f checkedFilter, h tablefile.Handle, n, checked int, names []byte) {
	if v.negativesBudget < 0 {
		v.unnamed += n
		return
	}
	if n > maxNamedKeys {
		names = append(names, ", …"...)
	}
	what := "rules out"
	if f.prefixes {
		what = "rules out the prefixes of"
	}
	v.falseNegatives = append(v.falseNegatives, v.t.file.Corrupt(f.Kind, f.Handle,
		"%s %d of %d keys of the data block at %d: %s", what, n, checked, h.Offset, names[2:]))
	v.negativesBudget -= 256 + 4*len(names)
}

// addPrefixes adds checks of the filters for the keys' prefixes.
func (v *verifier) addPrefixes(p filter.Prefixer) {
	for _, f := range v.filters {
		if f.Kind == tablefile.NeverBlock {
			continue
		}
		contains := f.contains
		f.prefixes, f.contains = true, func(offset uint64, filterKey []byte) bool {
			prefix := prefixOf(p, filterKey)
			return prefix == nil || contains(offset, prefix)
		}
		v.filters = append(v.filters, f)
	}
}

// rulesOut reports whether the filter rules out key, which is in the data block at offset.
func (v *verifier) rulesOut(f checkedFilter, offset uint64, key []byte) bool {
	filterKey := filterKeyOf(v.t.o.FilterKey, key)
	if filterKey == nil {
		return false
	}
	v.checks++
	v.hashBudget -= int64(len(filterKey))
	if f.contains(offset, filterKey) {
		return false
	}
	if user := internalkey.UserKey(key); len(filterKey) == len(key) && len(user) > 0 && f.contains(offset, user) {
		v.foundAsInternal++
	}
	return true
}

// filterFindings returns the findings of the filters, or one that explains them all.
func (v *verifier) filterFindings() []error {
	if 2*v.foundAsInternal > v.checks {
		return []error{v.t.o.errorf("%s at %d: rules out keys, but contains them without their last 8 bytes: "+
			"it holds user keys, so the table is from a database: use InternalComparer, or FilterKey: internalkey.UserKey",
			v.firstFilter.Kind, v.firstFilter.Offset)}
	}
	if v.unnamed > 0 {
		f := v.firstFilter
		v.falseNegatives = append(v.falseNegatives, v.t.file.Corrupt(f.Kind, f.Handle, "rules out %d further keys", v.unnamed))
	}
	return v.falseNegatives
}

// addFilter adds a check of the one filter in filters, which is block b. Exceptions must not contain a key of the
// table.
func (v *verifier) addFilter(b *metaBlock, filters *layout.Filters) {
	f := checkedFilter{metaBlock: b}
	switch {
	case filters.Blocks != nil:
		f.contains = filters.Blocks.Contains
	case filters.Table != nil:
		f.contains = func(_ uint64, key []byte) bool { return filters.Table.Contains(key) }
		if v.table == nil || b.rank < v.table.rank {
			v.table = &f
		}
	default:
		v.exceptions, v.listed = filters.Never, b
		f.contains = func(_ uint64, key []byte) bool { return !filters.Never.Contains(key) }
	}
	v.filters = append(v.filters, f)
}

// checkExceptions checks that the table filter contains all exceptions. If it does not, they belong to another
// filter.
func (v *verifier) checkExceptions() error {
	f := v.table
	if v.exceptions == nil || f == nil {
		return nil
	}
	missing, named := 0, v.names[:0]
	left := maxExpansion * int64(v.listed.Length)
	for key := range v.exceptions.All() {
		if left -= int64(len(key)); left < 0 {
			return v.t.o.errorf("%s at %d: not checked for all keys: they are, together, over %d times as long as the block",
				tablefile.NeverBlock, v.listed.Offset, maxExpansion)
		}
		if f.contains(0, key) {
			continue
		}
		if missing++; missing == 1 {
			named = format.AppendQuote(named, key)
		}
	}
	if v.names = named; missing == 0 {
		return nil
	}
	return v.t.file.Corrupt(tablefile.NeverBlock, v.listed.Handle,
		"%d of %d keys are not in the %s at %d, such as %s: they are exceptions of another filter",
		missing, v.exceptions.Len(), f.Kind, f.Offset, named)
}
