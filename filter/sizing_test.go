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

func TestSizeForRateTakesTheFewestBits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		n    uint64
		p    float64
		want filter.Sizing
	}{
		{
			"ten billion keys: 19.17 bits round up to 20; one filter could not hold them",
			1e10, 1e-4,
			filter.Sizing{
				Keys: 1e10, BitsPerKey: 20, K: 13, Bytes: 25e9, Rate: 0.000068, SingleRate: 1,
				ExactBits: 191_701_167_548 /* 19.17 each */, BestK: 14, BestRate: 0.000067,
			},
		},
		{
			"a billion keys: one filter gets 2³²−8 bits, and a fifth of absent keys have the 32-bit hash of one of them",
			1e9, 0.02,
			filter.Sizing{
				Keys: 1e9, BitsPerKey: 9, K: 6, Bytes: 1_125_000_000, Rate: 0.0133, SingleRate: 0.330,
				ExactBits: 8_142_363_337, BestK: 6, BestRate: 0.0133,
			},
		},
		{
			"the optimum's 10 bits give 0.82 %, but k rounded down 0.84 %: one bit more is needed",
			1000, 0.0082,
			filter.Sizing{
				Keys: 1000, BitsPerKey: 11, K: 7, Bytes: 1375, Rate: 0.00513, SingleRate: 0.00531,
				ExactBits: 9999, BestK: 8, BestRate: 0.00508,
			},
		},
		{
			"no keys",
			0, 0.01,
			filter.Sizing{BitsPerKey: 10, K: 6, Rate: 0.0084, BestK: 7, BestRate: 0.0082},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := filter.SizeForRate(tt.n, tt.p)
			if err != nil {
				t.Fatal(err)
			}
			if got.Rate > tt.p {
				t.Errorf("Rate = %g, above the %g asked for", got.Rate, tt.p)
			}
			if diff := cmp.Diff(tt.want, got, approx); diff != "" {
				t.Errorf("SizeForRate(%d, %g) (-want +got):\n%s", tt.n, tt.p, diff)
			}
		})
	}
}

func TestSizeForBitsPredictsBothRates(t *testing.T) {
	t.Parallel()
	got, err := filter.SizeForBits(1e6, 20) // m = 2·10⁷
	if err != nil {
		t.Fatal(err)
	}
	want := filter.Sizing{
		Keys: 1e6, BitsPerKey: 20, K: 13, Bytes: 2_500_000, Rate: 6.8e-5, SingleRate: 3.81e-4, /* measured: 3.9e-4 to 4.0e-4 */
		ExactBits: 20_000_000, BestK: 14, BestRate: 6.7e-5,
	}
	if diff := cmp.Diff(want, got, approx); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Filters that were sized for a rate have it, and those with a bit less for each key do not.
func TestFiltersHaveTheRateTheyAreSizedFor(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(45, 45))
	for range 12 {
		n, p := 35+logUniform(rng, 100_000), 0.001*math.Pow(100, rng.Float64())
		s, err := filter.SizeForSingleRate(uint64(n), p)
		if err != nil {
			t.Fatal(err)
		}
		lookups := int(1500 / p)
		got, hits := measureSingle(rng, filter.NewBloom(s.BitsPerKey), n, max(1, 200_000/n), lookups)
		checkSized(t, "Bloom", n, s.BitsPerKey, got, p, hits)
		if fewer := predictedBloom(t, n, s.BitsPerKey-1); fewer <= p {
			t.Errorf("%d keys, rate %g: %d bits, and %d have %g", n, p, s.BitsPerKey, s.BitsPerKey-1, fewer)
		}

		if p < 0.003 {
			continue // 32-bit hashes in lines do not always have it
		}
		table, err := filter.TableBloomForRate(uint64(n), p)
		if err != nil {
			t.Fatal(err)
		}
		got, hits = measureTable(t, rng, table, n, max(1, 200_000/n), lookups)
		checkSized(t, "TableBloom", n, 0, got, p, hits)
	}
}

func checkSized(t *testing.T, kind string, n, bits int, got, p float64, hits int) {
	t.Helper()
	if got > p*(1.07+3.5/math.Sqrt(float64(hits+1))) {
		t.Errorf("%s of %d keys and %d bits for each: measured %g, sized for %g", kind, n, bits, got, p)
	}
}

// Rates that no filter has are errors.
func TestSizingRefusesRatesThatNoFilterHas(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{0, 1, -1, math.NaN(), 1e-12} {
		const n = 1_000_000
		if s, err := filter.SizeForSingleRate(n, p); err == nil {
			t.Errorf("SizeForSingleRate(%d, %g) = %+v, want an error", n, p, s)
		}
		if f, err := filter.TableBloomForRate(n, p); err == nil {
			t.Errorf("TableBloomForRate(%d, %g) = %+v, want an error", n, p, f)
		}
	}
}

// A size given in bits and the rate it gives lead back to the same size.
func TestSizingsAgree(t *testing.T) {
	t.Parallel()
	for bits := 1; bits <= 200; bits++ {
		forBits, err := filter.SizeForBits(0, bits)
		if err != nil {
			t.Fatal(err)
		}
		forRate, err := filter.SizeForRate(0, forBits.Rate)
		if err != nil {
			t.Fatal(err)
		}
		if forRate.BitsPerKey != bits {
			t.Errorf("%d bits per key give a rate of %g, and that rate %d bits", bits, forBits.Rate, forRate.BitsPerKey)
		}
	}
}

func TestSizingOfNegativeBitsIsThatOfNone(t *testing.T) {
	t.Parallel()
	neg, err := filter.SizeForBits(5, -3)
	if err != nil {
		t.Fatal(err)
	}
	none, err := filter.SizeForBits(5, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(none, neg); diff != "" {
		t.Errorf("(-0 bits +−3 bits):\n%s", diff)
	}
	if none.Rate != 1 {
		t.Errorf("Rate of no bits = %g, want 1", none.Rate)
	}
}

func TestSizingRefusesImpossibleRatesAndSizes(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{0, 1, -0.5, 2, 1e-101, math.NaN(), math.Inf(1)} {
		if s, err := filter.SizeForRate(1, p); err == nil {
			t.Errorf("SizeForRate(1, %g) = %+v, want an error", p, s)
		}
	}
	if s, err := filter.SizeForRate(1e18, 1e-9); err == nil {
		t.Errorf("SizeForRate(1e18, 1e-9) = %+v, want an error: more than 2⁶⁴ bits", s)
	}
	if s, err := filter.SizeForBits(math.MaxUint64, 2); err == nil {
		t.Errorf("SizeForBits(2⁶⁴−1, 2) = %+v, want an error", s)
	}
}
