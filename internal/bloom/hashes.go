package bloom

const (
	leastChunk = 64
	mostChunk  = 1 << 14 // 64 KiB
)

// Hashes are the hashes of the keys of a filter that is built. They are in chunks, each a sixteenth of what
// there is already, so that they take little more than 4 bytes each: a slice that grows takes up to three times that.
// The zero value has none.
type Hashes struct {
	full [][]uint32
	last []uint32
	n    int // of them in full chunks
	room int // for that many a chunk is made, since there were as many before Reset
}

// Add adds a hash.
func (s *Hashes) Add(h uint32) {
	if len(s.last) == cap(s.last) {
		s.grow()
	}
	s.last = append(s.last, h)
}

func (s *Hashes) grow() {
	if len(s.last) > 0 {
		s.full, s.n = append(s.full, s.last), s.Len()
	}
	s.last = make([]uint32, 0, max(leastChunk, min(max(s.n/16, s.room), mostChunk)))
}

// Len returns how many there are.
func (s *Hashes) Len() int { return s.n + len(s.last) }

// Last returns the hash that was added last. There must be one.
func (s *Hashes) Last() uint32 { return s.last[len(s.last)-1] }

// All calls f with the hashes, in order, in slices.
func (s *Hashes) All(f func(hashes []uint32)) {
	for _, chunk := range s.full {
		f(chunk)
	}
	f(s.last)
}

// Reset removes all hashes. The next ones get a chunk for as many, up to mostChunk: filters of one table have
// about as many keys each.
func (s *Hashes) Reset() {
	if s.n == 0 {
		s.last = s.last[:0]
		return
	}
	*s = Hashes{room: s.Len() + s.Len()/8}
}
