package filtertest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
)

// A ManyFilter is a TableFilter with the optional method ContainsMany.
type ManyFilter interface {
	filter.TableFilter
	ContainsMany(keys [][]byte, results []bool)
}

// CheckContainsMany checks that ContainsMany agrees with Contains for each key, whatever the results contained
// before.
func CheckContainsMany(t testing.TB, rng *rand.Rand, f ManyFilter, keys [][]byte) {
	t.Helper()
	want, got := make([]bool, len(keys)), make([]bool, len(keys))
	for i, key := range keys {
		want[i], got[i] = f.Contains(key), rng.IntN(2) == 0
	}
	if f.ContainsMany(keys, got); !slices.Equal(want, got) {
		t.Fatalf("of %d keys, ContainsMany answers %v, Contains %v", len(keys), got, want)
	}
}

// CheckManyResults checks that ContainsMany panics unless there is one result for each key, and that it allocates
// nothing. It measures allocations of the process, so its tests are not parallel.
func CheckManyResults(t testing.TB, f ManyFilter) {
	t.Helper()
	f.ContainsMany(nil, nil)
	for keys, results := range map[int]int{0: 1, 1: 0, 64: 65, 65: 64} {
		if errtest.PanicOf(func() { f.ContainsMany(make([][]byte, keys), make([]bool, results)) }) == nil {
			t.Errorf("no panic for %d keys and %d results", keys, results)
		}
	}
	keys, results := Keys(rand.New(rand.NewPCG(28, 3)), 1000), make([]bool, 1000)
	if n := testing.AllocsPerRun(10, func() { f.ContainsMany(keys, results) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
