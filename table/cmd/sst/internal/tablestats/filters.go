package tablestats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
)

// FilterStats are the statistics of the block filters, or of the filter of the whole table.
type FilterStats struct {
	Name       string `json:"name"`
	WholeTable bool   `json:"whole_table"`
	Offset     uint64 `json:"offset"`
	Bytes      uint64 `json:"bytes"`
	NonEmpty   int    `json:"filters"` // filters with keys
	Empty      int    `json:"empty_filters"`
	Keys       int    `json:"keys"`    // in all filters; an estimate if blocks are damaged
	BaseLg     int    `json:"base_lg"` // base-2 logarithm of the file range per block filter
	KMin       int    `json:"k_min"`
	KMax       int    `json:"k_max"`

	// EitherHash says that keys with certain last bytes are looked up twice: see
	// filter.EitherHash.
	EitherHash bool `json:"either_hash,omitempty"`

	// FingerprintBits is the length of a binary fuse filter's fingerprints. It is 0 for Bloom
	// filters, of which alone there are KMin, KMax and Fill.
	FingerprintBits int `json:"fingerprint_bits,omitempty"`

	BitsPerKey float64 `json:"bits_per_key"` // bits in the bit arrays per key
	Fill       float64 `json:"fill"`         // share of set bits
	Predicted  float64 `json:"predicted_rate"`
	Measured   float64 `json:"measured_rate"` // set by Stats.Measure
	Lookups    int     `json:"questions"`
	Neighbours         // set by Stats.Measure

	// Rates are the predicted rates of the block filters, by number.
	Rates []float32 `json:"-"`
}

// lineSize is the length of a line of a filter.TableBloom.
const lineSize = 64

// BloomBits is a Bloom filter: its bit array, the number of bits per lookup, and its number
// of keys.
type BloomBits struct {
	Array []byte
	K     int
	Keys  int
}

// BloomBitsOf splits a block filter. A filter of < 2 bytes is empty.
func BloomBitsOf(filter []byte, keys int) BloomBits {
	if len(filter) < 2 {
		return BloomBits{Keys: keys}
	}
	return BloomBits{Array: filter[:len(filter)-1], K: int(filter[len(filter)-1]), Keys: keys}
}

// tableBloomBitsOf splits a filter.TableBloom, which ends in k and the number of lines as 4
// bytes.
func tableBloomBitsOf(contents []byte, keys int) BloomBits {
	return BloomBitsOf(contents[:len(contents)-4], keys)
}

// NumSet returns the number of set bits.
func (b BloomBits) NumSet() int {
	n := 0
	for _, c := range b.Array {
		n += bits.OnesCount8(c)
	}
	return n
}

// withKeys returns b with an estimate of its keys, if their number is unknown.
func (b BloomBits) withKeys() BloomBits {
	if b.Keys == unknownCount && len(b.Array) > 0 {
		b.Keys = b.likelyKeys()
	}
	return b
}

// likelyKeys estimates the number of keys from the number of set bits. If all bits are set,
// any large number is possible. Without probes, nothing is known.
func (b BloomBits) likelyKeys() int {
	if b.K < 1 {
		return 1
	}
	n := float64(8 * len(b.Array))
	keys := -math.Log1p(-float64(b.NumSet())/n) * n / float64(b.K)
	return int(max(1, min(keys, n)))
}

// tableRate returns the expected false-positive rate of a filter.TableBloom.
func (b BloomBits) tableRate() float64 {
	return filter.PredictTableRate(uint64(b.Keys), uint64(len(b.Array)/lineSize), b.K)
}

// blockFilters returns the statistics of the block filters.
func (k *FilterKeys) blockFilters(blocks *filter.BlockReader, entry table.MetaindexEntry) FilterStats {
	sum := filterSum{FilterStats: FilterStats{BaseLg: blocks.BaseLg(), EitherHash: blocks.EitherHash()}}
	sum.setEntry(entry, format.FilterPrefix)
	var all []BloomBits
	for i := range blocks.Len() {
		all = append(all, BloomBitsOf(blocks.Filter(i), k.blocks[i]).withKeys())
	}
	predictor := newPredictor(all, k.budget)
	for _, b := range all {
		rate := predictor.rate(b)
		sum.Rates = append(sum.Rates, float32(rate))
		sum.add(b, rate)
	}
	return sum.result()
}

// tableFilter returns the statistics of the filter of the whole table.
func (k *FilterKeys) tableFilter(entry table.MetaindexEntry) FilterStats {
	sum := filterSum{FilterStats: FilterStats{WholeTable: true}}
	sum.setEntry(entry, format.TableFilterPrefix)
	contents, _, err := k.file.Layout.ReadBlock(entry.Handle)
	if err != nil {
		return sum.FilterStats // it was read before, so the file has changed
	}
	if tablefilter.IsFuse(sum.Name) {
		sum.setFuse(contents, k.table)
		return sum.FilterStats
	}
	b := tableBloomBitsOf(contents, k.table).withKeys()
	sum.add(b, b.tableRate())
	return sum.result()
}

func (f *FilterStats) setEntry(entry table.MetaindexEntry, prefix string) {
	f.Name, f.Offset, f.Bytes = strings.TrimPrefix(entry.Name, prefix), entry.Offset, entry.Length
}

// setFuse sets the statistics of a binary fuse filter.
func (f *FilterStats) setFuse(contents []byte, keys int) {
	i, err := fuse.Inspect(contents)
	if err != nil {
		return
	}
	policy, err := fuse.New(i.Bits)
	if err != nil {
		return
	}
	if keys == unknownCount { // as many as make the filter so long
		keys = sort.Search(fuse.MaxKeys, func(n int) bool { return policy.Size(n) >= len(contents) })
	}
	f.NonEmpty, f.Keys, f.FingerprintBits, f.Predicted = 1, keys, i.Bits, policy.Rate()
	f.BitsPerKey = 8 * float64(len(contents)) / float64(max(1, keys))
}

// A filterSum adds up filters.
type filterSum struct {
	FilterStats
	bits, set int
	predicted float64 // sum of the predicted rates, weighted by keys
}

// add adds a filter with its expected rate.
func (s *filterSum) add(b BloomBits, rate float64) {
	if len(b.Array) == 0 {
		s.Empty++
		return
	}
	if s.NonEmpty == 0 {
		s.KMin = b.K
	}
	s.NonEmpty++
	s.KMin, s.KMax = min(s.KMin, b.K), max(s.KMax, b.K)
	s.Keys += b.Keys
	s.bits += 8 * len(b.Array)
	s.set += b.NumSet()
	s.predicted += rate * float64(b.Keys)
}

func (s *filterSum) result() FilterStats {
	if s.Keys > 0 {
		s.BitsPerKey = float64(s.bits) / float64(s.Keys)
		s.FilterStats.Predicted = s.predicted / float64(s.Keys)
	}
	if s.bits > 0 {
		s.Fill = float64(s.set) / float64(s.bits)
	}
	return s.FilterStats
}

// Measure measures the false-positive rates. For block filters, it looks up a key in one
// block after the other.
func (s *Stats) Measure(f *dbfile.File) {
	defer s.measureNeighbours(f)
	all, data := f.Filters(), f.Layout.Data
	for i := range s.Filters {
		if filters := &s.Filters[i]; filters.WholeTable {
			filters.measure(s.budget, func(_ int, key []byte) bool { return all.Table.Contains(key) })
		} else if len(data) > 0 {
			filters.measure(s.budget, func(i int, key []byte) bool { return all.Blocks.Contains(data[i%len(data)].Offset, key) })
		}
	}
}

// measure looks up random keys of 16 bytes. The chance that the table has one of them is
// negligible.
func (f *FilterStats) measure(b *Budget, contains func(i int, key []byte) bool) {
	rng := rand.NewChaCha8([32]byte{1})
	var key [16]byte
	yes, n := 0, b.lookupsFor(f.Keys, f.Predicted)
	for i := range n {
		rng.Read(key[:])
		if contains(i, key[:]) {
			yes++
		}
	}
	f.Lookups, f.Measured = n, float64(yes)/float64(n)
}
