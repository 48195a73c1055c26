package filter_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
)

// samples returns the number of sizes to measure, and the maximum number of keys.
func samples() (n int, maxKeys float64) {
	if long.Enabled() {
		return 150, 3e6
	}
	return long.Size(7, 25), 100_000
}

// logUniform returns an integer ≥ 1 and < limit, with a uniformly distributed logarithm.
func logUniform(rng *rand.Rand, limit float64) int {
	return int(math.Exp(rng.Float64() * math.Log(limit)))
}

// PredictRate matches the measured rate at any size, with the exceptions that it documents.
func TestPredictRateIsMeasuredAtRandomSizes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(41, 41))
	count, maxKeys := samples()
	for range count {
		n, bits := logUniform(rng, maxKeys), 1+rng.IntN(24)
		m := max(64, n*bits+7) / 8 * 8
		if remainder := m % 65537; m%257 == 0 || m > 60_000 && min(remainder, 65537-remainder) < 65537/50 {
			continue
		}
		want := filter.NewBloom(bits).Rate(uint64(n))
		got, hits := measureSingle(rng, filter.NewBloom(bits), n, max(1, 200_000/n), min(int(1500/want), 10_000_000))
		band := 0.07
		if bits > 16 {
			band = 0.35
		}
		checkRate(t, n, bits, got, want, band, hits)
	}
}

// PredictTableRate matches the measured rate of table filters at any size.
func TestPredictTableRateIsMeasuredAtRandomSizes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(43, 43))
	count, maxKeys := samples()
	for range 3 * count / 2 {
		checkTableRate(t, rng, logUniform(rng, 3*maxKeys), 1+rng.IntN(30), 2000)
	}
}

// A TableBloom avoids numbers of lines at which keys of a line share their bits.
func TestTableBloomHasNoBadSizes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(44, 44))
	for _, lines := range []int{3277, 10_083, 11_915, 13_107, 14_563, 18_725, 32_767, 32_769, 43_691, 65_537, 131_073, 262_143} {
		if lines > long.Size(11_000, 33_000) && !long.Enabled() {
			break
		}
		const bits = 20
		n := lines * 512 / bits
		p := filter.NewTableBloom(bits)
		want := p.Rate(uint64(n))
		got, hits := measureTable(t, rng, p, n, 1, 1_000_000)
		checkRate(t, n, bits, got, want, 0.1, hits)
		if other := filter.PredictTableRate(uint64(n), uint64(lines), 6); got > 1.3*other {
			t.Errorf("%d keys: measured %.5f %%, and other numbers of lines give %.5f %%", n, 100*got, 100*other)
		}
	}
}

// checkRate compares a rate measured by that many hits with the predicted one.
func checkRate(t *testing.T, n, bits int, got, want, band float64, hits int) {
	t.Helper()
	if hits < 200 {
		return // few keys or many bits: too few hits to compare
	}
	band += 3.5 / math.Sqrt(float64(hits)) // of chance
	if got < want*(1-band) || got > want*(1+band) {
		t.Errorf("%d keys, %d bits for each: measured %.5f %%, predicted %.5f %%", n, bits, 100*got, 100*want)
	}
}

// measureTable is measureSingle for table filters.
func measureTable(t *testing.T, rng *rand.Rand, p filter.TableBloom, n, filters, lookups int) (rate float64, hits int) {
	t.Helper()
	return measureRandom(rng, filters, lookups, func(next func() []byte) func(key []byte) bool {
		g := p.NewTableGenerator()
		for range n {
			g.Add(next())
		}
		contents, err := g.Generate()
		noError(t, err)
		if got, want := len(contents), p.Size(uint64(n)); got != want {
			t.Fatalf("%d keys: a filter of %d bytes, Size is %d", n, got, want)
		}
		return openTable(t, contents).Contains
	})
}

// Predictions also hold for numbers of lines at which keys of a line share their bits. Filters of more than 10 bits
// per key avoid these numbers.
func TestPredictTableRateKnowsAliasedLines(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(45, 45))
	for _, tt := range []struct{ lines, bits int }{
		{1285, 4}, {771, 6}, {1285, 8}, {771, 10}, {1057, 10}, {1285, 10}, {771, 11}, {1285, 18}, {1971, 20}, {1225, 24}, {1285, 24}, {1285, 30},
	}[:long.Size(4, 12)] {
		checkTableRate(t, rng, tt.lines*512/tt.bits, tt.bits, 8000)
	}
}

// The rate is as predicted for each number of lines below 2048.
func TestPredictTableRateKnowsAllFewLines(t *testing.T) {
	long.Test(t)
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(46, 46))
	for lines := 1; lines < 2048; lines += 2 {
		checkTableRate(t, rng, lines*512/10, 10, 2000)
		checkTableRate(t, rng, lines*512/24, 24, 500)
	}
}

// checkTableRate measures table filters by about that many hits, and compares the rate with the documented bounds.
func checkTableRate(t *testing.T, rng *rand.Rand, n, bits, hits int) {
	t.Helper()
	p := filter.NewTableBloom(bits)
	want := p.Rate(uint64(n))
	if want < 0.0001 {
		return
	}
	got, hits := measureTable(t, rng, p, n, max(1, 200_000/n), min(int(float64(hits)/want), 20_000_000))
	if band := 0.07 + 3/math.Sqrt(max(1, float64(hits))); got < want*(1-band) || got > want*(1+band) {
		t.Errorf("%d keys, %d bits for each: measured %.5f %%, predicted %.5f %%", n, bits, 100*got, 100*want)
	}
}
