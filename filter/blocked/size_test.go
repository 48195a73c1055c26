package blocked

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
)

// The predicted mean and deviation match the measured rates of filters.
func TestPredictIsWhatFiltersHave(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(84, 1))
	for _, tt := range []struct {
		keys, lines   uint64
		probes, times int
	}{
		{1, 1, 1, 1000},
		{20, 1, 2, 5000},
		{60, 1, 3, 5000},
		{300, 6, 3, 2000},
		{1000, 10, 2, 1000},
		{1000, 33, 4, 1000},
		{5000, 50, 1, 200},
		{20_000, 300, 5, 100},
		{50_000, 3000, 7, 30},
		{100_000, 8000, 8, 20},
	}[:long.Size(5, 10)] {
		mean, deviation := predict(tt.keys, tt.lines, tt.probes)
		var sum, squares float64
		for range tt.times {
			f := Filter{make([]line, tt.lines), tt.probes}
			for range tt.keys {
				f.AddHash(rng.Uint64())
			}
			rate := f.Inspect().Rate
			sum, squares = sum+rate, squares+rate*rate
		}
		times := float64(tt.times)
		gotMean := sum / times
		gotDeviation := math.Sqrt(max(0, squares/times-gotMean*gotMean))
		if math.Abs(gotMean-mean) > 4*gotDeviation/math.Sqrt(times)+0.02*mean {
			t.Errorf("%+v: mean rate %.4g, predicted %.4g", tt, gotMean, mean)
		}
		noise := 4 / math.Sqrt(2*times)
		if gotDeviation > deviation*(1.15+noise) || gotDeviation < deviation*(0.7-noise) {
			t.Errorf("%+v: standard deviation %.3g, predicted %.3g", tt, gotDeviation, deviation)
		}
	}
}

// Sizes are within their bounds, and grow with more keys and lower rates.
func TestSizeGrowsWithWhatIsAskedFor(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, rate := range []float64{0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9} {
		before := uint64(1)
		for keys := uint64(0); keys < 2e9; keys = keys*3 + 1 {
			lines, probes, err := size(keys, rate)
			errtest.NoError(t, err)
			if lines < before || probes < 1 || probes > maxProbes {
				t.Errorf("rate %g, %d keys: %d lines and %d probes, with fewer keys %d lines", rate, keys, lines, probes, before)
			}
			if mean, deviation := predict(max(keys, 1), lines, probes); mean+3*deviation > rate {
				t.Errorf("%d keys: rate %g ± %g, want at most %g", keys, mean, deviation, rate)
			}
			if less, _, err := size(keys, min(0.5, rate*1.5)); err != nil || less > lines {
				t.Errorf("rate %g, %d keys: %d lines for a higher rate, want at most %d: %v", rate, keys, less, lines, err)
			}
			before = lines
		}
	}
}

// The bits per key are as documented.
func TestBitsPerKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		keys uint64
		rate float64
		want string
	}{
		{1000, 0.01, "10.8"},
		{1e6, 0.1, "4.9"},
		{1e6, 0.01, "10.1"},
		{1e6, 0.001, "15.8"},
		{1e6, 1e-4, "22.4"},
		{1e6, 1e-5, "30.2"},
		{1e9, 0.01, "10.0"},
	} {
		lines, _, err := size(tt.keys, tt.rate)
		errtest.NoError(t, err)
		if got := fmt.Sprintf("%.1f", float64(lines*lineSize*8)/float64(tt.keys)); got != tt.want {
			t.Errorf("%d keys, rate %g: %s bits per key, want %s", tt.keys, tt.rate, got, tt.want)
		}
	}
}
