package wal

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// FindMore makes the Reader continue after damage at the next fragment in the block. LevelDB's own reader skips the
// rest of the block.
func (r *Reader) FindMore() { r.findMore = true }

// maxSearched is the number of bytes that are checked to find fragments in one block. A damaged log of an engine
// takes far fewer. In a hostile log a fragment of 32 KiB could begin at each byte.
const maxSearched = 256 * blockSize

// A search looks for the next fragment in the rest of a Reader's block.
type search struct {
	*Reader
	reaches map[int]bool // by offset: whether fragments reach the end of the block
}

// nextFragment returns the offset > 0 of the next fragment in the rest of the block. If it finds none, or if
// findMore is not set, it returns the length of the rest. It prefers a fragment at the end of the damaged one, as
// given by its header. Otherwise it looks for a fragment from which fragments follow each other to the end of the
// block. The fragments of a log that is stored as a value end before that, unless the value ends its batch: see
// numbers.
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

// find is nextFragment for a damaged fragment whose header does not give its end.
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

// claimedEnd returns the end of the fragment at an offset, as given by its header. If there is no fragment, it is >
// the length of rest.
func (s *search) claimedEnd(at int) int {
	if len(s.rest)-at < FragmentHeaderLen || !isKnown(s.rest[at+6]) {
		return len(s.rest) + 1
	}
	return at + FragmentHeaderLen + int(binary.LittleEndian.Uint16(s.rest[at+4:]))
}

// valid reports whether a valid fragment is at an offset.
func (s *search) valid(at int) bool {
	end := s.claimedEnd(at)
	if end > len(s.rest) {
		return false
	}
	s.budget -= end - at
	return validFragmentLen(s.rest[at:end]) > 0
}

// reachesEnd reports whether fragments follow each other from an offset to the end of the block. A damaged fragment
// counts if its header leads to the next. The last fragment may be followed by too few bytes for another, by zeros
// or, at the end of the log, by an incomplete fragment.
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

// damagedBatch returns the batch of the damaged fragment, as far as the block contains it, and the bytes after it.
// before is the number of its bytes before the fragment. If the start of the batch was not read, there is no batch,
// unless the expected sequence number can show that only the kind of the fragment is damaged.
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

// damagedBatchEnd returns the end of the batch whose last fragment is damaged, as an offset in the rest of the
// block. It returns 0 unless the bytes after the batch confirm its end: the expected next batch starts there, or the
// log ends. With a known end, the values of the batch are not searched.
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

// isAnnounced reports whether the next fragment can begin at end, the end of the damaged fragment as given by its
// header. Either fragments follow each other from there to the end of the block, or the header of the damaged batch
// agrees.
func (s *search) isAnnounced(end int) bool {
	if s.numbers == nil || s.reachesEnd(end) {
		return true
	}
	damaged, _ := s.damagedBatch()
	sequence, count, ok := batchHeader(damaged)
	following, _, length := s.batch(end)
	return ok && length > 0 && sequence > s.numbers.last && sequence+count == following
}

// batchPrefix decodes the batch at the start of b, and returns its sequence number, the sequence number of the batch
// after it, and its length. The length is 0 if the batch is malformed or has no writes.
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
