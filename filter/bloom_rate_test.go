package filter_test

import (
	"encoding/binary"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
)

// intKey is the key of LevelDB's own Bloom test: a little-endian uint32.
func intKey(i uint32) []byte { return binary.LittleEndian.AppendUint32(nil, i) }

// The gate of LevelDB's bloom_test: at 10 bits per key
// no size may exceed 2 %, and at most a fifth of the sizes 1.25 %.
func TestFalsePositiveRatePassesLevelDBsGate(t *testing.T) {
	t.Parallel()
	p := filter.NewBloom(10)
	mediocre, sizes := 0, 0
	for n := uint32(1); n <= 10_000; n = nextSize(n) {
		var keys [][]byte
		for i := range n {
			keys = append(keys, intKey(i))
		}
		f := filtertest.Build(p, keys...)
		if limit := int(n)*10/8 + 40; len(f) > limit {
			t.Errorf("%d keys: %d bytes, want at most %d", n, len(f), limit)
		}
		filtertest.CheckContains(t, func(key []byte) bool { return p.Contains(f, key) }, keys)
		rate := falsePositives(p, f)
		if rate > 0.02 {
			t.Errorf("%d keys: %.2f %% false positives, want at most 2 %%", n, 100*rate)
		}
		if rate > 0.0125 {
			mediocre++
		}
		sizes++
	}
	if mediocre > sizes/5 {
		t.Errorf("%d of %d sizes above 1.25 %%, want at most a fifth", mediocre, sizes)
	}
}

// nextSize steps through 1 to 10,000 in growing steps.
func nextSize(n uint32) uint32 {
	step := uint32(1)
	for step*10 <= n {
		step *= 10
	}
	return n + step
}

// falsePositives measures the rate over 10,000 keys that were not added.
func falsePositives(p filter.Policy, f []byte) float64 {
	hits := 0
	for i := range uint32(10_000) {
		if p.Contains(f, intKey(i+1_000_000_000)) {
			hits++
		}
	}
	return float64(hits) / 10_000
}
