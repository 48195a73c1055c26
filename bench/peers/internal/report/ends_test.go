package report

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ wanted, want []vg.Length }{
		"none":               {nil, []vg.Length{}},
		"apart":              {[]vg.Length{50, 10, 90}, []vg.Length{50, 10, 90}},
		"together":           {[]vg.Length{50, 50, 50}, []vg.Length{40, 50, 60}},
		"two that meet":      {[]vg.Length{54, 20, 50}, []vg.Length{57, 20, 47}},
		"pushed into others": {[]vg.Length{50, 50, 56}, []vg.Length{42, 52, 62}},
		"at the low end":     {[]vg.Length{0, 1}, []vg.Length{0, 10}},
		"at the high end":    {[]vg.Length{100, 99}, []vg.Length{100, 90}},
	} {
		near := gocmp.Comparer(func(a, b vg.Length) bool { return math.Abs(float64(a-b)) < 1e-9 })
		if diff := gocmp.Diff(c.want, spread(c.wanted, 10, 0, 100), near); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// However they end, labels do not overlap, stay in the order of their lines, and stay inside.
func TestSpreadProperty(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		wanted := make([]vg.Length, 1+rng.IntN(10))
		for i := range wanted {
			wanted[i] = vg.Length(rng.NormFloat64()*30 + 50)
		}
		placed := spread(wanted, 10, 0, 100)
		for i := range placed {
			if placed[i] < -1e-9 || placed[i] > 100+1e-9 {
				t.Fatalf("%v at %v: outside of 0 to 100", wanted, placed)
			}
			for j := range placed[:i] {
				if math.Abs(float64(placed[i]-placed[j])) < 10-1e-9 {
					t.Fatalf("%v at %v: two overlap", wanted, placed)
				}
				if wanted[i] != wanted[j] && (wanted[i] < wanted[j]) != (placed[i] < placed[j]) {
					t.Fatalf("%v at %v: two changed places", wanted, placed)
				}
			}
		}
	}
}

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
