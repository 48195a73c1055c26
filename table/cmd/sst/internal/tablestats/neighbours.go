package tablestats

import (
	"bytes"
	"math"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// Neighbours are what a filter answered for absent keys that are neighbours of present ones: keys
// whose last byte is one more or one less. These are asked for where keys are numbers, and Bloom
// filters err more often for them than for random keys.
type Neighbours struct {
	Rate    float64 `json:"neighbour_rate"`
	Lookups int     `json:"neighbour_questions"`
}

// neighbourBlocks is how many data blocks, spread evenly, neighbours are taken of.
const neighbourBlocks = 200

// NeighboursPass reports whether neighbours pass the filter far more often than random keys do and
// than is predicted: half as often again, and by more than chance.
func (f *FilterStats) NeighboursPass() bool {
	expected := max(f.Predicted, f.Measured) * float64(f.Neighbours.Lookups)
	hits := f.Neighbours.Rate * float64(f.Neighbours.Lookups)
	return hits > 1.5*expected && hits > expected+5*math.Sqrt(expected+1)
}

// measureNeighbours sets the Neighbours of all filters.
func (s *Stats) measureNeighbours(f *dbfile.File) {
	if f.Order == table.AnyOrder || len(s.Filters) == 0 {
		return
	}
	all, hits, lookups := f.Filters(), make([]int, len(s.Filters)), 0
	n := min(neighbourBlocks, len(f.Layout.Data))
	for i := range n {
		part := f.Layout.Data[i*len(f.Layout.Data)/n]
		b, err := ReadBlock(f, part)
		if err != nil {
			continue // Collect says so
		}
		for _, key := range absentNeighbours(b, f) {
			lookups++
			for j := range s.Filters {
				whole := s.Filters[j].WholeTable
				if whole && all.Table.Contains(key) || !whole && all.Blocks.Contains(part.Offset, key) {
					hits[j]++
				}
			}
		}
	}
	for j := range hits {
		s.Filters[j].Neighbours = Neighbours{float64(hits[j]) / float64(max(1, lookups)), lookups}
	}
}

// absentNeighbours returns neighbours of the keys of a block that lie between two keys of it, and so
// are not in the table.
func absentNeighbours(b Block, f *dbfile.File) (absent [][]byte) {
	var before []byte
	for ok := b.Iter.First(); ok; ok = b.Iter.Next() {
		key := f.FilterKey(b.Iter.Key())
		next, previous := beside(before, 1), beside(key, -1)
		if bytes.Equal(next, previous) {
			next = nil
		}
		for _, k := range [][]byte{next, previous} {
			if before != nil && k != nil && f.Order.Compare(before, k) < 0 && f.Order.Compare(k, key) < 0 {
				absent = append(absent, k)
			}
		}
		before = append(before[:0:0], key...)
	}
	return absent
}

// beside returns the key with a last byte that differs by d, or nil if there is none.
func beside(key []byte, d int) []byte {
	last := len(key) - 1
	if last < 0 || int(key[last])+d < 0 || int(key[last])+d > math.MaxUint8 {
		return nil
	}
	k := append([]byte{}, key...)
	k[last] = byte(int(k[last]) + d)
	return k
}
