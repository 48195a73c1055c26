package filter_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
)

// A union is the filter of the keys of both. An intersection has the keys that are in both,
// and no bit that one of the filters lacks.
func TestSetsHaveTheKeysOfBothFilters(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(61, 61))
	for range 100 {
		bits, n := 1+rng.IntN(50), 8+rng.IntN(100) // k is 1 to 30
		p := filter.NewBloom(bits)
		keys := make([]string, 2*n)
		for i := range keys {
			keys[i] = fmt.Sprint("key ", rng.Uint64())
		}
		// Both filters have n keys, and so one size. A few keys are in both.
		common := n / 4
		a, b := build(p, keys[:n]...), build(p, keys[n-common:2*n-common]...)
		union, intersection := combined(t, filter.Union, a, b), combined(t, filter.Intersect, a, b)
		for i, key := range keys[:2*n-common] {
			if !p.Contains(union, []byte(key)) {
				t.Errorf("the union lacks %q", key)
			}
			if i >= n-common && i < n && !p.Contains(intersection, []byte(key)) {
				t.Errorf("the intersection lacks %q", key)
			}
		}
		for i := range len(a) - 1 {
			if union[i] != a[i]|b[i] || intersection[i] != a[i]&b[i] {
				t.Fatalf("byte %d of %x and %x: union %x, intersection %x", i, a[i], b[i], union[i], intersection[i])
			}
		}
	}
}

// combined returns the union or intersection of a and b, which must stay as they are.
func combined(t *testing.T, combine func(a, b []byte) ([]byte, error), a, b []byte) []byte {
	t.Helper()
	wasA, wasB := bytes.Clone(a), bytes.Clone(b)
	c, err := combine(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, wasA) || !bytes.Equal(b, wasB) {
		t.Error("an argument has changed")
	}
	return c
}

// Filters that were not built alike cannot be combined.
func TestSetsRefuseFiltersNotBuiltAlike(t *testing.T) {
	t.Parallel()
	array := make([]byte, 8)
	ok := append(array, 6)
	for _, tt := range []struct {
		name string
		a, b []byte
		want string
	}{
		{"different sizes", ok, append(make([]byte, 9), 6), "9 and 10 bytes"},
		{"different k", ok, append(array, 7), "k = 6 and 7"},
		{"reserved k", append(array, 31), append(array, 31), "k = 31"},
		{"no bytes", nil, nil, "0 bytes"},
		{"k of 0", append(array, 0), append(array, 0), "k = 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, combine := range map[string]func(a, b []byte) ([]byte, error){"Union": filter.Union, "Intersect": filter.Intersect} {
				got, err := combine(tt.a, tt.b)
				if err == nil || !strings.Contains(fmt.Sprint(err), tt.want) {
					t.Errorf("%s = %x, %v; want an error with %q", name, got, err, tt.want)
				}
			}
		})
	}
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
		{"all bits are set", []byte("\xff\xff\xff\xff\xff\xff\xff\xff\x06"), filter.Inspection{Bits: 64, K: 6, Set: 64, Fill: 1, Keys: math.Inf(1), Rate: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := filter.Inspect(tt.filter)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, approx); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got, err := filter.Inspect([]byte("short")); err == nil {
		t.Errorf("Inspect of 5 bytes = %+v, want an error", got)
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
			got, err := filter.Inspect(build(filter.NewBloom(10), keys...))
			if err != nil {
				t.Fatal(err)
			}
			if ratio := got.Keys / float64(n); ratio < 0.8 || ratio > 1.1 || math.Abs(got.Fill-0.45) > 0.05 {
				t.Errorf("%+v", got)
			}
		})
	}
}
