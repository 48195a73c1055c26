package tablestats

import (
	"bytes"
	"math"
	"math/rand/v2"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// Measure measures the false-positive rates.
func (s *Stats) Measure(f *dbfile.File) {
	for i := range s.Filters {
		if filters := &s.Filters[i]; filters.WholeTable || len(f.Layout.Data) > 0 {
			filters.measure(f, s.budget)
		}
	}
	if f.Order != table.AnyOrder && len(s.Filters) > 0 {
		s.measureNeighbors(f)
	}
}

// measure looks up random keys of 16 bytes, in block filters one block after the other. The chance that the table
// contains one of them is negligible.
func (s *FilterStats) measure(f *dbfile.File, b *Budget) {
	filters, offset := s.alone(f), uint64(0)
	rng := rand.NewChaCha8([32]byte{1})
	var key [16]byte
	yes, n := 0, b.lookupsFor(s.Keys, s.Predicted)
	for i := range n {
		rng.Read(key[:])
		if data := f.Layout.Data; len(data) > 0 {
			offset = data[i%len(data)].Offset
		}
		if filters.Contains(offset, key[:]) {
			yes++
		}
	}
	s.Lookups, s.Measured = n, float64(yes)/float64(n)
}

// alone returns the filters of f that s describes, without the others.
func (s *FilterStats) alone(f *dbfile.File) dbfile.Filters {
	filters := f.FiltersInMemory()
	if s.WholeTable {
		filters.Blocks = nil
	} else {
		filters.Table = nil
	}
	return filters
}

const (
	maxLookups    = 300_000 // in a filter
	leastLookups  = 1_000   // in a filter, if there are very many tables
	lookupsPerKey = 10

	// A filter with few keys needs so many lookups that its rate is accurate to about a tenth, within these bounds.
	wantedHits    = 100
	minLookups    = 10_000
	maxMinLookups = 30_000

	// sharedLookups bounds the lookups in all filters of a kind together. They take one or two seconds.
	sharedLookups = 30_000_000

	// maxPredictions bounds the number of predicted rates, since each takes 5 to 160 ms.
	maxPredictions   = 100
	exactPredictions = maxPredictions / 2
)

// A Budget bounds the work for the statistics of several tables, beyond reading them.
type Budget struct {
	lookups int               // maximum for each filter
	exact   map[shape]float64 // the ratios that were predicted
	ratios  map[shape]float64 // the last predicted ratio of each kind
}

// NewBudget returns the Budget for that many tables.
func NewBudget(tables int) *Budget {
	share := sharedLookups / max(1, tables)
	return &Budget{lookups: min(maxLookups, max(leastLookups, share)), exact: map[shape]float64{}, ratios: map[shape]float64{}}
}

// lookupsFor returns the number of random keys to look up in a filter with that many keys and that predicted rate.
func (b *Budget) lookupsFor(keys int, predicted float64) int {
	wanted := maxMinLookups
	if predicted > 0 {
		wanted = int(min(max(minLookups, wantedHits/predicted), maxMinLookups))
	}
	wanted = max(wanted, lookupsPerKey*min(max(0, keys), maxLookups/lookupsPerKey))
	return min(wanted, b.lookups)
}

// ratio returns shape.ratio for a shape. While there were few predictions, it is exact. Then the ratio of another
// shape of the same kind is used, so that many tables take no more predictions than one. After maxPredictions, the
// ratio of new kinds is 1.
func (b *Budget) ratio(s, kind shape) float64 {
	if ratio, known := b.exact[s]; known {
		return ratio
	}
	alike, known := b.ratios[kind]
	switch made := len(b.exact); {
	case known && made >= exactPredictions:
		return alike
	case made >= maxPredictions:
		return 1
	}
	ratio := s.ratio()
	b.exact[s], b.ratios[kind] = ratio, ratio
	return ratio
}

// Neighbors are the results of looking up absent neighbors of the table's keys: keys whose last byte is one more or
// one less. Such lookups are common if keys are numbers, and Bloom filters have more false positives for them than
// for random keys.
type Neighbors struct {
	Rate    float64 `json:"neighbor_rate"`
	Lookups int     `json:"neighbor_lookups"`
}

// neighborBlocks is the number of data blocks, spread evenly, whose keys' neighbors are looked up.
const neighborBlocks = 200

// NeighborsPass reports whether neighbors pass the filter far more often than random keys, and than predicted: by
// more than half, and by more than chance.
func (f *FilterStats) NeighborsPass() bool {
	expected := max(f.Predicted, f.Measured) * float64(f.Neighbors.Lookups)
	hits := f.Neighbors.Rate * float64(f.Neighbors.Lookups)
	return hits > 1.5*expected && hits > expected+5*math.Sqrt(expected+1)
}

// measureNeighbors sets the Neighbors of all filters.
func (s *Stats) measureNeighbors(f *dbfile.File) {
	hits, lookups := make([]int, len(s.Filters)), 0
	n := min(neighborBlocks, len(f.Layout.Data))
	for i := range n {
		part := f.Layout.Data[uint64(i)*uint64(len(f.Layout.Data))/uint64(n)] // an int can have 32 bits
		b, err := ReadBlock(f, part)
		if err != nil {
			continue // reported by Collect
		}
		absent := absentNeighbors(b, f)
		lookups += len(absent)
		for j := range s.Filters {
			filters := s.Filters[j].alone(f)
			for _, key := range absent {
				if filters.Contains(part.Offset, key) {
					hits[j]++
				}
			}
		}
	}
	for j := range hits {
		s.Filters[j].Neighbors = Neighbors{float64(hits[j]) / float64(max(1, lookups)), lookups}
	}
}

// absentNeighbors returns neighbors of a block's keys that lie between two adjacent keys, and so are not in the
// table.
func absentNeighbors(b Block, f *dbfile.File) (absent [][]byte) {
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

// beside returns key with d added to its last byte, or nil if that is impossible.
func beside(key []byte, d int) []byte {
	last := len(key) - 1
	if last < 0 || int(key[last])+d < 0 || int(key[last])+d > math.MaxUint8 {
		return nil
	}
	k := bytes.Clone(key)
	k[last] = byte(int(k[last]) + d)
	return k
}
