package fuse_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// ContainsMany agrees with Contains for each key.
func TestContainsManyIsManyContains(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, bits := range allBits {
		rng := rand.New(rand.NewPCG(27, uint64(bits)))
		for range 100 {
			n := 1 + rng.IntN(3000)
			f := open(t, build(t, newPolicy(t, bits), n)).(filtertest.ManyFilter)
			filtertest.CheckContainsMany(t, rng, f, anyKeys(rng, n))
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
	for _, bits := range allBits {
		t.Run(fmt.Sprintf("bits=%d", bits), func(t *testing.T) {
			filtertest.CheckManyResults(t, open(t, build(t, newPolicy(t, bits), 1000)).(filtertest.ManyFilter))
		})
	}
}
