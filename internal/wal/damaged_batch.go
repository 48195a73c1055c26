package wal

import (
	"encoding/binary"
	"slices"
)

// damagedBatchEnd returns the offset in the rest of a block where the batch ends whose last fragment is
// damaged there, if its bytes and what follows agree about it: the batch that must follow starts there, or
// the log ends. Else it returns 0. What a value of the batch has is not searched then.
func (n *numbers) damagedBatchEnd(r *Reader, s *search) int {
	if len(s.rest) < FragmentHeaderLen {
		return 0
	}
	before := r.unfinished()
	sequence, next, length := batchPrefix(slices.Concat(before, s.rest[FragmentHeaderLen:]))
	if length == 0 || sequence <= n.last || n.end >= 0 && sequence != n.last+1 {
		return 0
	}
	end := length - len(before) + FragmentHeaderLen
	if end < FragmentHeaderLen {
		return 0
	}
	following, _, found := s.batch(end)
	if found > 0 && following == next || r.eof && end == len(s.rest) {
		return end
	}
	return 0
}

// isAnnounced reports whether the end of the damaged fragment, as its header says, can be where the next
// one begins: others follow that up to the end of the block, or the header of the damaged batch agrees.
func (r *Reader) isAnnounced(s *search, end int) bool {
	if r.numbers == nil || s.reachesEnd(end) {
		return true
	}
	record := slices.Concat(r.unfinished(), s.rest[FragmentHeaderLen:])
	sequence, ok := FirstSequence(record)
	following, _, length := s.batch(end)
	return ok && length > 0 && sequence > r.numbers.last && sequence+uint64(binary.LittleEndian.Uint32(record[8:])) == following
}

// batchPrefix decodes the batch at the start of b, and returns its sequence number, that of the batch that
// follows, and its length: 0 if it is malformed or has no writes.
func batchPrefix(b []byte) (sequence, next uint64, length int) {
	sequence, ok := FirstSequence(b)
	if !ok {
		return 0, 0, 0
	}
	count, at := uint64(binary.LittleEndian.Uint32(b[8:])), batchHeaderLen
	for range count {
		if at == len(b) {
			return 0, 0, 0
		}
		_, size := decodeWrite(b[at:])
		if size == 0 {
			return 0, 0, 0
		}
		at += size
	}
	if count == 0 {
		at = 0
	}
	return sequence, sequence + count, at
}
