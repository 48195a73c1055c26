package table

import (
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tablefile"
)

// addExceptions reads the exceptions of the table filter at m. No key of the table may be among them.
func (v *filterVerifier) addExceptions(m metaBlock) error {
	e, err := v.t.meta().readExceptions(m.Handle)
	if err != nil {
		return err
	}
	v.exceptions, v.listed = e, m
	v.filters = append(v.filters, checkedFilter{metaBlock: m, contains: func(_ uint64, key []byte) bool { return !e.Contains(key) }})
	return nil
}

// checkExceptions checks that the table filter has all of the exceptions. A filter that has not is
// another one than that which they were found in.
func (v *filterVerifier) checkExceptions() error {
	f := v.tableFilter()
	if v.exceptions == nil || f == nil {
		return nil
	}
	missing, named := 0, v.names[:0]
	left := maxExpansion * v.exceptions.size()
	for key := range v.exceptions.All() {
		if left -= int64(len(key)); left < 0 {
			return v.t.o.errorf("%s at %d: not checked for all keys: they are, together, over %d times as long as the block", tablefile.NeverBlock, v.listed.Offset, maxExpansion)
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
	return v.t.file.Corrupt(tablefile.NeverBlock, v.listed.Handle, "%d of %d keys are not in the %s at %d, such as %s: they are exceptions of another filter",
		missing, v.exceptions.Len(), f.kind, f.Offset, named)
}

// tableFilter returns the filter of the whole table that a Reader uses, or nil if there is none.
func (v *filterVerifier) tableFilter() (first *checkedFilter) {
	for i := range v.filters {
		if f := &v.filters[i]; f.tablePolicy != nil && (first == nil || f.rank < first.rank) {
			first = f
		}
	}
	return first
}
