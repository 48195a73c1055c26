package filter_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
)

// The union of two table filters of the same size is the filter of that size with the keys of both. An empty filter,
// which has no lines, can be united with any filter.
func TestUnionTableIsTheFilterOfBoth(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(62, 62))
	for range 100 {
		bits, n := rng.IntN(30), 1+rng.IntN(1<<rng.IntN(10))
		keys := make([]string, n)
		for i := range keys {
			keys[i] = fmt.Sprint("key ", rng.Uint64())
		}
		endA, startB := rng.IntN(n+1), rng.IntN(n+1) // they can have keys in common, or none at all
		p := filter.NewTableBloom(bits).SizedFor(uint64(n))
		a, b := filtertest.BuildTable(t, p, keys[:endA]...), filtertest.BuildTable(t, p, keys[startB:]...)
		want := filtertest.BuildTable(t, p, append(keys[:endA:endA], keys[max(startB, endA):]...)...)
		if got := combined(t, filter.UnionTable, a, b); !bytes.Equal(got, want) {
			t.Fatalf("%d bits per key, keys to %d and from %d of %d: another filter", bits, endA, startB, n)
		}
	}
}

// Inspect estimates the rate and the keys of a union from its set bits.
func TestInspectTableTellsTheRateOfAUnion(t *testing.T) {
	t.Parallel()
	p := filter.NewTableBloom(10).SizedFor(20_000)
	union := filtertest.BuildTable[string](t, p)
	for day := range 3 {
		keys := make([]string, 15_000)
		for i := range keys {
			keys[i] = fmt.Sprint("key ", day, " ", i*7919)
		}
		union = combined(t, filter.UnionTable, union, filtertest.BuildTable(t, p, keys...))
	}
	i, err := filter.InspectTable(union)
	noError(t, err)
	f := openTable(t, union)
	hits, rng := 0, rand.New(rand.NewPCG(63, 63))
	const asked = 100_000
	for range asked {
		if f.Contains(fmt.Append(nil, "absent ", rng.Uint64())) {
			hits++
		}
	}
	if got := float64(hits) / asked; i.Rate < 0.93*got || i.Rate > 1.07*got || i.Keys < 40_000 || i.Keys > 47_000 {
		t.Errorf("%+v, want a rate of about the measured %.4f, and about 45,000 keys", i, got)
	}
	if i, err := filter.InspectTable(filtertest.BuildTable[string](t, p)); err != nil || i.Rate < 0 || i.Set != 0 {
		t.Errorf("without keys: %+v, %v", i, err)
	}
}

// SizedFor gives filters of fewer keys the size for that many, and changes no others.
func TestSizedFor(t *testing.T) {
	t.Parallel()
	var keys []string
	for i := range 2000 {
		keys = append(keys, fmt.Sprint("key ", i))
	}
	p := filter.NewTableBloom(10)
	for _, n := range []int{1, 1000, 2000} { // fewer, as many, more
		got, want := filtertest.BuildTable(t, p.SizedFor(1000), keys[:n]...), p.Size(uint64(max(n, 1000)))
		if size := p.SizedFor(1000).Size(uint64(n)); size != want || len(got) != want {
			t.Errorf("%d keys: Size = %d, and there are %d bytes, want %d", n, size, len(got), want)
		}
		if n >= 1000 && !bytes.Equal(got, filtertest.BuildTable(t, p, keys[:n]...)) {
			t.Errorf("%d keys: other bytes than without SizedFor", n)
		}
	}
}
