package paged_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

var noError = errtest.NoError

func newPolicy(t testing.TB, bitsPerKey int) paged.Policy {
	t.Helper()
	p, err := paged.New(bitsPerKey)
	noError(t, err)
	return p
}

// numbered returns n keys of 16 bytes. They differ from each other, and from the keys of other seeds.
func numbered(seed uint64, n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = appendKey(nil, seed, i)
	}
	return keys
}

func appendKey(b []byte, seed uint64, i int) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, seed), uint64(i))
}

// build returns the filter of the keys.
func build(t testing.TB, bitsPerKey int, keys [][]byte) []byte {
	t.Helper()
	return filtertest.BuildTable(t, newPolicy(t, bitsPerKey), keys...)
}

// open returns the filter ready for lookups.
func open(t testing.TB, contents []byte) filter.TableFilter {
	t.Helper()
	f, err := paged.Policy{}.Open(contents)
	noError(t, err)
	return f
}

// No present key is ruled out, in memory or by the page, and both give the same results for absent keys. Keys can be
// empty or long. There are up to 10⁶ keys, and 10⁷ in a long test.
func TestEveryKeyIsContained(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(50, 2))
	large := bytes.Repeat([]byte{1, 2, 3, 4}, 1<<18)
	unusual := [][]byte{{}, large, large[:1<<20-1], large[:241], large[:17]}
	sizes := []int{0, 1, 2, 3, 4, 100, 5000, 50_000}
	for _, bitsPerKey := range []int{1, 5, 10, 64, 20, 14} {
		if bitsPerKey == 20 && !long.Race && !testing.Short() {
			sizes = append(sizes, 1_000_000)
		}
		if bitsPerKey == 14 && long.Enabled() && !long.Race && !testing.Short() {
			sizes = append(sizes, 10_000_000)
		}
		for _, n := range sizes {
			keys := slices.Concat(unusual, filtertest.Keys(rng, n))[:n]
			contents := build(t, bitsPerKey, keys)
			f, r := open(t, contents), newReader(t, contents)
			filtertest.CheckContains(t, f.Contains, keys)
			for _, key := range slices.Concat(keys[:min(n, 2000)], [][]byte{nil, large[1:]}, filtertest.Keys(rng, 500)) {
				if got, err := r.Contains(key); got != f.Contains(key) || err != nil {
					t.Fatalf("%d keys: the Reader answers %v, %v, and Contains %v", n, got, err, !got)
				}
			}
		}
	}
}

// A key that is added several times in a row counts once. If other keys are added in between, it makes the filter
// larger.
func TestKeysAreAddedAgain(t *testing.T) {
	t.Parallel()
	keys := numbered(1, 10_000)
	var inARow [][]byte
	for _, key := range keys {
		inARow = append(inARow, key, key, key)
	}
	if !bytes.Equal(build(t, 10, inARow), build(t, 10, keys)) {
		t.Error("keys that were added three times in a row change the filter")
	}
	again := build(t, 10, slices.Concat(keys, keys))
	if got, want := len(again), int(newPolicy(t, 10).Size(20_000)); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	filtertest.CheckContains(t, open(t, again).Contains, keys)
}

// Absent keys pass as often as Rate says, and as the classical formula says. The bounds are 4 standard deviations of
// the count, and 1 % for these filters among others. Random pages that have more keys than others add up to 2 %.
func TestRateIsMeasured(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, tt := range []struct{ bitsPerKey, keys, filters, lookups int }{
		{4, 100_000, 1, 200_000},
		{10, 3000, 30, 50_000}, // in one page
		{10, 1_000_000, 1, 2_000_000},
		{14, 1_000_000, 1, 4_000_000},
		{20, 1_000_000, 1, 8_000_000},
	}[:long.Size(2, 5)] {
		var key []byte
		passed := 0.0
		for i := range tt.filters {
			f := open(t, build(t, tt.bitsPerKey, numbered(uint64(i), tt.keys)))
			for j := range tt.lookups {
				if key = appendKey(key[:0], 1000, i*tt.lookups+j); f.Contains(key) {
					passed++
				}
			}
		}
		p := newPolicy(t, tt.bitsPerKey)
		rate, formula := p.Rate(uint64(tt.keys)), formula(p, tt.keys)
		want := rate * float64(tt.filters*tt.lookups)
		if math.Abs(passed-want) > 4*math.Sqrt(want)+want/100 {
			t.Errorf("%+v: %.0f absent keys pass, want about %.0f", tt, passed, want)
		}
		if rate < formula || rate > 1.03*formula {
			t.Errorf("%+v: Rate is %g, want about the %g of the formula", tt, rate, formula)
		}
	}
}

// formula is the classical one for Bloom filters, (1 - e^(-kn/m))^k, in a page of the mean number of keys.
func formula(p paged.Policy, keys int) float64 {
	pages, k := float64(p.Size(uint64(keys))/4096), float64(p.K())
	return math.Pow(1-math.Exp(-k*float64(keys)/(pages*32736)), k)
}

// The fullest page has about 1.05 times the mean number of keys, as the documentation says.
func TestFullestPage(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const n = 1_000_000
	keys := numbered(1, n)
	s := newReader(t, build(t, 10, keys))
	load := make([]float64, s.Pages)
	for _, key := range keys {
		load[s.pageOf(key)]++
	}
	mean := float64(n) / float64(s.Pages)
	if fullest := slices.Max(load) / mean; fullest < 1.04 || fullest > 1.06 {
		t.Errorf("the fullest of %d pages has %.3f of the mean", s.Pages, fullest)
	}
}

func TestSizeIsThatOfTheFilter(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, bitsPerKey := range []int{1, 10, 64} {
		p := newPolicy(t, bitsPerKey)
		for n := 0; n < 50_000; n += n/3 + 1 {
			contents := build(t, bitsPerKey, numbered(1, n))
			if got, want := p.Size(uint64(n)), uint64(len(contents)); got != want {
				t.Errorf("%d bits, %d keys: Size returns %d, the filter has %d bytes", bitsPerKey, n, got, want)
			}
		}
		const most = 1<<32*4096 + 36
		for n, want := range map[uint64]uint64{0: 4132, math.MaxUint64: most, 1 << 58: most} {
			if got := p.Size(n); got != want {
				t.Errorf("%d bits, %d keys: Size returns %d, want %d", bitsPerKey, n, got, want)
			}
		}
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	for _, bitsPerKey := range []int{math.MinInt, -1, 0, 65, math.MaxInt} {
		if _, err := paged.New(bitsPerKey); err == nil {
			t.Errorf("New(%d) returns no error", bitsPerKey)
		}
	}
	for bitsPerKey, k := range map[int]int{1: 1, 2: 1, 3: 2, 8: 6, 10: 7, 14: 10, 20: 14, 64: 44} {
		if p := newPolicy(t, bitsPerKey); p.K() != k || p.BitsPerKey() != bitsPerKey || p.Name() != "sievetable.paged" {
			t.Errorf("New(%d) has k = %d, want %d, and %d bits of %q", bitsPerKey, p.K(), k, p.BitsPerKey(), p.Name())
		}
	}
	if got := (paged.Policy{}).BitsPerKey(); got != 14 {
		t.Errorf("the zero value has %d bits per key, want 14", got)
	}
	for _, n := range []uint64{0, 1, 1000, 1e6, 1e12, math.MaxUint64} {
		if rate := newPolicy(t, 10).Rate(n); !(rate >= 0 && rate <= 1) || n == 0 && rate != 0 {
			t.Errorf("Rate(%d) = %v", n, rate)
		}
	}
}
