package blocked_test

import (
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/long"
)

// At any number of keys, the rate is at most the requested one, both as Inspect computes it and as lookups measure
// it. Keys are added one at a time, so that all filters but the last one are full.
func TestGrowingKeepsItsRate(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, rate := range []float64{0.1, 0.01, 0.001, 1e-6} {
		for _, first := range []uint64{0, 1} {
			t.Run(fmt.Sprintf("rate %g, first %d", rate, first), func(t *testing.T) {
				g, n := newGrowing(t, first, rate), uint64(0)
				for _, keys := range []uint64{1000, 100_000, 1_000_000}[:long.Size(2, 3)] {
					for ; n < keys; n++ {
						addIfAbsent(t, g, growingKey(n))
					}
					asked, passed := long.Size(100_000, 500_000), 0.0
					for i := range uint64(asked) {
						if g.Contains(growingKey(1<<40 + i)) {
							passed++
						}
					}
					checkPassed(t, passed, float64(asked), rate)
					if got := sumOfRates(g); got > rate {
						t.Errorf("%d keys: rate %g, want at most %g", keys, got, rate)
					}
				}
			})
		}
	}
}

func sumOfRates(g *blocked.Growing) (sum float64) {
	for _, i := range g.Inspect() {
		sum += i.Rate
	}
	return sum
}

// Grow continues from filters that are empty, half full and full, and keeps the rate, or 17/16 of it for filters
// that already had nearly all of it. An overfull filter stays as it is.
func TestGrowGoesOnFromAFilter(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, tt := range []struct {
		made, added uint64
		rate, most  float64
	}{
		{1, 0, 0.5, 0.5},
		{1, 1, 0.001, 0.001},
		{10_000, 0, 0.01, 0.01},
		{10_000, 5000, 0.01, 0.01},
		{10_000, 9000, 0.001, 0.001},
		{10_000, 10_000, 0.001, 0.001 * 17 / 16},
		{1000, 1000, 1e-6, 1e-6 * 17 / 16},
		{1000, 3000, 0.01, 0.4},
		{10, 100_000, 0.1, 1 + 0.1/16},
	} {
		t.Run(fmt.Sprintf("%d keys in a filter for %d, rate %g", tt.added, tt.made, tt.rate), func(t *testing.T) {
			f := newFilter(t, tt.made, tt.rate)
			for i := range tt.added {
				f.Add(growingKey(i))
			}
			g, err := blocked.Grow(f, tt.added, tt.rate)
			if err != nil || g.Len() != tt.added || g.Rate() != tt.rate {
				t.Fatalf("Grow = %d keys, rate %g, %v", g.Len(), g.Rate(), err)
			}
			all := uint64(long.Size(110_000, 200_000))
			for i := tt.added; i < all; i++ {
				addIfAbsent(t, g, growingKey(i))
			}
			g = regrown(t, g)
			checkGrown(t, g, all)
			if got := sumOfRates(g); got > tt.most {
				t.Errorf("rate %g, want at most %g", got, tt.most)
			}
		})
	}
}
