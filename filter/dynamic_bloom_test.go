package filter_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

func openDynamicBloom(t testing.TB, contents []byte) *filter.DynamicBloom {
	t.Helper()
	f, err := filter.OpenDynamicBloom(contents)
	noError(t, err)
	return f
}

// After n keys, the bytes are identical to a Generator's, even if the filter was stored and resumed meanwhile.
// Contains agrees with Bloom's Contains on these bytes.
func TestDynamicBloomGoldenBytesAreTheGenerators(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(71, 1))
	for range 300 {
		bits, keys := 1+rng.IntN(50), filtertest.Keys(rng, rng.IntN(300))
		f := newDynamicBloom(t, uint64(len(keys)), bits)
		pause := rng.IntN(len(keys) + 1)
		for i, key := range keys {
			if i == pause {
				f = openDynamicBloom(t, f.Bytes())
			}
			f.Add(key)
		}
		want := filtertest.Build(filter.NewBloom(bits), keys...)
		if !bytes.Equal(f.Bytes(), want) {
			t.Fatalf("%d keys of %d bits: filter is\n%x, want\n%x", len(keys), bits, f.Bytes(), want)
		}
		for _, key := range append(filtertest.Keys(rng, 100), keys...) {
			if got, want := f.Contains(key), filter.NewBloom(bits).Contains(want, key); got != want {
				t.Fatalf("Contains(%x) = %v, Bloom's is %v", key, got, want)
			}
		}
	}
}

// The expected bytes are literals, so that processors of either byte order must write them.
func TestDynamicBloomGolden(t *testing.T) {
	t.Parallel()
	f := newDynamicBloom(t, 3, 27) // 11 bytes: the last word is incomplete
	for _, city := range []string{"Bern", "Lima", "Oslo"} {
		f.Add([]byte(city))
	}
	const want = "202622b22669b2266b220212"
	if diff := cmp.Diff(want, fmt.Sprintf("%x", f.Bytes())); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

// AddIfAbsent returns the negation of the previous Contains.
func TestAddIfAbsentSaysWhatContainsSaidBefore(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(71, 2))
	for range 50 {
		f := newDynamicBloom(t, uint64(rng.IntN(200)), 1+rng.IntN(40))
		for _, key := range filtertest.Keys(rng, 200) {
			absent := !f.Contains(key)
			if got := f.AddIfAbsent(key); got != absent {
				t.Fatalf("AddIfAbsent(%x) = %v, Contains before was %v", key, got, !absent)
			}
			if !f.Contains(key) {
				t.Fatalf("%x is denied", key)
			}
			if f.AddIfAbsent(key) {
				t.Fatalf("AddIfAbsent(%x) = true for the second time", key)
			}
		}
	}
}

// Rate is Bloom's measured rate on the same bytes. In a large filter it is higher than a power of the fill.
func TestDynamicBloomTellsItsRate(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(71, 4))
	const n, asked = 100_000, 200_000
	f, p := newDynamicBloom(t, n, 10), filter.NewBloom(10)
	if got := f.Rate(); got != 0 {
		t.Errorf("rate of an empty filter is %v", got)
	}
	for range n {
		f.Add(fmt.Append(nil, rng.Uint64()))
	}
	contents := f.Bytes()
	i, err := filter.Inspect(contents)
	noError(t, err)
	hits := 0
	for range asked {
		if p.Contains(contents, fmt.Append(nil, "absent ", rng.Uint64())) {
			hits++
		}
	}
	measured, rate := float64(hits)/asked, f.Rate()
	if rate < 0.9*measured || rate > 1.1*measured {
		t.Errorf("rate %.5f, measured %.5f", rate, measured)
	}
	if naive := math.Pow(i.Fill, float64(i.K)); rate < 1.5*naive {
		t.Errorf("rate %.5f is near the power of the fill, %.5f", rate, naive)
	}
}
