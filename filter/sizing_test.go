package filter_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
)

// approx allows for figures that are given to two or three digits.
var approx = cmpopts.EquateApprox(0.01, 0)

// A sizing is what a policy says of a filter.
type sizing struct {
	BitsPerKey, K, Size int
	Rate                float64
}

// A policy's K and Size are those of the filters that it builds, and Rate is what they measure.
func TestSizings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		n    uint64
		p    filter.Bloom
		want sizing
	}{
		{"a filter of ten keys has LevelDB's least size: 64 bits, and k", 10, filter.NewBloom(5), sizing{5, 3, 9, 0.0563}},
		{"a million keys: measured 0.039 to 0.040 %, 0.0068 % by the formula", 1e6, filter.NewBloom(20), sizing{20, 13, 2_500_001, 3.81e-4}},
		{"a billion keys get 2³²−8 bits, and a fifth of absent keys have the 32-bit hash of one of them", 1e9, filter.NewBloom(9), sizing{9, 6, 1 << 29, 0.330}},
		{"no keys", 0, filter.NewBloom(10), sizing{10, 6, 9, 0}},
		{"no bits", 5, filter.NewBloom(-3), sizing{0, 1, 9, 0.0751}},
	} {
		got := sizing{tt.p.BitsPerKey(), tt.p.K(), tt.p.Size(tt.n), tt.p.Rate(tt.n)}
		if diff := cmp.Diff(tt.want, got, approx); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Filters that were sized for a rate have it, and those with a bit less for each key do not.
func TestFiltersHaveTheRateTheyAreSizedFor(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(45, 45))
	for range 12 {
		n, p := 35+logUniform(rng, 100_000), 0.001*math.Pow(100, rng.Float64())
		bloom, err := filter.ForRate(filter.NewBloom, uint64(n), p)
		if err != nil {
			t.Fatal(err)
		}
		lookups, bits := int(1500/p), bloom.BitsPerKey()
		got, hits := measureSingle(rng, bloom, n, max(1, 200_000/n), lookups)
		checkSized(t, "Bloom", n, bits, got, p, hits)
		if fewer := filter.NewBloom(bits - 1).Rate(uint64(n)); fewer <= p {
			t.Errorf("%d keys, rate %g: %d bits, and %d have %g", n, p, bits, bits-1, fewer)
		}

		if p < 0.003 {
			continue // 32-bit hashes in lines do not always have it
		}
		table, err := filter.ForRate(filter.NewTableBloom, uint64(n), p)
		if err != nil {
			t.Fatal(err)
		}
		got, hits = measureTable(t, rng, table, n, max(1, 200_000/n), lookups)
		checkSized(t, "TableBloom", n, table.BitsPerKey(), got, p, hits)
	}
}

func checkSized(t *testing.T, kind string, n, bits int, got, p float64, hits int) {
	t.Helper()
	if got > p*(1.07+3.5/math.Sqrt(float64(hits+1))) {
		t.Errorf("%s of %d keys and %d bits for each: measured %g, sized for %g", kind, n, bits, got, p)
	}
}

// Rates that no filter has are errors.
func TestForRateRefusesRatesThatNoFilterHas(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1), 1e-12} {
		const n = 1_000_000
		if f, err := filter.ForRate(filter.NewBloom, n, p); err == nil {
			t.Errorf("ForRate(NewBloom, %d, %g) = %+v, want an error", n, p, f)
		}
		if f, err := filter.ForRate(filter.NewTableBloom, n, p); err == nil {
			t.Errorf("ForRate(NewTableBloom, %d, %g) = %+v, want an error", n, p, f)
		}
	}
}
