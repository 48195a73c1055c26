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
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

func newDynamicBloom(t testing.TB, keys uint64, bitsPerKey int) *filter.DynamicBloom {
	t.Helper()
	f, err := filter.NewDynamicBloom(keys, bitsPerKey)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func openDynamicBloom(t testing.TB, contents []byte) *filter.DynamicBloom {
	t.Helper()
	f, err := filter.OpenDynamicBloom(contents)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// generated is the filter that Bloom's Generator builds.
func generated(bitsPerKey int, keys [][]byte) []byte {
	g := filter.NewBloom(bitsPerKey).NewGenerator()
	for _, key := range keys {
		g.Add(key)
	}
	var f filter.Bytes
	g.Generate(&f)
	return f
}

// After n keys the bytes are those that a Generator makes of them, also when the filter was
// stopped and resumed on the way. It answers for each key as Bloom does from the bytes.
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
		want := generated(bits, keys)
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

// The bytes are written down, so that processors of either byte order are held to them.
func TestDynamicBloomGolden(t *testing.T) {
	t.Parallel()
	f := newDynamicBloom(t, 3, 27) // of 11 bytes: the last word is not whole
	for _, city := range []string{"Bern", "Lima", "Oslo"} {
		f.Add([]byte(city))
	}
	const want = "202622b22669b2266b220212"
	if diff := cmp.Diff(want, fmt.Sprintf("%x", f.Bytes())); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

// AddIfAbsent says what Contains said before it.
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

// Union and Intersect do in place what the functions do with the bytes.
func TestDynamicBloomCombinesAsTheFunctionsDo(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(71, 3))
	for range 100 {
		n, bits := uint64(rng.IntN(300)), 1+rng.IntN(40)
		fill := func() *filter.DynamicBloom {
			f := newDynamicBloom(t, n, bits)
			for _, key := range filtertest.Keys(rng, int(n)) {
				f.Add(key)
			}
			return f
		}
		a, b := fill(), fill()
		for _, operation := range []struct {
			name    string
			inPlace func(f, other *filter.DynamicBloom) error
			bytes   func(a, b []byte) ([]byte, error)
		}{
			{"union", (*filter.DynamicBloom).Union, filter.Union},
			{"intersection", (*filter.DynamicBloom).Intersect, filter.Intersect},
		} {
			want := combined(t, operation.bytes, a.Bytes(), b.Bytes())
			f, was := openDynamicBloom(t, a.Bytes()), b.Bytes()
			if err := operation.inPlace(f, b); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(f.Bytes(), want) {
				t.Fatalf("%s of %x and %x is %x, want %x", operation.name, a.Bytes(), b.Bytes(), f.Bytes(), want)
			}
			if !bytes.Equal(b.Bytes(), was) {
				t.Fatalf("the other filter of the %s has changed", operation.name)
			}
		}
	}
}

func TestDynamicBloomRefuses(t *testing.T) {
	t.Parallel()
	small, large, few := newDynamicBloom(t, 10, 10), newDynamicBloom(t, 100, 10), newDynamicBloom(t, 1, 10)
	fewer := newDynamicBloom(t, 8, 8)
	newOf := func(keys uint64, bitsPerKey int) error {
		_, err := filter.NewDynamicBloom(keys, bitsPerKey)
		return err
	}
	open := func(contents string) error {
		_, err := filter.OpenDynamicBloom([]byte(contents))
		return err
	}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"no bits", newOf(10, 0), "0 bits per key (minimum 1)"},
		{"negative bits", newOf(10, -1), "-1 bits per key (minimum 1)"},
		{"too many keys", newOf(429_496_729, 11), "exceeds 4294967288 bits"},
		{"too many bits", newOf(2, math.MaxInt), "exceeds 4294967288 bits"},
		{"overflow", newOf(math.MaxUint64, 2), "exceeds 4294967288 bits"},
		{"short", open("12345678"), "Bloom filter of 8 bytes is too short (minimum 9)"},
		{"k = 0", open("12345678\x00"), "k = 0 (minimum 1)"},
		{"k = 31", open("12345678\x1f"), "k = 31 (maximum 30)"},
		{"union of other size", small.Union(large), "union of filters of 14 and 126 bytes"},
		{"intersection of other size", small.Intersect(large), "intersection of filters of 14 and 126 bytes"},
		{"union of other k", few.Union(fewer), "with k = 6 and 5: sizes and k must be equal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", tt.err, tt.want)
			}
		})
	}
}

// Rate is what Bloom measures from them, and
// higher than the power of the fill in a large filter.
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
	if err != nil {
		t.Fatal(err)
	}
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
