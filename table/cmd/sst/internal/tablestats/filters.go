package tablestats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// FilterStats are what the filters of one kind come to, those by data blocks or that of
// the whole table.
type FilterStats struct {
	Name       string  `json:"name"`
	WholeTable bool    `json:"whole_table"`
	Offset     uint64  `json:"offset"`
	Bytes      uint64  `json:"bytes"`
	NonEmpty   int     `json:"filters"` // those with keys
	Empty      int     `json:"empty_filters"`
	BaseLg     int     `json:"base_lg"` // of data blocks: of the range of the file that shares a filter
	KMin       int     `json:"k_min"`
	KMax       int     `json:"k_max"`
	BitsPerKey float64 `json:"bits_per_key"` // of the bit arrays
	Fill       float64 `json:"fill"`         // how many of the bits are set
	Predicted  float64 `json:"predicted_rate"`
	Measured   float64 `json:"measured_rate"` // by Stats.Measure
	Lookups    int     `json:"questions"`
}

// measuredLookups is how many random keys a filter's rate is measured with.
const measuredLookups = 300_000

// A BloomBits is a bit array with the number of bits that a key sets, and the keys it
// holds.
type BloomBits struct {
	Array []byte
	K     int
	Keys  int
}

// BloomBitsOf takes the filter of data blocks apart. One of under two bytes holds nothing.
func BloomBitsOf(filter []byte, keys int) BloomBits {
	if len(filter) < 2 {
		return BloomBits{Keys: keys}
	}
	return BloomBits{Array: filter[:len(filter)-1], K: int(filter[len(filter)-1]), Keys: keys}
}

// tableBloomBitsOf takes the filter of a whole table apart: a filter.TableBloom, which has the
// number of lines, 4 bytes, behind k.
func tableBloomBitsOf(filter []byte, keys int) BloomBits {
	return BloomBitsOf(filter[:len(filter)-4], keys)
}

// NumSet is how many bits are set.
func (b BloomBits) NumSet() int {
	n := 0
	for _, c := range b.Array {
		n += bits.OnesCount8(c)
	}
	return n
}

// likelyKeys is how many keys set as many bits, most likely. A filter whose bits are all
// set can have any number of them.
func (b BloomBits) likelyKeys() int {
	n := float64(8 * len(b.Array))
	keys := -math.Log1p(-float64(b.NumSet())/n) * n / float64(b.K)
	return int(max(1, min(keys, n)))
}

// Predicted is the classical rate of false positives.
func (b BloomBits) Predicted() float64 {
	if len(b.Array) == 0 {
		return 0
	}
	return math.Pow(1-math.Exp(-float64(b.K)*float64(b.Keys)/float64(8*len(b.Array))), float64(b.K))
}

// addFilters adds up the addFilters by data blocks. keys has the number of keys of each.
func (s *Stats) addFilters(f *source.File, keys []int) {
	all := f.Filters()
	if blocks := all.Blocks; blocks != nil {
		var sum filterSum
		for i := range blocks.Len() {
			sum.add(BloomBitsOf(blocks.Filter(i), keys[i]))
		}
		sum.Name, sum.Offset, sum.Bytes = strings.TrimPrefix(string(all.BlocksEntry.Name), format.FilterPrefix), all.BlocksEntry.Offset, all.BlocksEntry.Length
		sum.BaseLg = blocks.BaseLg()
		s.Filters = append(s.Filters, sum.result())
	}
	if whole := all.Table; whole != nil {
		var sum filterSum
		if contents, _, err := f.Layout.ReadBlock(all.TableEntry.Handle); err == nil { // as it was before
			sum.add(tableBloomBitsOf(contents, s.userKeys))
		}
		sum.Name, sum.Offset, sum.Bytes = strings.TrimPrefix(string(all.TableEntry.Name), format.TableFilterPrefix), all.TableEntry.Offset, all.TableEntry.Length
		sum.WholeTable = true
		s.Filters = append(s.Filters, sum.result())
	}
}

// filterSum adds up filters.
type filterSum struct {
	FilterStats
	keys, bits, set int
	predicted       float64 // of all questions that are as many as a filter has keys
}

func (s *filterSum) add(b BloomBits) {
	if len(b.Array) == 0 {
		s.Empty++
		return
	}
	if b.Keys == unknownCount {
		b.Keys = b.likelyKeys()
	}
	if s.NonEmpty == 0 {
		s.KMin = b.K
	}
	s.NonEmpty++
	s.KMin, s.KMax = min(s.KMin, b.K), max(s.KMax, b.K)
	s.keys += b.Keys
	s.bits += 8 * len(b.Array)
	s.set += b.NumSet()
	s.predicted += b.Predicted() * float64(b.Keys)
}

func (s *filterSum) result() FilterStats {
	if s.keys > 0 {
		s.BitsPerKey = float64(s.bits) / float64(s.keys)
		s.FilterStats.Predicted = s.predicted / float64(s.keys)
	}
	if s.bits > 0 {
		s.Fill = float64(s.set) / float64(s.bits)
	}
	return s.FilterStats
}

// Measure measures how often the filters err, those by data blocks in turns.
func (s *Stats) Measure(f *source.File) {
	all, data := f.Filters(), f.Layout.Data
	if len(data) == 0 {
		return
	}
	for i := range s.Filters {
		if filters := &s.Filters[i]; filters.WholeTable {
			filters.measure(func(_ int, key []byte) bool { return all.Table.Contains(key) })
		} else {
			filters.measure(func(i int, key []byte) bool { return all.Blocks.Contains(data[i%len(data)].Offset, key) })
		}
	}
}

// measure asks for random keys, which are not in the table: by chance one of them is
// once in more tables than there are.
func (f *FilterStats) measure(contains func(i int, key []byte) bool) {
	rng := rand.NewChaCha8([32]byte{1})
	var key [16]byte
	yes := 0
	for i := range measuredLookups {
		rng.Read(key[:])
		if contains(i, key[:]) {
			yes++
		}
	}
	f.Lookups, f.Measured = measuredLookups, float64(yes)/measuredLookups
}
