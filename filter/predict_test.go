package filter_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/internal/long"
)

// measureSingle returns the false-positive rate of single filters of n random keys of 16 bytes, and the number of
// false positives by which it is measured.
func measureSingle(rng *rand.Rand, p filter.Policy, n, filters, lookups int) (rate float64, hits int) {
	return measureRandom(rng, filters, lookups, func(next func() []byte) func(key []byte) bool {
		g := p.NewGenerator()
		for range n {
			g.Add(next())
		}
		var f filter.Bytes
		g.Generate(&f)
		return func(key []byte) bool { return p.Contains(f, key) }
	})
}

// measureRandom looks up random absent keys of 16 bytes in filters. next returns the keys to add.
func measureRandom(rng *rand.Rand, filters, lookups int, build func(next func() []byte) (contains func(key []byte) bool)) (rate float64, hits int) {
	var key [16]byte
	random := func(odd uint64) []byte {
		binary.LittleEndian.PutUint64(key[:], rng.Uint64()&^1|odd)
		binary.LittleEndian.PutUint64(key[8:], rng.Uint64())
		return key[:]
	}
	for range filters {
		contains := build(func() []byte { return random(1) })
		for range lookups / filters {
			if contains(random(0)) {
				hits++
			}
		}
	}
	return float64(hits) / float64(lookups/filters*filters), hits
}

// At every length, even a multiple of 65537, the predicted rate is at least 0.9 and at most about 4 times the
// formula's.
func TestPredictRateOfSpecialLengths(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, m := range []uint64{8 * 255, 8 * 257, 65536, 8 * 65535, 8 * 65537, 8 * 255 * 257, 1 << 20}[:long.Size(3, 7)] {
		for k := 1; k <= 12; k++ {
			n := m / 10
			formula := math.Pow(-math.Expm1(-float64(k)*float64(n)/float64(m)), float64(k))
			if got := filter.PredictRate(n, m, k); got < 0.9*formula || got > 4*formula+0.001 {
				t.Errorf("PredictRate(%d, %d, %d) = %g, and the formula's rate is %g", n, m, k, got, formula)
			}
		}
	}
}

// At the same bits per key, table filters of more keys have more false positives: additionally, the absent keys that
// have the same 32-bit hash as a present key.
func TestPredictedTableRateGrowsByEqualHashes(t *testing.T) {
	t.Parallel()
	const keysInLine = 50
	const fewKeys = 100_000
	fewEqual := fewKeys / float64(1<<32)
	few := (filter.PredictTableRate(fewKeys, fewKeys/keysInLine, 6) - fewEqual) / (1 - fewEqual)
	for _, n := range []uint64{10_000_000, 100_000_000, 1_000_000_000} {
		equal := -math.Expm1(-float64(n) / (1 << 32)) // 0.23 %, 2.3 % and 21 %
		got, want := filter.PredictTableRate(n, n/keysInLine, 6), few+(1-few)*equal
		if math.Abs(got-want) > 0.01*equal {
			t.Errorf("PredictTableRate of %d keys = %.5f, want %.5f", n, got, want)
		}
	}
}

// For impossible filters, the predicted rate agrees with Contains. In table filters, k can be up to 127.
func TestPredictedRatesOfImpossibleFilters(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, tt := range []struct {
		name         string
		got, low, up float64
	}{
		{"no keys", filter.PredictRate(0, 64, 6), 0, 0},
		{"no bits", filter.PredictRate(10, 0, 6), 0, 0},
		{"k is reserved", filter.PredictRate(1000, 8000, 31), 1, 1},
		{"k is 0", filter.PredictRate(10, 64, 0), 1, 1},
		{"k is above the number of bits", filter.PredictRate(1000, 8, 30), 1, 1},
		{"all bits are set", filter.PredictRate(1<<40, 1<<40, 30), 1 - 1e-9, 1},
		{"a table filter of no keys", filter.PredictTableRate(0, 1, 6), 0, 0},
		{"a table filter of no lines", filter.PredictTableRate(1, 0, 6), 0, 0},
		{"a table filter with k = 0", filter.PredictTableRate(1, 1, 0), 1, 1},
		{"k is 1, and a bit of 512 is set", filter.PredictTableRate(1, 1, 1), 1. / 512, 1.1 / 512},
		{"k is 127, the highest", filter.PredictTableRate(1, 1000, 127), 1e-9, 0.001},
		{"k is 128", filter.PredictTableRate(1, 1000, 128), 1, 1},
	} {
		if !(tt.got >= tt.low && tt.got <= tt.up) {
			t.Errorf("%s: the rate is %g, want %g to %g", tt.name, tt.got, tt.low, tt.up)
		}
	}
}

// Every predicted rate is 0 to 1.
func TestPredictedRatesAreZeroToOne(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, lines := range []uint64{0, 1, 1 << 23} {
		for _, n := range []uint64{0, 1, 620, 1000, 1 << 40} { // the sum for 620 keys in a line is rounded up
			for _, k := range []int{0, 1, 6, 127, 600} {
				if got := filter.PredictTableRate(n, lines, k); !(got >= 0 && got <= 1) {
					t.Errorf("PredictTableRate(%d, %d, %d) = %v", n, lines, k, got)
				}
			}
		}
	}
	for _, k := range []int{1, 2, 3, 6, 30} { // any length, even a multiple of fermat
		for _, bits := range []uint64{8, 64, 65537 * 8, 1<<32 - 8} {
			if got := filter.PredictRate(bits/10, bits, k); !(got >= 0 && got <= 1) {
				t.Errorf("PredictRate(%d, %d, %d) = %v", bits/10, bits, k, got)
			}
		}
	}
}

// BenchmarkSingleRate compares the measured rate of large filters with Rate, which is %predicted, and with the
// classical formula.
func BenchmarkSingleRate(b *testing.B) {
	sizes := []int{1_000_000, 10_000_000}
	if testing.Short() {
		sizes = []int{10_000}
	}
	for _, bits := range []int{5, 10, 16, 20} {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("keys=%d/bits=%d", n, bits), func(b *testing.B) {
				p := filter.NewBloom(bits)
				var got float64
				for i := 0; b.Loop(); i++ {
					got, _ = measureSingle(rand.New(rand.NewPCG(uint64(i), 42)), p, n, 1, long.Size(100_000, 10_000_000))
				}
				b.ReportMetric(100*got, "%measured")
				b.ReportMetric(100*p.Rate(uint64(n)), "%predicted")
				b.ReportMetric(100*bloom.Rate(float64(bits), p.K()), "%formula")
			})
		}
	}
}
