package fuse_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// A filterOf builds a filter of the keys, and returns its lookup function.
type filterOf func(t *testing.T, keys [][]byte) (contains func(key []byte) bool)

func bloomOf(bits int) filterOf {
	return func(_ *testing.T, keys [][]byte) func([]byte) bool {
		p := filter.NewBloom(bits)
		f := filtertest.Build(p, keys...)
		return func(key []byte) bool { return p.Contains(f, key) }
	}
}

func tableFilterOf(p filter.TablePolicy) filterOf {
	return func(t *testing.T, keys [][]byte) func([]byte) bool {
		f, err := p.Open(filtertest.BuildTable(t, p, keys...))
		noError(t, err)
		return f.Contains
	}
}

// keyShapes are keys by number, and their rates in percent from filter/README.md: for Bloom(10) with 34 to 40 keys
// the lowest and the highest, with 1,000 keys, for TableBloom(10) and fuse of 8 bits, and for the same with 20 and
// 16 bits.
var keyShapes = []struct {
	name  string
	key   func(i int) []byte
	small [2]span
	rates [6]float64
}{
	{"random", randomKey, [2]span{{1.0, 1.2}, {0.05, 0.09}}, [6]float64{0.89, 1.2, 0.39, 0.009, 0.13, 0.0015}},
	{"integers", func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) },
		[2]span{{19, 94}, {13, 64}}, [6]float64{5.2, 2.5, 0.39, 1.7, 1.3, 0.0015}},
	{"decimal, 12 bytes", func(i int) []byte { return fmt.Appendf(nil, "user%08d", i) },
		[2]span{{2.1, 59}, {0.4, 8}}, [6]float64{1.2, 5.9, 0.39, 0.019, 4.8, 0.0015}},
	{"decimal, 9 bytes", func(i int) []byte { return fmt.Appendf(nil, "key%06d", i) },
		[2]span{{1.0, 1.2}, {0.05, 0.09}}, [6]float64{0.89, 1.2, 0.39, 0.009, 0.13, 0.0015}},
}

// A span is from the lowest rate to the highest.
type span struct{ low, high float64 }

func randomKey(i int) []byte {
	rng := rand.New(rand.NewPCG(uint64(i), 1))
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, rng.Uint64()), rng.Uint64())
}

// Bloom filters of keys that differ in few bits have far more false positives for neighbors of these keys,
// as filter/README.md says. Fuse filters do not.
func TestRatesByShapeOfKeys(t *testing.T) {
	long.Test(t)
	t.Parallel()
	for _, s := range keyShapes {
		var got []float64
		for i, bits := range []int{10, 20} {
			least, most := 1.0, 0.0
			for n := 34; n <= 40; n++ {
				rate := neighborRate(t, bloomOf(bits), s.key, n, 8000)
				least, most = min(least, rate), max(most, rate)
			}
			if want := s.small[i]; !near(least, want.low) || !near(most, want.high) {
				t.Errorf("%s, %d bits: %.4f to %.4f %%, want %g to %g %%", s.name, bits, 100*least, 100*most, want.low, want.high)
			}
			got = append(got, neighborRate(t, bloomOf(bits), s.key, 1000, 2000),
				neighborRate(t, tableFilterOf(filter.NewTableBloom(bits)), s.key, 100_000, 8),
				neighborRate(t, tableFilterOf(newPolicy(t, bits*4/5)), s.key, 100_000, 80))
		}
		for i, rate := range got {
			if !near(rate, s.rates[i]) {
				t.Errorf("%s: rate %d is %.4f %%, want %g %%", s.name, i, 100*rate, s.rates[i])
			}
		}
	}
}

// near reports whether a rate is about that many percent.
func near(rate, percent float64) bool { return 100*rate >= percent/1.25 && 100*rate <= percent*1.25 }

// neighborRate returns the share of absent keys that pass filters of n keys each. The keys have consecutive even
// numbers, and the absent keys the odd numbers between them.
func neighborRate(t *testing.T, f filterOf, key func(i int) []byte, n, filters int) float64 {
	hits, rng := 0, rand.New(rand.NewPCG(uint64(n), 2))
	for range filters {
		start, keys := 2*rng.IntN(300_000), make([][]byte, n)
		for i := range keys {
			keys[i] = key(start + 2*i)
		}
		contains := f(t, keys)
		for i := range n - 1 {
			if contains(key(start + 2*i + 1)) {
				hits++
			}
		}
	}
	return float64(hits) / float64((n-1)*filters)
}
