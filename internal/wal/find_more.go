package wal

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// FindMore makes the Reader go on within a block behind damage, where the next fragment is. LevelDB's
// own reader skips the rest of the block.
func (r *Reader) FindMore() { r.findMore = true }

// maxSearched is how many bytes are checked to find a fragment in one block. A damaged log of an engine
// takes far fewer. A hostile one could have a fragment of 32 KiB begin at each byte.
const maxSearched = 256 * blockSize

// A search looks for the next fragment in the rest of a Reader's block.
type search struct {
	*Reader
	reaches map[int]bool // whether fragments reach the end of the block from an offset on
}

// nextFragment returns the offset > 0 in the rest of the block where the next fragment begins, or the
// length of the rest if none is found or looked for. That is where the damaged fragment ends, as its header says, if one
// begins there. Otherwise it is a fragment that others follow up to the end of the block. Those of a log
// that is stored as a value end before it, unless the value ends its batch: see numbers.
func (r *Reader) nextFragment() int {
	if !r.findMore {
		return len(r.rest)
	}
	s := &search{r, map[int]bool{}}
	if r.numbers != nil {
		if end := s.damagedBatchEnd(); end > 0 {
			return end
		}
	}
	if end := s.claimedEnd(0); end < len(s.rest) && s.valid(end) && s.isAnnounced(end) {
		if ok, _ := s.follows(end); ok {
			return end
		}
	}
	return s.find()
}

// find is nextFragment for a damaged fragment that does not say where it ends.
func (s *search) find() int {
	for at := 1; at < len(s.rest) && s.budget > 0; {
		if !s.valid(at) || !s.reachesEnd(at) {
			at++
			continue
		}
		ok, behind := s.follows(at)
		if ok {
			if s.numbers != nil {
				s.numbers.guessed = s.numbers.unsure
			}
			return at
		}
		at = behind
	}
	return len(s.rest)
}

// claimedEnd returns where the fragment at an offset ends, as its header says. It is > the length of
// rest if there is none.
func (s *search) claimedEnd(at int) int {
	if len(s.rest)-at < FragmentHeaderLen || !isKnown(s.rest[at+6]) {
		return len(s.rest) + 1
	}
	return at + FragmentHeaderLen + int(binary.LittleEndian.Uint16(s.rest[at+4:]))
}

// valid reports whether there is a valid fragment at an offset.
func (s *search) valid(at int) bool {
	end := s.claimedEnd(at)
	if end > len(s.rest) {
		return false
	}
	s.budget -= end - at
	return validFragmentLen(s.rest[at:end]) > 0
}

// reachesEnd reports whether fragments follow each other from an offset to the end of the block. Of a
// damaged one its header may lead to the next. Behind the last there are too few bytes for another,
// zeros, or at the end of the log one that is cut short.
func (s *search) reachesEnd(at int) bool {
	var starts []int
	reaches := true
	for reaches && len(s.rest)-at >= FragmentHeaderLen {
		if known, ok := s.reaches[at]; ok {
			reaches = known
			break
		}
		starts = append(starts, at)
		end := s.claimedEnd(at)
		if end > len(s.rest) {
			reaches = len(bytes.Trim(s.rest[at:], "\x00")) == 0 || s.eof && isKnown(s.rest[at+6])
			break
		}
		reaches = s.valid(at) || len(s.rest)-end < FragmentHeaderLen || s.valid(end)
		at = end
	}
	for _, start := range starts {
		s.reaches[start] = reaches
	}
	return reaches
}

// damagedBatch returns the batch of the damaged fragment, as far as the block has it, and what follows it. before is the
// number of its bytes before the fragment. If the start of the batch was not read, there is no batch, unless the
// sequence number that must follow the last one can show that only the kind of the fragment is damaged.
func (s *search) damagedBatch() (batch []byte, before int) {
	rest := s.rest[FragmentHeaderLen:]
	switch kind := s.rest[6]; {
	case kind == kindFull, kind == kindFirst:
		return rest, 0
	case isKnown(kind) && !s.inRecord && s.numbers.end == 0:
		return nil, 0
	}
	return slices.Concat(s.record, rest), len(s.record)
}

// damagedBatchEnd returns the offset in the rest of a block where the batch ends whose last fragment is
// damaged there, if its bytes and what follows agree about it: the batch that must follow starts there, or
// the log ends. Else it returns 0. What a value of the batch has is not searched then.
func (s *search) damagedBatchEnd() int {
	n := s.numbers
	batch, before := s.damagedBatch()
	sequence, next, length := batchPrefix(batch)
	if length == 0 || sequence <= n.last || n.end > 0 && sequence != n.last+1 {
		return 0
	}
	end := length - before + FragmentHeaderLen
	if end < FragmentHeaderLen {
		return 0
	}
	following, _, found := s.batch(end)
	if found > 0 && following == next || s.eof && end == len(s.rest) {
		return end
	}
	return 0
}

// isAnnounced reports whether the end of the damaged fragment, as its header says, can be where the next
// one begins: others follow that up to the end of the block, or the header of the damaged batch agrees.
func (s *search) isAnnounced(end int) bool {
	if s.numbers == nil || s.reachesEnd(end) {
		return true
	}
	damaged, _ := s.damagedBatch()
	sequence, count, ok := batchHeader(damaged)
	following, _, length := s.batch(end)
	return ok && length > 0 && sequence > s.numbers.last && sequence+count == following
}

// batchPrefix decodes the batch at the start of b, and returns its sequence number, that of the batch that
// follows, and its length: 0 if it is malformed or has no writes.
func batchPrefix(b []byte) (sequence, next uint64, length int) {
	sequence, count, ok := batchHeader(b)
	if !ok || count == 0 {
		return 0, 0, 0
	}
	at := batchHeaderLen
	for range count {
		_, size := decodeWrite(b[at:])
		if size == 0 {
			return 0, 0, 0
		}
		at += size
	}
	return sequence, sequence + count, at
}
