package salvage

import (
	"encoding/binary"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// rawEnd walks through an uncompressed block: entries with increasing keys, the restart
// points, and their number. The first restart point is 0. The entry at each restart point
// shares 0 bytes.
func (s *scanner) rawEnd(data []byte) int {
	if len(data) < 8 || data[0] != 0 {
		return 0
	}
	base := len(s.data) - len(data)
	isStart, array := s.entries(base)
	at := array - base
	for n, before := uint32(0), uint32(0); len(data)-at >= 4+format.TrailerLen; n++ {
		s.budget -= 4 * entryCost
		point := binary.LittleEndian.Uint32(data[at:])
		at += 4
		switch {
		case n > 0 && point == n: // this is the number of restart points
			return at
		case n == 0 && point != 0 || n > 0 && point <= before || !isStart(base+int(point)) || data[point] != 0:
			return 0
		}
		before = point
	}
	return 0
}

// An entryRun is a run of adjacent entries. starts has where they start, and array where
// they end: the restart points can follow there.
type entryRun struct {
	base, array int
	starts      bitset
}

func (r *entryRun) has(at int) bool { return at >= r.base && at < r.array && r.starts.has(at) }

// forget makes a run empty. It walks through the entries again to clear starts, which is
// cheaper than clearing all of it.
func (s *scanner) forget(r *entryRun) {
	for at := r.base; at < r.array; {
		r.starts.unset(at)
		_, _, next := decodeEntryLens(s.data[at:])
		at += next
	}
	r.base, r.array = 0, 0
}

// entryCost is the cost of reading an entry, compared with copying a byte.
const entryCost = 4

// minKeptRun is the length of a run of entries that is worth keeping.
const minKeptRun = 16

// entries walks through the entries from base on. It returns where the restart points would
// start, and a function that reports whether an entry starts at an offset. When it reaches
// the kept run, it uses that instead of walking through it again.
func (s *scanner) entries(base int) (isStart func(at int) bool, array int) {
	r := &s.scratch
	s.forget(r)
	r.base = base
	n, last := 0, uint64(0)
	at := base
	for ; at-base <= MaxBlock; n++ {
		s.budget -= entryCost
		if s.keptRun.has(at) {
			r.array = at
			return func(at int) bool { return r.has(at) || s.keptRun.has(at) }, s.keptRun.array
		}
		shared, unshared, next := decodeEntryLens(s.data[at:])
		if next == 0 || shared > last || at > base && unshared == 0 { // malformed, or the key is not greater than the one before
			break
		}
		r.starts.set(at)
		at, last = at+next, shared+unshared
	}
	r.array = at
	if n > minKeptRun && (s.keptRun.array <= base || at > s.keptRun.array) {
		s.keptRun, s.scratch = s.scratch, s.keptRun
		r = &s.keptRun
	}
	return r.has, at
}

// decodeEntryLens decodes the lengths of the entry at the start of data, and returns where
// the next entry starts. next is 0 if the entry is malformed.
func decodeEntryLens(data []byte) (shared, unshared uint64, next int) {
	var lengths [3]uint64
	at := 0
	for i := range lengths {
		length, n := wire.Uvarint(data[at:])
		if n == 0 {
			return 0, 0, 0
		}
		lengths[i], at = length, at+n
	}
	rest := uint64(len(data) - at)
	if lengths[1] > rest || lengths[2] > rest-lengths[1] {
		return 0, 0, 0
	}
	return lengths[0], lengths[1], at + int(lengths[1]+lengths[2])
}
