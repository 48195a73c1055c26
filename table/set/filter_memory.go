package set

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// Special numbers of bits that a filter may keep. Others are 1 to maxFilterBits.
const (
	everyBit = math.MaxInt32 // the filter is kept unchanged
	noBit    = 0             // the filter is not loaded
)

// A limiter is a filter.TablePolicy with the optional method AtMost.
type limiter interface {
	AtMost(bits int) (filter.TablePolicy, error)
}

// planFilters returns the number of bits that each table's filter may keep, so that all filters fit into
// FilterMemory. The widest filters are narrowed first, and the largest among these: equal widths give the fewest
// false positives.
func (s *Set) planFilters(tables []*Table) []int32 {
	plan, byFilter, size := make([]int32, len(tables)), []int(nil), int64(0)
	for i, t := range tables {
		plan[i] = everyBit
		// A filter that does not fit into the tail is before it, and lookups read its pages. A smaller one counts,
		// since the manifest does not say where it is.
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
			if tables[i].canNarrow(bits) {
				size -= tables[i].filterSize(plan[i]) - tables[i].filterSize(bits)
				plan[i] = bits
			}
		}
	}
	return plan
}

// filterWidths returns the widths that policies can narrow filters to, in descending order, and then noBit. If no
// policy narrows filters, it returns nil. Mapped filters are never narrowed: they take no memory, but a copy would.
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

// atMost returns the policy that reads the filters of p with at most that many bits, or nil if p cannot narrow them.
func atMost(p filter.TablePolicy, bits int) filter.TablePolicy {
	if l, ok := p.(limiter); ok {
		if limited, err := l.AtMost(bits); err == nil {
			return limited
		}
	}
	return nil
}

// canNarrow reports whether the filter can be narrowed to that many bits. A table with only a filter keeps it.
func (t *Table) canNarrow(bits int32) bool {
	return int(bits) < t.FilterBits && (bits != noBit || t.TailSize < t.Size)
}

// filterSize returns the maximum size of a filter with that many bits, in bytes.
func (t *Table) filterSize(bits int32) int64 {
	const trailer = 32 // at most; it is never narrowed
	switch bits {
	case everyBit:
		return t.FilterSize
	case noBit:
		return 0
	}
	return min(t.FilterSize, (t.FilterSize/int64(t.FilterBits)+1)*int64(bits)+trailer)
}

// limitFilters applies the plan to the tables of v, and returns open handles with wider filters, for the caller to
// release. If unused is set, it applies the plan only to tables outside the current version, and returns none. The
// caller holds mu.
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

// policiesFor returns the policies of a Reader whose filter has at most that many bits.
func (s *Set) policiesFor(bits int32) (policies []filter.TablePolicy) {
	for _, p := range s.o.Reader.TableFilterPolicies {
		if _, ok := p.(limiter); !ok || bits != noBit {
			policies = append(policies, cmp.Or(atMost(p, int(bits)), p))
		}
	}
	return policies
}

// filterErrOf returns the error of a filter that is not used.
func (h *handle) filterErrOf(r *table.Reader) error {
	err := r.FilterErr()
	if h.limit == noBit && errors.Is(err, table.ErrUnknownFilter) {
		return h.errorf("the table filter of %d bytes is not used: FilterMemory (%d bytes) is too small for the filters of all tables, even at their fewest bits",
			h.FilterSize, h.s.o.FilterMemory)
	}
	return err
}
