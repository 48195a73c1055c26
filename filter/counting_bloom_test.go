package filter_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// checkCounting compares f with the filter of the keys that have a count, which it builds in the empty filter.
func checkCounting(t *testing.T, f *filter.CountingBloom, counts map[string]int, empty *filter.DynamicBloom) {
	t.Helper()
	for key, count := range counts {
		if count > 0 {
			empty.Add([]byte(key))
		}
	}
	if want := empty.Bytes(); !bytes.Equal(f.Bytes(), want) {
		t.Fatalf("filter is\n%x, want\n%x", f.Bytes(), want)
	}
	for key := range counts {
		if got, want := f.Contains([]byte(key)), empty.Contains([]byte(key)); got != want {
			t.Fatalf("Contains(%x) = %v, want %v", key, got, want)
		}
	}
}

// Removing a key that the filter rules out changes nothing. Removing a false positive sets no bit.
func TestCountingBloomRemovesKeysThatWereNotAdded(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(73, 3))
	refused, removed := 0, 0
	for range 200 {
		f := newCountingBloom(t, 8, 8)
		for _, key := range filtertest.Keys(rng, 8) {
			f.Add(key)
		}
		for range 200 {
			key, was := fmt.Append(nil, "other ", rng.Uint64()), f.Bytes()
			maybe := f.Contains(key)
			if got := f.Remove(key); got != maybe {
				t.Fatalf("Remove = %v, Contains was %v", got, maybe)
			}
			if !maybe {
				refused++
				if diff := cmp.Diff(was, f.Bytes()); diff != "" {
					t.Fatalf("Remove of an absent key changed (-before +after):\n%s", diff)
				}
				continue
			}
			removed++
			for i, c := range f.Bytes()[:8] {
				if c&^was[i] != 0 {
					t.Fatalf("Remove set bits: %x became %x", was, f.Bytes())
				}
			}
		}
	}
	if refused < 1000 || removed < 100 {
		t.Errorf("%d refused and %d removed: too few to have tested both", refused, removed)
	}
}
