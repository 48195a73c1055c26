package fuse_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
)

// A manyFilter is a TableFilter with the optional method ContainsMany.
type manyFilter interface {
	filter.TableFilter
	ContainsMany(keys [][]byte, results []bool)
}

// The law: ContainsMany answers as Contains does for each key.
func TestContainsManyIsManyContains(t *testing.T) {
	t.Parallel()
	for _, bits := range allBits {
		rng := rand.New(rand.NewPCG(27, uint64(bits)))
		for range 100 {
			n := 1 + rng.IntN(3000)
			f := open(t, build(t, newPolicy(t, bits), n)).(manyFilter)
			keys := anyKeys(rng, n)
			want, got := make([]bool, len(keys)), make([]bool, len(keys))
			for i, key := range keys {
				want[i], got[i] = f.Contains(key), rng.IntN(2) == 0
			}
			f.ContainsMany(keys, got)
			if !slices.Equal(want, got) {
				t.Fatalf("%d bits, %d keys: ContainsMany answers %v, Contains %v", bits, n, got, want)
			}
		}
	}
}

// anyKeys returns 0 to 300 keys: some of the n keys of build, some twice, others, nil and empty ones.
func anyKeys(rng *rand.Rand, n int) (keys [][]byte) {
	present := sixteenBytes(1, n)
	for range rng.IntN(300) {
		switch key := present[rng.IntN(n)]; rng.IntN(6) {
		case 0:
			keys = append(keys, nil, []byte{})
		case 1:
			keys = append(keys, key, key)
		case 2:
			keys = append(keys, key[:rng.IntN(16)])
		default:
			keys = append(keys, key)
		}
	}
	return keys
}

func TestContainsManyWantsAResultForEachKey(t *testing.T) {
	t.Parallel()
	for _, bits := range allBits {
		f := open(t, build(t, newPolicy(t, bits), 10)).(manyFilter)
		f.ContainsMany(nil, nil)
		for keys, results := range map[int]int{0: 1, 1: 0, 64: 65, 65: 64} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%d bits: no panic for %d keys and %d results", bits, keys, results)
					}
				}()
				f.ContainsMany(make([][]byte, keys), make([]bool, results))
			}()
		}
	}
}

func TestContainsManyDoesNotAllocate(t *testing.T) {
	keys, results := sixteenBytes(2, 1000), make([]bool, 1000)
	for _, bits := range allBits {
		f := open(t, build(t, newPolicy(t, bits), 1000)).(manyFilter)
		if n := testing.AllocsPerRun(10, func() { f.ContainsMany(keys, results) }); n != 0 {
			t.Errorf("%d bits: %v allocations", bits, n)
		}
	}
}
