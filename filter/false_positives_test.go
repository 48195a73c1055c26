package filter_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
)

func keysOf(f *filter.FalsePositives) (keys [][]byte) {
	for key := range f.Keys() {
		keys = append(keys, key)
	}
	return keys
}

// For any keys in any order, a key more frequent than 1 in Most+1 is kept, and at most Most keys are.
func TestFalsePositivesKeepsTheMostFrequent(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(26, seed))
		f := filter.FalsePositives{Most: 1 + rng.IntN(20)}
		zipf := rand.NewZipf(rng, 1.01+rng.Float64(), 1, 100)
		counts, n := map[string]int{}, 1+rng.IntN(2000)
		for range n {
			key := fmt.Append(nil, zipf.Uint64())
			counts[string(key)]++
			f.Add(key)
		}
		kept := keysOf(&f)
		for key, count := range counts {
			if count > n/(f.Most+1) && !slices.ContainsFunc(kept, func(k []byte) bool { return string(k) == key }) {
				t.Errorf("seed %d: %s is %d of %d and not among %q", seed, key, count, n, kept)
			}
		}
		if len(kept) > f.Most {
			t.Errorf("seed %d: %d keys, want at most %d", seed, len(kept), f.Most)
		}
	}
}

// Keys are ordered by count, and the slices are copies. Long keys are left out.
func TestFalsePositivesKeys(t *testing.T) {
	t.Parallel()
	var f filter.FalsePositives
	buf := []byte("b")
	f.Add(buf)
	buf[0] = 'a'
	f.Add(buf)
	f.Add(buf)
	f.Add([]byte{})
	f.Add(make([]byte, 1025))
	keysOf(&f)[0][0] = 'x'
	if diff := cmp.Diff([][]byte{[]byte("a"), {}, []byte("b")}, keysOf(&f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range 2000 {
		f.Add(fmt.Append(nil, i))
	}
	if n := len(keysOf(&f)); n > 1000 {
		t.Errorf("%d keys, want at most 1000", n)
	}
}
