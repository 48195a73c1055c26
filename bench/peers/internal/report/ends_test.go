package report

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// In charts of any figures, the names at the ends of lines do not overlap.
func TestEndLabels(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		r := sample(1)
		for i := range r.Engines.Rows {
			for c := range engineNames {
				r.Engines.Rows[i].Cells[c].Values = []float64{math.Exp(rng.NormFloat64()/4) * 500}
			}
		}
		dir := drawn(t, r)
		for _, file := range []string{"lookup-by-entries.svg", "lookup-by-bits.svg"} {
			var names []label
			for _, l := range labels(t, read(t, dir, file)) {
				if slices.Contains(engineNames, l.text) {
					names = append(names, l)
				}
			}
			if len(names) != len(engineNames) {
				t.Fatalf("%s: %d lines are named, want %d", file, len(names), len(engineNames))
			}
			slices.SortFunc(names, func(a, b label) int { return cmp.Compare(a.y, b.y) })
			for i, l := range names[1:] {
				if l.y-names[i].y < 1.2*l.size {
					t.Errorf("%s: %q at %v and %q at %v overlap", file, names[i].text, names[i].y, l.text, l.y)
				}
			}
		}
	}
}
