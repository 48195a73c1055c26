package theme_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/theme"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ wanted, want []float64 }{
		"none":               {nil, []float64{}},
		"apart":              {[]float64{50, 10, 90}, []float64{50, 10, 90}},
		"together":           {[]float64{50, 50, 50}, []float64{40, 50, 60}},
		"two that meet":      {[]float64{54, 20, 50}, []float64{57, 20, 47}},
		"pushed into others": {[]float64{50, 50, 56}, []float64{42, 52, 62}},
		"means":              {[]float64{20, 29, 33}, []float64{17 + 1.0/3, 27 + 1.0/3, 37 + 1.0/3}},
		"at the low end":     {[]float64{0, 1}, []float64{0, 10}},
		"at the high end":    {[]float64{100, 99}, []float64{100, 90}},
	} {
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
		if diff := cmp.Diff(c.want, theme.Spread(c.wanted, 10, 0, 100), near); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// However they end, labels do not overlap, stay in the order of their lines, and stay inside.
func TestSpreadProperty(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		wanted := make([]float64, 1+rng.IntN(10))
		for i := range wanted {
			wanted[i] = rng.NormFloat64()*30 + 50
		}
		placed := theme.Spread(wanted, 10, 0, 100)
		for i := range placed {
			if placed[i] < -1e-9 || placed[i] > 100+1e-9 {
				t.Fatalf("%v at %v: outside of 0 to 100", wanted, placed)
			}
			for j := range placed[:i] {
				if math.Abs(placed[i]-placed[j]) < 10-1e-9 {
					t.Fatalf("%v at %v: two overlap", wanted, placed)
				}
				if wanted[i] != wanted[j] && (wanted[i] < wanted[j]) != (placed[i] < placed[j]) {
					t.Fatalf("%v at %v: two changed places", wanted, placed)
				}
			}
		}
	}
}
