// Package sizes counts how often sizes occur, by powers of two.
package sizes

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"
)

// A Histogram counts sizes: those of 0, of 1, of 2 to 3, of 4 to 7, and so on. The last count has all
// that are larger.
type Histogram [33]uint64

// Add counts a size ≥ 0.
func (h *Histogram) Add(size int) { h[min(bits.Len(uint(size)), len(h)-1)]++ }

// Join adds the counts of another Histogram.
func (h *Histogram) Join(o *Histogram) {
	for i := range h {
		h[i] += o[i]
	}
}

// String returns the sizes that occur on one line, with how many of all have each.
func (h Histogram) String() string {
	all := uint64(0)
	for _, n := range h {
		all += n
	}
	var parts []string
	for i, n := range h {
		if n > 0 {
			parts = append(parts, label(i)+": "+share(n, all))
		}
	}
	return strings.Join(parts, ", ")
}

// share formats a part of all as a percentage. What is small is not 0, and what is not all is not 100 %.
func share(n, all uint64) string {
	percent := 100 * float64(n) / float64(all)
	switch {
	case n == all:
		return "100 %"
	case percent < 0.1:
		return "< 0.1 %"
	case percent > 99.9:
		return "> 99.9 %"
	}
	return fmt.Sprintf("%.1f %%", percent)
}

// bounds returns the smallest and the largest size of a count.
func bounds(i int) (from, to uint64) {
	if i == 0 {
		return 0, 0
	}
	return 1 << (i - 1), 1<<i - 1
}

// label names the sizes of a count. In larger units the second number is the first size that is too
// large.
func label(i int) string {
	from, to := bounds(i)
	if i < 2 {
		return fmt.Sprintf("%d B", from)
	}
	if from < 1<<10 {
		return fmt.Sprintf("%d-%d B", from, to)
	}
	power := (i - 1) / 10 // of 1024
	unit := uint64(1) << (10 * power)
	return fmt.Sprintf("%d-%d %ciB", from/unit, (to+1)/unit, " KMG"[power])
}

// A count is one count as JSON.
type count struct {
	From    uint64 `json:"from"`
	To      uint64 `json:"to"`
	Entries uint64 `json:"entries"`
}

// MarshalJSON returns the counts that are not 0.
func (h Histogram) MarshalJSON() ([]byte, error) {
	all := []count{}
	for i, n := range h {
		if from, to := bounds(i); n > 0 {
			all = append(all, count{from, to, n})
		}
	}
	return json.Marshal(all)
}
