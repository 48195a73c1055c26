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
	eof    bool // it is the last block of the log
	budget *int // bytes that may still be checked in the block
}

// nextFragment returns the offset > 0 in the rest of the block where the next fragment begins, or the
// length of the rest if none is found. That is where the damaged fragment ends, as its header says, if one
// begins there. Otherwise it is a fragment that others follow up to the end of the block: those of a log
// that is stored as a value end before it.
func (r *Reader) nextFragment() int {
	s := search{r.rest, r.eof, &r.budget}
	if end := s.claimedEnd(0); end < len(s.rest) && s.valid(end) {
		return end
	}
	for at := 1; at < len(s.rest) && *s.budget > 0; at++ {
		if s.valid(at) && s.reachesEnd(at) {
			return at
		}
	}
	return len(s.rest)
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
	for len(s.rest)-at >= FragmentHeaderLen {
		end := s.claimedEnd(at)
		switch {
		case end > len(s.rest):
			return len(bytes.Trim(s.rest[at:], "\x00")) == 0 || s.eof && s.rest[at+6] >= kindFull && s.rest[at+6] <= kindLast
		case !s.valid(at) && len(s.rest)-end >= FragmentHeaderLen && !s.valid(end):
			return false
		}
		at = end
	}
	return true
}
