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

// approx allows for figures of two or three digits.
var approx = cmpopts.EquateApprox(0.01, 0)

// A sizing has a policy's predictions for a filter.
type sizing struct {
	BitsPerKey, K, Size int
	Rate                float64
}

// A sized is a policy that predicts its sizing.
type sized interface {
	BitsPerKey() int
	K() int
	Size(n uint64) int
	Rate(n uint64) float64
}

// The size, k and rate of filters of n keys. Other tests measure the rate.
func TestSizings(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const most = 64*(1<<23-1) + 5 // bytes of a TableBloom filter: it has about one bit for each possible hash
	for _, tt := range []struct {
		name string
		n    uint64
		p    sized
		want sizing
	}{
		{"a filter of ten keys has LevelDB's least size: 64 bits, and k", 10, filter.NewBloom(5), sizing{5, 3, 9, 0.0563}},
		{"a million keys: measured 0.039 to 0.040 %, 0.0068 % by the formula", 1e6, filter.NewBloom(20), sizing{20, 13, 2_500_001, 3.81e-4}},
		{"a billion keys get 2³²−8 bits, and a fifth of absent keys have the 32-bit hash of one of them", 1e9, filter.NewBloom(9), sizing{9, 6, 1 << 29, 0.330}},
		{"no keys", 0, filter.NewBloom(10), sizing{10, 6, 9, 0}},
		{"no bits", 5, filter.NewBloom(-3), sizing{0, 1, 9, 0.0751}},
		{"a table filter without bits", 10, filter.NewTableBloom(math.MinInt), sizing{0, 1, 69, 0.0194}},
		{"a line of one key", 1, filter.NewTableBloom(10), sizing{10, 6, 69, 3.07e-5}},
		{"a full line", 51, filter.NewTableBloom(10), sizing{10, 6, 69, 0.0105}},
		{"three lines, since 2 is even", 52, filter.NewTableBloom(10), sizing{10, 6, 3*64 + 5, 6.74e-4}},
		{"table filters of 8 bits", 10_000, filter.NewTableBloom(8), sizing{8, 5, 157*64 + 5, 0.0249}},
		{"table filters of 10 bits", 10_000, filter.NewTableBloom(10), sizing{10, 6, 197*64 + 5, 0.01137}},
		{"table filters of 16 bits", 10_000, filter.NewTableBloom(16), sizing{16, 6, 313*64 + 5, 2.46e-3}},
		{"table filters of 20 bits", 10_000, filter.NewTableBloom(20), sizing{20, 6, 391*64 + 5, 1.398e-3}},
		{"table filters of 44 bits", 10_000, filter.NewTableBloom(44), sizing{44, 6, 861*64 + 5, 4.09e-4}},
		{"a table filter of a billion keys", 1 << 30, filter.NewTableBloom(10), sizing{10, 6, most, 0.373}},
		{"a table filter of more keys than hashes", math.MaxUint64, filter.NewTableBloom(1), sizing{1, 1, most, 1}},
		{"a table filter of more bits than hashes",
			2, filter.NewTableBloom(math.MaxInt32), sizing{math.MaxInt32, 6, most, 7.3e-12}},
		{"the last keys for which there are lines",
			(1<<23 - 1) * 512 / 10, filter.NewTableBloom(10), sizing{10, 6, most, 0.1175}},
	} {
		got := sizing{tt.p.BitsPerKey(), tt.p.K(), tt.p.Size(tt.n), tt.p.Rate(tt.n)}
		if diff := cmp.Diff(tt.want, got, approx); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Policies from ForRate reach the rate, and with one bit per key less they do not.
func TestFiltersHaveTheRateTheyAreSizedFor(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(45, 45))
	for range long.Size(3, 12) {
		n, p := 35+logUniform(rng, 100_000), 0.001*math.Pow(100, rng.Float64())
		bloom, err := filter.ForRate(filter.NewBloom, uint64(n), p)
		noError(t, err)
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
		noError(t, err)
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

// For rates that no filter reaches, ForRate returns an error.
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
