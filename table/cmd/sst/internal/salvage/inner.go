package salvage

import "bytes"

// classifyInner determines the kinds of the blocks before an offset. If pages have moved, or another table follows,
// some are no data blocks.
func (s *search) classifyInner(end int, lengths map[uint64]bool) {
	var before, e extent
	for next := range s.blocks.all() {
		if e.end > 0 && e.start < end {
			if k := s.innerKind(before, e, next, lengths); k != dataBlock {
				s.kinds[e.start] = k
			}
		}
		before, e = e, next
	}
}

// innerKind determines the kind of a block between two others with entries, of which the first may be missing. If its
// keys are between theirs, it is a data block.
func (s *search) innerKind(before, e, next extent, lengths map[uint64]bool) blockKind {
	it, err := s.open(e)
	if err != nil {
		return dataBlock
	}
	k := kindOf(it, lengths, uint64(e.start), 0, false, false, false)
	if k != dataBlock && s.isBefore(before, e) && s.isBefore(e, next) {
		return dataBlock
	}
	return k
}

// isBefore reports whether block a is missing, or all its keys are bytewise smaller than each key of block b.
func (s *search) isBefore(a, b extent) bool {
	if a.end == 0 {
		return true
	}
	_, most := s.bounds(a)
	least, _ := s.bounds(b)
	return bytes.Compare(most, least) < 0
}
