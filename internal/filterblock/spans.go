package filterblock

import "unsafe"

// A Span is where the filter of a data block is in the filter block. Get it once with
// Reader.Span and store it to check many keys of one data block: finding it
// takes about as long as Reader.ContainsInSpan.
type Span struct{ Start, Limit uint32 }

// NoFilter is the Span of a data block that has no filter, or one with damaged offsets.
var NoFilter = Span{1, 0}

// Spans has the Span of each data block of a table, in the order of the file. It takes 4
// bytes for a Span if the filters are one behind the other, as engines write them, and else 8.
// It is immutable, and safe for concurrent use. Reader.Spans returns it; the zero value is
// of no data block.
type Spans struct {
	// Where the filter of each data block starts, and where the last one ends; nil if that does
	// not tell all. Data blocks that are shorter than 2^BaseLg bytes can share a filter.
	starts []uint32

	all []Span // otherwise
}

// maxSharing is how many data blocks in a row may share a filter in starts, so that At need not
// look far.
const maxSharing = 16

// Spans returns the Span of each of n data blocks. offset returns where data block i starts, in
// bytes from the start of the file.
func (b *Reader) Spans(n int, offset func(i int) uint64) Spans {
	starts := make([]uint32, 0, n+1)
	sharing := 0  // blocks in a row with the filter of the last one
	var last Span // it ends where the first filter starts, at 0
	for i := range n {
		s := b.Span(offset(i))
		switch {
		case s.Start >= s.Limit:
			return b.allSpans(n, offset)
		case s.Start == last.Limit:
			sharing = 1
		case s != last || sharing == maxSharing:
			return b.allSpans(n, offset)
		default:
			sharing++
		}
		starts, last = append(starts, s.Start), s
	}
	return Spans{starts: append(starts, last.Limit)}
}

// allSpans returns Spans that have them as they are.
func (b *Reader) allSpans(n int, offset func(i int) uint64) Spans {
	all := make([]Span, n)
	for i := range all {
		all[i] = b.Span(offset(i))
	}
	return Spans{all: all}
}

// At returns the Span of data block i, 0 ≤ i < n.
func (s *Spans) At(i int) Span {
	if s.all != nil {
		return s.all[i]
	}
	start := s.starts[i]
	for i++; s.starts[i] == start; i++ { // it shares its filter with the next block
	}
	return Span{start, s.starts[i]}
}

// Size returns how many bytes of memory the Spans take.
func (s *Spans) Size() int64 {
	return int64(cap(s.starts))*int64(unsafe.Sizeof(uint32(0))) + int64(cap(s.all))*int64(unsafe.Sizeof(Span{}))
}
