package wal

import "io"

const (
	minWriteLen = 2              // bytes: the deletion of an empty key
	maxAhead    = 64 * blockSize // bytes that are read ahead to find the next batch
)

// numbers checks the sequence numbers of batches that are found after damage.
type numbers struct {
	log     io.ReaderAt
	last    uint64 // sequence number of the last write that was read; 0: unknown
	end     int64  // end of its record; 0: no write of this log was read yet
	unsure  int64  // end of the last block in which possibly foreign batches were found
	guessed int64  // end of the last such block in which no header gave their place
	ahead   start
}

// A start is the first batch that starts after the end of a block.
type start struct {
	blockEnd int64
	offset   int64
	sequence uint64
	found    bool
	exact    bool // nothing is damaged before it
}

// A run is a sequence of batches in a block, without a gap.
type run struct {
	first  uint64 // sequence number of the first batch
	last   uint64 // sequence number of the last batch
	next   uint64 // sequence number of a batch that follows
	end    int    // its end in the rest of the block
	exact  bool   // it ends with the block
	open   bool   // the last batch continues in the next block
	broken bool   // a batch with another sequence number than next follows, or a part of one that cannot be there
}

// run returns the run of batches from an offset on. It is empty if no batch starts there.
func (s *search) run(at int) run {
	u := run{end: at}
	for !u.open {
		sequence, count, length := s.batch(u.end)
		if length == 0 {
			// A batch can continue only at the start of a block.
			u.broken = s.valid(u.end) && s.rest[u.end+6] != kindFull && !s.isShort(u.end)
			break
		}
		if u.end == at {
			u.first, u.next = sequence, sequence
		}
		if u.broken = sequence != u.next; u.broken {
			return u
		}
		u.open = s.rest[u.end+6] == kindFirst
		u.last, u.next, u.end = sequence, sequence+count, u.end+length
	}
	u.exact = len(s.rest)-u.end < FragmentHeaderLen
	return u
}

// batch returns the sequence number and the number of writes of the batch at an offset, and the length of its first
// fragment. The length is 0 if there is no sound batch.
func (s *search) batch(at int) (sequence, count uint64, length int) {
	if !s.valid(at) || s.rest[at+6] > kindFirst {
		return 0, 0, 0
	}
	payload := s.rest[at+FragmentHeaderLen : s.claimedEnd(at)]
	sequence, count, ok := batchHeader(payload)
	if !ok {
		return 0, 0, 0
	}
	if s.rest[at+6] == kindFull {
		if _, sound := countWrites(payload); !sound {
			return 0, 0, 0
		}
	}
	return sequence, count, FragmentHeaderLen + len(payload)
}

// follows reports whether the batches from an offset on in the rest of the block can continue the writes read so
// far, judging by sequence numbers. If not, they are foreign and end at behind, where the search continues.
func (s *search) follows(at int) (ok bool, behind int) {
	n := s.numbers
	if n == nil {
		return true, at
	}
	u, start := s.run(at), s.blockEnd-int64(len(s.rest))
	switch {
	case u.end == at && !s.isShort(at) || u.broken || u.open && !u.exact: // a first fragment ends its block
		return false, max(u.end, at+1)
	case u.end > at && !n.goesOn(u.first, start+int64(at)):
		return false, u.end
	}
	next := n.startBehind(s.blockEnd, s.zeros)
	if u.end > at && next.found && !n.leadsTo(u, next, start) {
		return false, u.end
	}
	if !next.found || !next.exact || !u.exact {
		n.unsure = s.blockEnd
	}
	return true, at
}

// leadsTo reports whether a run can be before next, the first batch that starts after the block. offset is the
// offset of the rest of the block in the log.
func (n *numbers) leadsTo(u run, next start, offset int64) bool {
	if next.exact && u.exact {
		return next.sequence == u.next || u.open && next.sequence == u.last // it is torn
	}
	return next.sequence >= u.last && next.sequence <= highestAfter(u.next, next.offset-offset-int64(u.end))
}

// isShort reports whether the first fragment of a batch is at an offset, and ends within the header of the batch.
func (s *search) isShort(at int) bool {
	end := s.claimedEnd(at)
	return end == len(s.rest) && s.rest[at+6] == kindFirst && end-at < FragmentHeaderLen+batchHeaderLen
}

// goesOn reports whether a batch with that sequence number can be at an offset, after the last write.
func (n *numbers) goesOn(sequence uint64, offset int64) bool {
	return sequence > n.last && (n.end == 0 || sequence <= highestAfter(n.last+1, offset-n.end))
}

// highestAfter returns the highest possible sequence number of a batch after that many skipped bytes, which start
// with a batch with the number next.
func highestAfter(next uint64, skipped int64) uint64 { return next + uint64(skipped)/minWriteLen }

// startBehind returns the first batch that starts after the end of a block.
func (n *numbers) startBehind(blockEnd int64, z zeros) start {
	if n.ahead.blockEnd == blockEnd {
		return n.ahead
	}
	to := start{blockEnd: blockEnd, exact: true}
	length := max(0, min(maxAhead, z.size-blockEnd))
	r := NewReader(io.NewSectionReader(n.log, blockEnd, length), func(Damage) {}) // the log's own Reader reports damage
	r.blockEnd, r.zeros = blockEnd, z
	to.find(r)
	n.ahead = to
	return to
}

// find reads up to the first batch.
func (to *start) find(r *Reader) {
	for !to.found {
		f, err := r.fragment()
		if err != nil {
			return // an error of the file is met again by reading on
		}
		switch f.kind {
		case kindZero:
			to.exact = false
		case kindFull, kindFirst:
			to.offset = f.offset
			to.sequence, _, to.found = batchHeader(f.payload)
			to.exact = to.exact && to.found
		}
	}
}
