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

func newCountingBloom(t testing.TB, keys uint64, bitsPerKey int) *filter.CountingBloom {
	t.Helper()
	f, err := filter.NewCountingBloom(keys, bitsPerKey)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Keys are added and removed at random, some of them several times. The model counts them. The filter
// is that of the keys whose count is > 0, as long as no counter reaches 15.
func TestCountingBloomIsTheFilterOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(73, 1))
	for range 100 {
		n, bits := 1+rng.IntN(100), 3+rng.IntN(40)
		f, counts := newCountingBloom(t, uint64(n), bits), map[string]int{}
		keys := filtertest.Keys(rng, n)
		for range 4 * n {
			key := keys[rng.IntN(n)]
			switch total := counts[string(key)]; {
			case total > 0 && rng.IntN(2) == 0:
				if !f.Remove(key) {
					t.Fatalf("Remove(%x) = false, but it was added", key)
				}
				counts[string(key)]--
			case total < 2:
				f.Add(key)
				counts[string(key)]++
			}
		}
		checkCounting(t, f, counts, newDynamicBloom(t, uint64(n), bits))
		for key, count := range counts {
			for range count {
				f.Remove([]byte(key))
			}
		}
		checkCounting(t, f, nil, newDynamicBloom(t, uint64(n), bits))
	}
}

// checkCounting holds f to the filter of the keys with a count, which it builds in the empty filter.
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

// Counters that overflow stay, and never let a key be denied that is there.
func TestCountingBloomOverflowsTowardsMayContain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(73, 2))
	for range 50 {
		n := 1 + rng.IntN(60)
		f, counts := newCountingBloom(t, uint64(n/10), 8), map[string]int{} // ten times too full
		keys := filtertest.Keys(rng, n)
		for range 60 * n {
			key := keys[rng.IntN(n)]
			if counts[string(key)] > 0 && rng.IntN(3) == 0 {
				f.Remove(key)
				counts[string(key)]--
			} else {
				f.Add(key)
				counts[string(key)]++
			}
		}
		for key, count := range counts {
			if count > 0 && !f.Contains([]byte(key)) {
				t.Fatalf("%x is denied, and is there %d times", key, count)
			}
		}
	}
}

func TestCountingBloomSticksAt15(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		times int
		stays bool
	}{{14, false}, {15, true}, {16, true}, {100, true}} {
		t.Run(fmt.Sprint(tt.times), func(t *testing.T) {
			f := newCountingBloom(t, 1000, 10) // the 6 bits of this key differ
			for range tt.times {
				f.Add([]byte("Lima"))
			}
			for range tt.times {
				f.Remove([]byte("Lima"))
			}
			if got := f.Contains([]byte("Lima")); got != tt.stays {
				t.Errorf("Contains after %d adds and removes = %v, want %v", tt.times, got, tt.stays)
			}
		})
	}
}

// A key that is certainly absent is not removed, and nothing changes. One that only may be there is
// removed as if it were, which sets no bit.
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

func TestCountingBloomRefusesImpossibleSizes(t *testing.T) {
	t.Parallel()
	if _, err := filter.NewCountingBloom(10, 0); err == nil {
		t.Error("a filter without bits is no error")
	}
	if _, err := filter.NewCountingBloom(1<<32, 1); err == nil {
		t.Error("a filter of 2³² bits is no error")
	}
}
