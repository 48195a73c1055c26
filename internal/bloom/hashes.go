package bloom

// chunkLen is how many hashes a whole chunk has: 64 KiB of them.
const chunkLen = 1 << 14

// Hashes are the hashes of the keys of a filter that is built. Many of them are in chunks, so that they take 4
// bytes each: a slice that grows takes up to three times that. The zero value has none.
type Hashes struct {
	whole [][]uint32
	last  []uint32
}

// Add adds a hash.
func (s *Hashes) Add(h uint32) {
	if len(s.last) == chunkLen {
		s.whole, s.last = append(s.whole, s.last), make([]uint32, 0, chunkLen)
	}
	s.last = append(s.last, h)
}

// Len returns how many there are.
func (s *Hashes) Len() int { return len(s.whole)*chunkLen + len(s.last) }

// Last returns the hash that was added last. There must be one.
func (s *Hashes) Last() uint32 {
	return s.last[len(s.last)-1]
}

// All calls f with the hashes, in order, in slices.
func (s *Hashes) All(f func(hashes []uint32)) {
	for _, chunk := range s.whole {
		f(chunk)
	}
	f(s.last)
}

// Reset removes all hashes, and keeps the memory of a chunk.
func (s *Hashes) Reset() { s.whole, s.last = nil, s.last[:0] }
