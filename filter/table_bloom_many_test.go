package filter_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// tableBloomOf returns an open filter of the keys.
func tableBloomOf(t testing.TB, bitsPerKey int, keys [][]byte) filtertest.ManyFilter {
	t.Helper()
	return openTable(t, filtertest.BuildTable(t, filter.NewTableBloom(bitsPerKey), keys...))
}

// ContainsMany agrees with Contains for each key.
func TestTableBloomContainsManyIsManyContains(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(28, 1))
	for range 300 {
		n, bits := 1+rng.IntN(2000), 1+rng.IntN(24)
		var all [][]byte
		for i := range n {
			all = append(all, fmt.Appendf(nil, "key%d", i*i))
		}
		f := tableBloomOf(t, bits, all)
		keys := [][]byte{nil, {}}
		for range rng.IntN(300) {
			key := all[rng.IntN(n)]
			keys = append(keys, key, key[:rng.IntN(len(key))], append([]byte("no "), key...))
		}
		filtertest.CheckContainsMany(t, rng, f, keys[rng.IntN(3):])
	}
}

func TestTableBloomContainsManyWantsAResultForEachKey(t *testing.T) {
	filtertest.CheckManyResults(t, tableBloomOf(t, 10, [][]byte{[]byte("key")}))
}

// BenchmarkTableContainsMany looks up keys in random order, in batches of 64 and one by one.
func BenchmarkTableContainsMany(b *testing.B) {
	var all, absent [][]byte
	for i := range long.Size(1<<14, 1_000_000) {
		all, absent = append(all, fmt.Appendf(nil, "key%09d", i)), append(absent, fmt.Appendf(nil, "no%010d", i))
	}
	f := tableBloomOf(b, 10, all)
	for _, of := range []struct {
		name string
		keys [][]byte
	}{{"hit", all}, {"miss", absent}} {
		rand.New(rand.NewPCG(28, 2)).Shuffle(len(of.keys), func(i, j int) { of.keys[i], of.keys[j] = of.keys[j], of.keys[i] })
		keys := of.keys[:long.Size(1<<14, 1<<18)]
		b.Run(of.name+"/batches", func(b *testing.B) {
			var results [64]bool
			for i := 0; i < b.N; i += len(results) {
				at := i % len(keys)
				f.ContainsMany(keys[at:at+len(results)], results[:])
			}
		})
		b.Run(of.name+"/one by one", func(b *testing.B) {
			var results [64]bool
			for i := range b.N {
				results[i%len(results)] = f.Contains(keys[i%len(keys)])
			}
		})
	}
}
