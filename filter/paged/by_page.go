package paged

import "github.com/sievetable/sievetable/filter"

// InMemory returns a policy that writes the filters of p. Its Readers hold whole filters in memory, as those of
// other policies do, in place of reading a page for each lookup.
func (p Policy) InMemory() Policy {
	p.inMemory = true
	return p
}

// PagedTail returns the length in bytes of the end of a filter that a Reader of package table reads when it opens the
// table: TrailerSize, or 0 for a policy of InMemory.
func (p Policy) PagedTail() int {
	if p.inMemory {
		return 0
	}
	return TrailerSize
}

// OpenPaged returns a filter whose pages are read by the caller, with the errors of [ReadShape].
func (Policy) OpenPaged(tail []byte, size uint64) (filter.PagedFilter, error) {
	s, err := ReadShape(tail, size)
	if err != nil {
		return nil, err
	}
	return &pagedFilter{s}, nil
}

// A pagedFilter is a Shape with the methods of a filter.PagedFilter.
type pagedFilter struct{ Shape }

// Pages returns the number of pages, and PageSize.
func (f *pagedFilter) Pages() (n uint64, size int) { return f.Shape.Pages, PageSize }
