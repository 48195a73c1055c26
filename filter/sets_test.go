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

// A union has the bits and the keys of both filters. An intersection has the bits and the keys in both. The methods
// that work in place give the same results.
func TestSetsHaveTheKeysOfBothFilters(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(61, 61))
	for range 100 {
		n, p := rng.IntN(300), filter.NewBloom(1+rng.IntN(50)) // k is 1 to 30
		a, b := filtertest.Build(p, filtertest.Keys(rng, n)...), filtertest.Build(p, filtertest.Keys(rng, n)...)
		for _, tt := range []struct {
			name    string
			combine func(a, b []byte) ([]byte, error)
			inPlace func(f, other *filter.DynamicBloom) error
			byte    func(x, y byte) byte
		}{
			{"union", filter.Union, (*filter.DynamicBloom).Union, func(x, y byte) byte { return x | y }},
			{"intersection", filter.Intersect, (*filter.DynamicBloom).Intersect, func(x, y byte) byte { return x & y }},
		} {
			want := bytes.Clone(a) // with k, which both have
			for i := range len(a) - 1 {
				want[i] = tt.byte(a[i], b[i])
			}
			f, other := openDynamicBloom(t, a), openDynamicBloom(t, b)
			noError(t, tt.inPlace(f, other))
			if got := combined(t, tt.combine, a, b); !bytes.Equal(got, want) || !bytes.Equal(f.Bytes(), want) {
				t.Fatalf("%s of %x and %x is %x, and in place %x, want %x", tt.name, a, b, got, f.Bytes(), want)
			}
			if !bytes.Equal(other.Bytes(), b) {
				t.Fatalf("the other filter of the %s has changed", tt.name)
			}
		}
	}
}

// combined returns the union or intersection of a and b, and checks that it does not change them.
func combined(t *testing.T, combine func(a, b []byte) ([]byte, error), a, b []byte) []byte {
	t.Helper()
	wasA, wasB := bytes.Clone(a), bytes.Clone(b)
	c, err := combine(a, b)
	noError(t, err)
	if !bytes.Equal(a, wasA) || !bytes.Equal(b, wasB) {
		t.Error("an argument has changed")
	}
	return c
}

func TestInspectCountsBits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		filter []byte
		want   filter.Inspection
	}{
		{"no bit is set", []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x06"), filter.Inspection{Bits: 64, K: 6}},
		{"half of the bits are set", []byte("\x0f\xf0\x0f\xf0\x0f\xf0\x0f\xf0\x01"), filter.Inspection{Bits: 64, K: 1, Set: 32, Fill: 0.5, Keys: 64 * math.Ln2, Rate: 0.5}},
		{"k is reserved", []byte("\x0f\xf0\x0f\xf0\x0f\xf0\x0f\xf0\x1f"), filter.Inspection{Bits: 64, K: 31, Set: 32, Fill: 0.5, Keys: 64 * math.Ln2 / 31, Rate: 1}},
		{"all bits are set", []byte("\xff\xff\xff\xff\xff\xff\xff\xff\x06"), filter.Inspection{Bits: 64, K: 6, Set: 64, Fill: 1, Keys: math.Inf(1), Rate: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := filter.Inspect(tt.filter)
			noError(t, err)
			if diff := cmp.Diff(tt.want, got, approx); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Inspect estimates the number of keys.
func TestInspectEstimatesKeys(t *testing.T) {
	t.Parallel()
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		t.Run(fmt.Sprintf("keys=%d", n), func(t *testing.T) {
			keys := make([]string, n)
			for i := range keys {
				keys[i] = fmt.Sprint("key ", i*7919)
			}
			got, err := filter.Inspect(filtertest.Build(filter.NewBloom(10), keys...))
			noError(t, err)
			if ratio := got.Keys / float64(n); ratio < 0.8 || ratio > 1.1 || math.Abs(got.Fill-0.45) > 0.05 {
				t.Errorf("%+v", got)
			}
		})
	}
}
