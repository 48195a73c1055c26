package paged

import "github.com/sievetable/sievetable/filter"

// InMemory returns a policy like p whose Readers keep whole filters in memory, instead of reading a page for each
// lookup.
func (p Policy) InMemory() Policy {
	p.inMemory = true
	return p
}

// PagedTail returns TrailerSize, or 0 for a policy from InMemory: see [filter.TablePolicy].
func (p Policy) PagedTail() int {
	if p.inMemory {
		return 0
	}
	return TrailerSize
}

// OpenPaged returns a filter whose pages the caller reads, or an error of [ReadShape].
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
