package report

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"sort"
)

// A Histogram compares series of sizes in common bins.
type Histogram struct {
	Title  string   `json:"title"`
	Unit   string   `json:"unit"` // unit of the sizes
	Of     string   `json:"of"`   // what is counted
	Series []Series `json:"series"`
	Bins   []Bin    `json:"bins"` // none if no series varies
}

// Series are sizes of one kind.
type Series struct {
	Name   string  `json:"name,omitempty"` // none for the only series
	Min    int     `json:"min"`
	Median int     `json:"median"`
	Max    int     `json:"max"`
	Mean   float64 `json:"mean"`
	sizes  sizeCounts
}

// A Bin counts the sizes ≥ From and ≤ To.
type Bin struct {
	From   int   `json:"from"`
	To     int   `json:"to"`
	Counts []int `json:"counts"` // of the series that vary, in their order
}

const (
	maxBins = 24

	// If the largest size is ≥ wideRange times the smallest, the width of bins doubles.
	// Otherwise most sizes would be in the first bin.
	wideRange = 64
)

// sizeCounts counts how often each size occurs.
type sizeCounts map[int]int

type blockSizes struct{ stored, raw, entries, keys, values sizeCounts }

// histograms returns the histograms that are not empty.
func (t blockSizes) histograms(keys string) []Histogram {
	stored := []Series{{Name: "as stored", sizes: t.stored}, {Name: "decompressed", sizes: t.raw}}
	if maps.Equal(t.stored, t.raw) {
		stored = []Series{{sizes: t.stored}}
	}
	lengths := []Series{{Name: keys, sizes: t.keys}, {Name: "values", sizes: t.values}}
	all := []Histogram{
		{Title: "Block sizes", Unit: "bytes", Of: "blocks", Series: stored},
		{Title: "Entries in a block", Unit: "entries", Of: "blocks", Series: []Series{{sizes: t.entries}}},
		{Title: "Lengths of keys and values", Unit: "bytes", Of: "entries", Series: lengths},
	}
	all = slices.DeleteFunc(all, func(h Histogram) bool { return len(h.Series[0].sizes) == 0 })
	for i := range all {
		all[i].fill()
	}
	return all
}

// fill sets the figures of each series, and counts the sizes of varying series in bins.
func (h *Histogram) fill() {
	var varying []sizeCounts
	least, most := math.MaxInt, 0
	for i := range h.Series {
		s := &h.Series[i]
		if s.measure(); s.Min < s.Max {
			varying = append(varying, s.sizes)
			least, most = min(least, s.Min), max(most, s.Max)
		}
	}
	if varying == nil {
		return
	}
	h.Bins = bins(least, most)
	for i := range h.Bins {
		h.Bins[i].Counts = make([]int, len(varying))
	}
	for i, sizes := range varying {
		for size, n := range sizes {
			h.Bins[sort.Search(len(h.Bins), func(at int) bool { return h.Bins[at].To >= size })].Counts[i] += n
		}
	}
}

// measure sets the figures of the sizes.
func (s *Series) measure() {
	sizes := slices.Sorted(maps.Keys(s.sizes))
	s.Min, s.Max = sizes[0], sizes[len(sizes)-1]
	n, sum, below := 0, 0.0, 0
	for _, size := range sizes {
		n += s.sizes[size]
		sum += float64(size) * float64(s.sizes[size])
	}
	s.Mean = sum / float64(n)
	for i := 0; 2*below < n; i++ {
		s.Median = sizes[i]
		below += s.sizes[sizes[i]]
	}
}

// bins returns empty bins for sizes from least to most, of equal or of doubling width: 0, 1, 2 to
// 3, 4 to 7 and so on.
func bins(least, most int) (all []Bin) {
	if most >= 256 && most/wideRange >= max(least, 1) {
		for from := 1 << bits.Len(uint(least)) >> 1; from <= most; from = max(1, 2*from) {
			all = append(all, Bin{From: from, To: max(0, 2*from-1)})
		}
		return all
	}
	width := 1
	for i := 0; (most-least+1)/width >= maxBins; i++ {
		width = width * [...]int{4, 5, 4}[i%3] / 2 // 1, 2, 5, 10, 20, 50 and so on
	}
	for from := least / width * width; from <= most; from += width {
		all = append(all, Bin{From: from, To: from + width - 1})
	}
	return all
}
