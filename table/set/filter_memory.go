package set

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// How many bits of a filter a table may keep, beside 1 to maxFilterBits.
const (
	everyBit = math.MaxInt32 // the filter is kept as it is
	noBit    = 0             // the filter is not loaded
)

// A limiter is a filter.TablePolicy with the optional method AtMost.
type limiter interface {
	AtMost(bits int) (filter.TablePolicy, error)
}

// planFilters returns how many bits of its filter each table may keep, so that all fit into FilterMemory. The widest
// filters are narrowed first, and of these the largest: the same number of bits everywhere has the fewest
// false positives.
func (s *Set) planFilters(tables []*Table) []int32 {
	plan, byFilter, size := make([]int32, len(tables)), []int(nil), int64(0)
	for i, t := range tables {
		plan[i] = everyBit
		// A filter that cannot be in the tail is before it, and lookups read its pages. A smaller one counts, since the
		// manifest does not say where it is.
		if t.FilterSize < t.TailSize || s.holdsPages(false) {
			size += t.FilterSize
		}
		if t.FilterBits > 0 {
			byFilter = append(byFilter, i)
		}
	}
	slices.SortStableFunc(byFilter, func(i, j int) int { return cmp.Compare(tables[j].FilterSize, tables[i].FilterSize) })
	for _, bits := range s.filterWidths() {
		for _, i := range byFilter {
			if size <= s.o.FilterMemory {
				return plan
			}
			if tables[i].mayKeep(bits) {
				size -= tables[i].filterSize(plan[i]) - tables[i].filterSize(bits)
				plan[i] = bits
			}
		}
	}
	return plan
}

// filterWidths returns the numbers of bits that policies can narrow filters to, the highest first, and then noBit. If
// no filters are to be narrowed, it returns none. Mapped filters are not: a copy would take memory, where they
// take none.
func (s *Set) filterWidths() (widths []int32) {
	_, maps := s.src.(Mapper)
	if maps && s.o.Reader.Mapped {
		return nil
	}
	for bits := maxFilterBits; bits > noBit; bits-- {
		if slices.ContainsFunc(s.o.Reader.TableFilterPolicies, func(p filter.TablePolicy) bool { return atMost(p, bits) != nil }) {
			widths = append(widths, int32(bits))
		}
	}
	if widths != nil {
		widths = append(widths, noBit)
	}
	return widths
}

// atMost returns the policy that reads the filters of p with at most so many bits, or nil if p has none.
func atMost(p filter.TablePolicy, bits int) filter.TablePolicy {
	if l, ok := p.(limiter); ok {
		if limited, err := l.AtMost(bits); err == nil {
			return limited
		}
	}
	return nil
}

// mayKeep reports whether the filter can be narrowed to so many bits. A table that has only a filter keeps it.
func (t *Table) mayKeep(bits int32) bool {
	return int(bits) < t.FilterBits && (bits != noBit || t.TailSize < t.Size)
}

// filterSize returns the most bytes that a filter of so many bits takes.
func (t *Table) filterSize(bits int32) int64 {
	const trailer = 32 // at most. It does not get shorter
	switch bits {
	case everyBit:
		return t.FilterSize
	case noBit:
		return 0
	}
	return min(t.FilterSize, (t.FilterSize/int64(t.FilterBits)+1)*int64(bits)+trailer)
}

// limitFilters has the tables of v keep as many bits as the plan says, and returns those that are open with more: the
// caller releases them. With unused, it is about the tables that are not in the current version. The caller
// holds mu.
func (v *version) limitFilters(unused bool) (wide []*handle) {
	for i, m := range v.members {
		if unused && m.old == nil {
			continue
		}
		m.filterBits.Store(v.plan[i])
		if h := m.kept.Load(); !unused && h != nil && h.limit > v.plan[i] {
			wide = append(wide, m.s.unkeep(m))
		}
	}
	return wide
}

// readerOptions returns the options of a Reader whose filter has at most so many bits.
func (s *Set) readerOptions(bits int32) table.ReaderOptions {
	o := s.o.Reader
	if bits == everyBit {
		return o
	}
	o.TableFilterPolicies = nil
	for _, p := range s.o.Reader.TableFilterPolicies {
		if _, ok := p.(limiter); !ok || bits != noBit {
			o.TableFilterPolicies = append(o.TableFilterPolicies, cmp.Or(atMost(p, int(bits)), p))
		}
	}
	return o
}

// filterErrOf returns why a filter is not in use.
func (h *handle) filterErrOf(r *table.Reader) error {
	err := r.FilterErr()
	if h.limit == noBit && errors.Is(err, table.ErrUnknownFilter) {
		return fmt.Errorf("the table filter of %d bytes is not used: FilterMemory (%d bytes) is too small for the filters of all tables, even at their fewest bits",
			h.FilterSize, h.s.o.FilterMemory)
	}
	return err
}

// checkFilter compares the table filter with the manifest.
func (m *member) checkFilter(r *table.Reader) error {
	switch f := r.Filters(); {
	case f.Table == nil || m.FilterSize == 0:
		return nil
	case int64(f.TableEntry.Length) != m.FilterSize:
		return m.mismatch("filterSize", "%d bytes in the table, %d in the manifest", f.TableEntry.Length, m.FilterSize)
	case m.FilterBits > 0 && f.TableBits != m.FilterBits:
		return m.mismatch("filterBits", "%d in the table, %d in the manifest", f.TableBits, m.FilterBits)
	}
	return nil
}
