package wal

import (
	"bytes"
	"encoding/binary"
)

// FindMore makes the Reader go on within a block behind damage, where the next fragment is. LevelDB's
// own reader skips the rest of the block.
func (r *Reader) FindMore() { r.findMore = true }

// maxSearched is how many bytes are checked to find a fragment in one block. A damaged log of an engine
// takes far fewer. A hostile one could have a fragment of 32 KiB begin at each byte.
const maxSearched = 256 * blockSize

// A search looks for the next fragment in the rest of a block.
type search struct {
	rest   []byte
	eof    bool         // it is the last block of the log
	budget *int         // bytes that may still be checked in the block
	fails  map[int]bool // offsets from which fragments do not reach the end of the block
}

// nextFragment returns the offset > 0 in the rest of the block where the next fragment begins, or the
// length of the rest if none is found. That is where the damaged fragment ends, as its header says, if one
// begins there. Otherwise it is a fragment that others follow up to the end of the block. Those of a log
// that is stored as a value end before it, unless the value ends its batch: see numbers.
func (r *Reader) nextFragment() int {
	s := search{r.rest, r.eof, &r.budget, map[int]bool{}}
	if r.numbers != nil {
		if end := r.numbers.damagedBatchEnd(r, &s); end > 0 {
			return end
		}
	}
	if end := s.claimedEnd(0); end < len(s.rest) && s.valid(end) && r.isAnnounced(&s, end) {
		if ok, _ := r.follows(&s, end); ok {
			return end
		}
	}
	return r.search(&s)
}

// search is nextFragment for a damaged fragment that does not say where it ends.
func (r *Reader) search(s *search) int {
	for at := 1; at < len(s.rest) && *s.budget > 0; {
		if !s.valid(at) || !s.reachesEnd(at) {
			at++
			continue
		}
		ok, behind := r.follows(s, at)
		if ok {
			return at
		}
		at = behind
	}
	return len(s.rest)
}

// follows reports whether the fragments from an offset on can be of this log, as far as sequence numbers
// tell. If not, the search goes on at behind.
func (r *Reader) follows(s *search, at int) (ok bool, behind int) {
	if r.numbers == nil {
		return true, at
	}
	return r.numbers.follows(r, s, at)
}

// claimedEnd returns where the fragment at an offset ends, as its header says. It is > the length of
// rest if there is none.
func (s *search) claimedEnd(at int) int {
	if len(s.rest)-at < FragmentHeaderLen || s.rest[at+6] < kindFull || s.rest[at+6] > kindLast {
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
	*s.budget -= end - at
	return validFragmentLen(s.rest[at:end]) > 0
}

// reachesEnd reports whether fragments follow each other from an offset to the end of the block. Of a
// damaged one its header may lead to the next. Behind the last there are too few bytes for another,
// zeros, or at the end of the log one that is cut short.
func (s *search) reachesEnd(at int) bool {
	starts, ok := s.walk(at)
	if ok {
		return true
	}
	for _, start := range starts {
		s.fails[start] = true
	}
	return false
}

// walk is reachesEnd that returns where the fragments start too.
func (s *search) walk(at int) (starts []int, ok bool) {
	for len(s.rest)-at >= FragmentHeaderLen {
		starts = append(starts, at)
		end := s.claimedEnd(at)
		switch {
		case s.fails[at]:
			return starts, false
		case end > len(s.rest):
			return starts, len(bytes.Trim(s.rest[at:], "\x00")) == 0 || s.eof && s.rest[at+6] >= kindFull && s.rest[at+6] <= kindLast
		case !s.valid(at) && len(s.rest)-end >= FragmentHeaderLen && !s.valid(end):
			return starts, false
		}
		at = end
	}
	return starts, true
}
