package salvage

import (
	"errors"
	"fmt"
	"iter"
)

// search is what is found in a file without index. However many blocks and gaps there are,
// it takes less memory than the file.
type search struct {
	fileImage
	blocks   extents // of entries
	kinds    classifier
	gaps     []region // the first of them
	moreGaps Losses   // the other gaps
}

// searchBlocks finds blocks by their form and their checksums, and what is no block at all.
func searchBlocks(in fileImage) *search {
	s := &search{fileImage: in}
	lengths := map[uint64]bool{} // few are different, as they make up the file
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

// data returns where data blocks are.
func (s *search) data() iter.Seq[extent] {
	return func(yield func(extent) bool) {
		for e := range s.blocks.all() {
			if s.kinds.of(e) == dataBlock && !yield(e) {
				return
			}
		}
	}
}

// addLeftOut adds the blocks of entries that look like no data.
func (s *search) addLeftOut(l *Losses) {
	for e := range s.blocks.all() {
		if k := s.kinds.of(e); k != dataBlock {
			what := func() string { return fmt.Sprintf("the block of %d bytes at %d", e.end-e.start, e.start) }
			l.add(what, e.end-e.start, errors.New(leftOutReasons[k]))
		}
	}
}
