package tabletest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table/merge"
)

// A Model is the sorted pairs within an iterator's bounds, and a position in them, from −1 to len(Pairs).
type Model struct {
	Pairs   []workload.Pair
	Compare func(a, b []byte) int
	At      int
}

func (m *Model) search(key []byte) int {
	i, _ := slices.BinarySearchFunc(m.Pairs, key, func(p workload.Pair, k []byte) int { return m.Compare(p.Key, k) })
	return i
}

func (m *Model) to(at int) bool {
	m.At = max(-1, min(at, len(m.Pairs)))
	return m.At >= 0 && m.At < len(m.Pairs)
}

// Step makes the same random move with the iterator and the model.
func Step(rng *rand.Rand, it merge.Iterator, m *Model, key []byte) (move string, got, want bool) {
	at := m.search(key) // before the move, which may overwrite key
	switch rng.IntN(8) {
	case 0:
		return "First", it.First(), m.to(0)
	case 1:
		return "Last", it.Last(), m.to(len(m.Pairs) - 1)
	case 2:
		return fmt.Sprintf("SeekGE(%q)", key), it.SeekGE(key), m.to(at)
	case 3:
		return fmt.Sprintf("SeekLT(%q)", key), it.SeekLT(key), m.to(at - 1)
	case 4, 5:
		return "Next", it.Next(), m.to(m.At + 1)
	default:
		return "Prev", it.Prev(), m.to(m.At - 1)
	}
}
