package report

import (
	"maps"
	"slices"
)

// A Histogram counts sizes.
type Histogram struct {
	Title  string  `json:"title"`
	Unit   string  `json:"unit"` // unit of the sizes
	Of     string  `json:"of"`   // what is counted
	Min    int     `json:"min"`
	Median int     `json:"median"`
	Max    int     `json:"max"`
	Mean   float64 `json:"mean"`
	Bins   []Bin   `json:"bins"`
}

// A Bin counts the sizes ≥ From and ≤ To.
type Bin struct {
	From  int `json:"from"`
	To    int `json:"to"`
	Count int `json:"count"`
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

func newBlockSizes() blockSizes {
	return blockSizes{sizeCounts{}, sizeCounts{}, sizeCounts{}, sizeCounts{}, sizeCounts{}}
}

// histograms returns the histograms that have sizes.
func (t blockSizes) histograms(internal bool) []Histogram {
	keys := "Key lengths"
	if internal {
		keys = "User key lengths"
	}
	all := []Histogram{}
	for _, h := range []struct {
		title, unit, of string
		sizeCounts
	}{
		{"Block sizes, as stored", "bytes", "blocks", t.stored},
		{"Block sizes, decompressed", "bytes", "blocks", t.raw},
		{"Entries in a block", "entries", "blocks", t.entries},
		{keys, "bytes", "entries", t.keys},
		{"Value lengths", "bytes", "entries", t.values},
	} {
		if len(h.sizeCounts) > 0 {
			all = append(all, h.histogram(h.title, h.unit, h.of))
		}
	}
	return all
}

func (t sizeCounts) histogram(title, unit, of string) Histogram {
	sizes := slices.Sorted(maps.Keys(t))
	h := Histogram{Title: title, Unit: unit, Of: of, Min: sizes[0], Max: sizes[len(sizes)-1]}
	n, sum := 0, 0.0
	for _, size := range sizes {
		n += t[size]
		sum += float64(size) * float64(t[size])
	}
	h.Mean = sum / float64(n)
	below := 0
	for _, size := range sizes {
		if below += t[size]; 2*below >= n {
			h.Median = size
			break
		}
	}
	h.Bins = bins(h.Min, h.Max)
	at := 0
	for _, size := range sizes {
		for h.Bins[at].To < size {
			at++
		}
		h.Bins[at].Count += t[size]
	}
	return h
}

// bins returns empty bins for sizes from least to most, of equal or of doubling width.
func bins(least, most int) []Bin {
	if most >= 256 && most/wideRange >= max(least, 1) {
		return doublingBins(least, most)
	}
	width := binWidth(most - least + 1)
	var all []Bin
	for from := least / width * width; from <= most; from += width {
		all = append(all, Bin{From: from, To: from + width - 1})
	}
	return all
}

// binWidth returns the smallest of 1, 2, 5, 10, 20, 50 and so on that makes at most maxBins
// bins.
func binWidth(span int) int {
	for unit := 1; ; unit *= 10 {
		for _, digit := range []int{1, 2, 5} {
			if width := unit * digit; span/width < maxBins {
				return width
			}
		}
	}
}

// doublingBins returns bins for 0, 1, 2 to 3, 4 to 7 and so on.
func doublingBins(least, most int) []Bin {
	all := []Bin{{}}
	for from := 1; from <= most; from *= 2 {
		all = append(all, Bin{From: from, To: 2*from - 1})
	}
	return slices.DeleteFunc(all, func(b Bin) bool { return b.To < least })
}
