package tablestats

import (
	"bytes"
	"math"
	"sort"
	"strings"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// FilterStats are the statistics of the block filters, or of the table filter.
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

	// EitherHash means that keys with certain last bytes are looked up twice: see filter.EitherHash.
	EitherHash bool `json:"either_hash,omitempty"`

	// FingerprintBits is the length of a binary fuse filter's fingerprints. It is 0 for Bloom filters. Only Bloom
	// filters have KMin, KMax and Fill.
	FingerprintBits int `json:"fingerprint_bits,omitempty"`

	BitsPerKey float64 `json:"bits_per_key"` // bits in the bit arrays per key
	Fill       float64 `json:"fill"`         // share of set bits
	Predicted  float64 `json:"predicted_rate"`
	Measured   float64 `json:"measured_rate"` // set by Stats.Measure
	Lookups    int     `json:"lookups"`
	Neighbors          // set by Stats.Measure

	// Rates are the predicted rates of the block filters, by number.
	Rates []float32 `json:"-"`
}

// unknownCount is the number of keys in a damaged block.
const unknownCount = math.MinInt

// maxFilterKeys bounds the number of keys in a filter that a table's properties can state.
const maxFilterKeys = math.MaxInt32

// FilterKeys counts the distinct keys in the filters of a table, and the prefixes.
type FilterKeys struct {
	file   *dbfile.File
	budget *Budget
	blocks []int // number of keys in each block filter
	table  int
	last   []byte // the last user key that was added; nil: none

	prefix []byte // the last prefix; nil: none
	slot   uint64 // the block filter that contains prefix
}

// NewFilterKeys returns the FilterKeys of a table, to which no block is added yet. The rates of its filters are
// predicted within b.
func NewFilterKeys(f *dbfile.File, b *Budget) *FilterKeys {
	k := &FilterKeys{file: f, budget: b}
	if blocks := f.Filters().Blocks; blocks != nil {
		k.blocks = make([]int, blocks.Len())
	}
	return k
}

// Add adds the next block in file order, and the error of reading it.
func (k *FilterKeys) Add(b Block, err error) {
	users := b.UserKeys
	if err != nil {
		users = unknownCount
	}
	slot := uint64(0)
	if blocks := k.file.Filters().Blocks; blocks != nil {
		slot = b.Offset >> blocks.BaseLg()
	}
	whole, perBlock := k.prefixes(b, slot)
	if k.file.Internal && b.Iter != nil && b.Iter.First() {
		if k.last != nil && bytes.Equal(internalkey.UserKey(b.Iter.Key()), k.last) {
			whole-- // the first user key was counted with the block before
		}
		b.Iter.Last()
		k.last = append(k.last[:0], internalkey.UserKey(b.Iter.Key())...)
	}
	k.table = addCounts(k.table, users, whole)
	if slot < uint64(len(k.blocks)) {
		k.blocks[slot] = addCounts(k.blocks[slot], users, perBlock)
	}
}

// prefixes returns the number of prefixes that the keys of a block add to the table filter, and to block filter
// slot. Prefixes that earlier keys have added do not count.
func (k *FilterKeys) prefixes(b Block, slot uint64) (whole, perBlock int) {
	p := k.file.Filters().Prefix
	if p == nil || b.Iter == nil {
		return 0, 0
	}
	for ok := b.Iter.First(); ok; ok = b.Iter.Next() {
		key := k.file.FilterKey(b.Iter.Key())
		n := p.PrefixLen(key)
		if n <= 0 || n > len(key) {
			continue
		}
		again := bytes.Equal(k.prefix, key[:n])
		if !again {
			whole++
		}
		if !again || k.slot != slot {
			perBlock++
		}
		k.prefix, k.slot = append(k.prefix[:0], key[:n]...), slot
	}
	return whole, perBlock
}

// addCounts adds numbers of keys, any of which may be unknown.
func addCounts(counts ...int) (sum int) {
	for _, n := range counts {
		if sum += n; n == unknownCount {
			return unknownCount
		}
	}
	return sum
}

// Stats returns the statistics of the block filters and of the table filter, if the table has them. All blocks must
// have been added. For a filter-only table, the number of keys comes from the properties.
func (k *FilterKeys) Stats() (all []FilterStats) {
	if k.file.Reader.FilterOnly() {
		if p, err := k.file.Reader.Properties(); err == nil {
			k.table = int(min(p.FilterEntries, maxFilterKeys))
		}
	}
	filters := k.file.Filters()
	if filters.Blocks != nil {
		all = append(all, k.blockFilters(filters.Blocks, filters.BlocksEntry))
	}
	if filters.HasTable() {
		all = append(all, k.tableFilter(filters.TableEntry))
	}
	return all
}

// blockFilters returns the statistics of the block filters.
func (k *FilterKeys) blockFilters(blocks *filter.BlockReader, entry layout.MetaindexEntry) FilterStats {
	s := newFilterStats(entry, format.FilterPrefix)
	s.BaseLg, s.EitherHash = blocks.BaseLg(), blocks.EitherHash()
	var all []BloomBits
	for i := range blocks.Len() {
		all = append(all, bloomBitsOf(blocks.Filter(i), k.blocks[i]))
	}
	rates := k.budget.predict(all)
	for _, rate := range rates {
		s.Rates = append(s.Rates, float32(rate))
	}
	s.setBloom(all, rates)
	return s
}

// tableFilter returns the statistics of the table filter.
func (k *FilterKeys) tableFilter(entry layout.MetaindexEntry) FilterStats {
	s := newFilterStats(entry, format.TableFilterPrefix)
	s.WholeTable = true
	contents, _, err := k.file.Layout.ReadBlock(entry.Handle)
	switch {
	case err != nil: // reading it has succeeded before, so the file has changed
	case tablefilter.IsFuse(s.Name):
		s.setFuse(contents, k.table)
	case s.Name == paged.Policy{}.Name():
		s.setPaged(contents)
	default:
		b := bloomBitsOf(contents[:len(contents)-4], k.table) // the last 4 bytes are the number of lines
		rate := filter.PredictTableRate(uint64(b.Keys), uint64(len(b.Array)/lineSize), b.K)
		s.setBloom([]BloomBits{b}, []float64{rate})
	}
	return s
}

// lineSize is the length of a line of a filter.TableBloom.
const lineSize = 64

func newFilterStats(entry layout.MetaindexEntry, prefix string) FilterStats {
	return FilterStats{Name: strings.TrimPrefix(entry.Name, prefix), Offset: entry.Offset, Bytes: entry.Length}
}

// setFuse sets the statistics of a binary fuse filter.
func (s *FilterStats) setFuse(contents []byte, keys int) {
	i, err := fuse.Inspect(contents)
	policy, policyErr := fuse.New(i.Bits)
	if err != nil || policyErr != nil {
		return
	}
	if keys == unknownCount { // estimate by the filter's length
		keys = sort.Search(fuse.MaxKeys, func(n int) bool { return policy.Size(n) >= len(contents) })
	}
	s.NonEmpty, s.Keys, s.FingerprintBits, s.Predicted = 1, keys, i.Bits, policy.Rate()
	s.BitsPerKey = 8 * float64(len(contents)) / float64(max(1, keys))
}

// setPaged sets the statistics of a paged filter, which records its number of keys.
func (s *FilterStats) setPaged(contents []byte) {
	shape, err := paged.ReadShape(contents, uint64(len(contents)))
	if err != nil {
		return
	}
	b := BloomBits{Array: contents[:shape.Pages*paged.PageSize], K: shape.K, Keys: int(shape.Keys)}
	rate := bloom.Rate(8*float64(len(b.Array))/float64(max(1, b.Keys)), b.K)
	s.setBloom([]BloomBits{b}, []float64{rate})
}

// setBloom sets the statistics of Bloom filters with these expected rates. Predicted is their mean, weighted by
// keys.
func (s *FilterStats) setBloom(all []BloomBits, rates []float64) {
	bits, set := 0., 0.
	for i, b := range all {
		if len(b.Array) == 0 {
			s.Empty++
			continue
		}
		if s.NonEmpty == 0 {
			s.KMin = b.K
		}
		s.NonEmpty++
		s.KMin, s.KMax = min(s.KMin, b.K), max(s.KMax, b.K)
		s.Keys += b.Keys
		s.Predicted += rates[i] * float64(b.Keys)
		bits += float64(8 * len(b.Array))
		set += float64(b.NumSet())
	}
	s.Fill = set / max(1, bits)
	s.Predicted /= float64(max(1, s.Keys))
	if s.Keys > 0 {
		s.BitsPerKey = bits / float64(s.Keys)
	}
}
