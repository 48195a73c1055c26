package filter_test

import (
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
)

func TestDynamicBloomDeniesNoKeyWhileOthersAdd(t *testing.T) {
	t.Parallel()
	filtertest.CheckDeniesNoKey(t, rand.New(rand.NewPCG(72, 1)), tenBits(t), filter.OpenDynamicBloom)
}

func TestDynamicBloomTellsOneAtLeast(t *testing.T) {
	t.Parallel()
	filtertest.CheckAddIfAbsent(t, tenBits(t))
}

// tenBits returns a function that creates filters of 10 bits per key.
func tenBits(t *testing.T) func(n uint64) *filter.DynamicBloom {
	return func(n uint64) *filter.DynamicBloom { return newDynamicBloom(t, n, 10) }
}
