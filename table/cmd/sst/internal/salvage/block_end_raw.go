package salvage

import (
	"encoding/binary"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// rawEnd goes over what a block of entries has: those, each above the one before, and
// where restart points are, the first of which is 0, with their number. At each there is
// an entry that shares nothing.
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
		case n > 0 && point == n: // no restart point: it would be that many entries on
			return at
		case n == 0 && point != 0 || n > 0 && point <= before || !isStart(base+int(point)) || data[point] != 0:
			return 0
		}
		before = point
	}
	return 0
}

// entryRun is where entries start that follow one another, and where the restart points are
// that they lead to.
type entryRun struct {
	base, array int
	starts      bitset
}

func (r *entryRun) has(at int) bool { return at >= r.base && at < r.array && r.starts.has(at) }

// forget has a run be empty. Few entries can reach far: they are gone over once more.
func (s *scanner) forget(r *entryRun) {
	for at := r.base; at < r.array; {
		r.starts.unset(at)
		_, _, next := decodeEntryLens(s.data[at:])
		at += next
	}
	r.base, r.array = 0, 0
}

// entryCost is what it takes to go over an entry, beside a byte that is copied.
const entryCost = 4

// minKeptRun is how many entries a run has that is worth keeping.
const minKeptRun = 16

// entries goes over the entries from base on, and returns where their restart points are,
// and what tells where entries start. Those of the run that was kept are not gone over again.
func (s *scanner) entries(base int) (isStart func(at int) bool, array int) {
	r := &s.scratch
	s.forget(r)
	r.base = base
	n, last := 0, uint64(0)
	at := base
	for ; at-base <= maxBlock; n++ {
		s.budget -= entryCost
		if s.keptRun.has(at) {
			r.array = at
			return func(at int) bool { return r.has(at) || s.keptRun.has(at) }, s.keptRun.array
		}
		shared, unshared, next := decodeEntryLens(s.data[at:])
		if next == 0 || shared > last || at > base && unshared == 0 { // no entry, or not above
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

// decodeEntryLens reads the lengths of an decodeEntryLens, and where the next one starts, which is 0 if
// data is too short.
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
	room := uint64(len(data) - at)
	if lengths[1] > room || lengths[2] > room-lengths[1] {
		return 0, 0, 0
	}
	return lengths[0], lengths[1], at + int(lengths[1]+lengths[2])
}
