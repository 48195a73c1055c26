package salvage

import (
	"errors"
	"fmt"
	"iter"
)

// A search holds the blocks and gaps of a file without index. It takes less memory than the
// file, however many blocks and gaps there are.
type search struct {
	fileImage
	blocks   extents // blocks with entries
	kinds    classifier
	gaps     []region // the first gaps
	moreGaps Losses   // counts of the other gaps
}

// searchBlocks finds the blocks and gaps of a file.
func searchBlocks(in fileImage) *search {
	s := &search{fileImage: in}
	lengths := map[uint64]bool{} // few different ones, because they add up to the size of the file
	var last []extent
	for p := range scan(in) {
		if p.kind == gap {
			s.addGap(p)
			continue
		}
		lengths[uint64(p.end-p.start)] = true
		if p.kind == entryBlock {
			s.blocks.add(p.extent)
			last = append(last, p.extent)
			last = last[max(0, len(last)-maxTrailingBlocks):]
		}
	}
	s.kinds = classify(in, last, lengths)
	return s
}

// data returns the extents of the data blocks.
func (s *search) data() iter.Seq[extent] {
	return func(yield func(extent) bool) {
		for e := range s.blocks.all() {
			if s.kinds.of(e) == dataBlock && !yield(e) {
				return
			}
		}
	}
}

// addLeftOut adds the blocks with entries that are not data blocks.
func (s *search) addLeftOut(l *Losses) {
	for e := range s.blocks.all() {
		if k := s.kinds.of(e); k != dataBlock {
			what := func() string { return fmt.Sprintf("the block of %d bytes at %d", e.end-e.start, e.start) }
			l.add(what, e.end-e.start, errors.New(leftOutReasons[k]))
		}
	}
}
