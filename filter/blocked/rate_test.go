package blocked_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter/blocked"
	"github.com/sievetable/sievetable/internal/long"
)

// At any number of keys, the rate of a filter from New is at most the requested one, as computed by Inspect and as
// measured by lookups of absent keys.
func TestRateIsWithinWhatWasAskedFor(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(83, 1))
	most := []float64{10, 1000, 100_000, 2_000_000, 2_000_000}[:long.Size(3, 5)]
	if long.Enabled() && !testing.Short() {
		most = append(most, 20_000_000, 100_000_000)
	}
	for _, most := range most {
		n, rate := 1+uint64(rng.Float64()*most), math.Pow(10, -0.31-3*rng.Float64())
		t.Run(fmt.Sprintf("n=%d/rate=%.2g", n, rate), func(t *testing.T) {
			f := newFilter(t, n, rate)
			for range n {
				f.AddHash(rng.Uint64())
			}
			got := f.Inspect()
			if got.Rate > rate {
				t.Errorf("rate %.6f, want at most %.6f", got.Rate, rate)
			}
			checkMeasured(t, f, rng, got.Rate)
			keys := float64(n)
			if math.Abs(got.Keys-keys) > 0.2*math.Sqrt(keys)+0.2+0.0005*keys {
				t.Errorf("%.1f keys by estimate", got.Keys)
			}
		})
	}
}

// checkMeasured checks that the share of random keys that pass f is the rate, within four standard deviations.
func checkMeasured(t *testing.T, f *blocked.Filter, rng *rand.Rand, rate float64) {
	t.Helper()
	const asked = 2_000_000
	hits := 0
	for range asked {
		if f.ContainsHash(rng.Uint64()) {
			hits++
		}
	}
	if measured := float64(hits) / asked; math.Abs(measured-rate) > 4*math.Sqrt((rate+1e-6)/asked) {
		t.Errorf("measured %.6f, Inspect says %.6f", measured, rate)
	}
}

// Inspect returns the right rate and number of keys for overfull filters too, and for keys that are not random.
func TestInspectTellsTheRateOfAnyFilter(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(83, 2))
	for _, times := range []float64{0, 0.1, 1, 3, 10} {
		const n = 50_000
		f := newFilter(t, n, 0.01)
		for i := range int(times * n) {
			f.Add(fmt.Append(nil, "user", i))
		}
		got := f.Inspect()
		checkMeasured(t, f, rng, got.Rate)
		if want := times * n; math.Abs(got.Keys-want) > 0.02*want {
			t.Errorf("%v times full: %.0f keys by estimate, want %.0f", times, got.Keys, want)
		}
	}
}
