package set_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table/set"
)

func sample(t testing.TB, rate float64, keys ...[]byte) *set.Sampler {
	t.Helper()
	s, err := set.NewSampler(rate)
	noError(t, err)
	for _, key := range keys {
		s.Add(key)
	}
	return s
}

func numbers(n int) [][]byte {
	var keys [][]byte
	for i := range n {
		keys = append(keys, fmt.Appendf(nil, "%06d", i))
	}
	return keys
}

// The choice of keys does not change with the version of this package, so that samples of several versions can be
// joined.
func TestSamplerIsFixed(t *testing.T) {
	checkDiff(t, "kept keys", bytesOf("000056", "000338"), sample(t, 0.01, numbers(400)...).Keys())
}

// Each rate keeps about that fraction of the keys, and all keys that a lower rate keeps.
func TestSamplerKeepsTheRate(t *testing.T) {
	for name, keys := range map[string][][]byte{"numbers": numbers(30_000), "URLs": workload.W3(30_000).Keys} {
		t.Run(name, func(t *testing.T) {
			var lower [][]byte
			for _, rate := range []float64{1e-300, 1.0 / 1024, 0.01, 0.1, 0.5, 1} {
				s := sample(t, rate, keys...)
				kept := s.Keys()
				if s.Len() != len(kept) {
					t.Errorf("rate %v: Len = %d, want %d", rate, s.Len(), len(kept))
				}
				n := float64(len(keys))
				if got, want := float64(len(kept)), rate*n; math.Abs(got-want) > 4*math.Sqrt(n*rate*(1-rate)) {
					t.Errorf("rate %v keeps %v keys, want about %v", rate, got, want)
				}
				for _, key := range lower {
					if _, found := slices.BinarySearchFunc(kept, key, bytes.Compare); !found {
						t.Fatalf("rate %v does not keep %q, but a lower rate does", rate, key)
					}
				}
				lower = kept
			}
		})
	}
}

// Neither the order and repetition of keys nor joining parts changes the sample.
func TestSamplerOfParts(t *testing.T) {
	keys := numbers(10_000)
	want := sample(t, 0.1, keys...).Splits(7)
	repeated := slices.Concat(keys, keys[:5000])
	slices.Reverse(repeated)
	checkDiff(t, "repeated keys in another order", want, sample(t, 0.1, repeated...).Splits(7))
	first, second := sample(t, 0.1, keys[:3000]...), sample(t, 0.1, keys[3000:]...)
	joined := sample(t, 0.1, slices.Concat(first.Keys(), second.Keys())...)
	checkDiff(t, "joined", want, joined.Splits(7))
}

func TestSplitsAreKeptKeys(t *testing.T) {
	for _, tt := range []struct {
		keys, parts int
		want        string
	}{
		{10, 2, `["000005"]`},
		{10, 4, `["000002" "000005" "000007"]`},
		{3, 3, `["000001" "000002"]`},
		{3, math.MaxInt, `["000001" "000002"]`},
		{10, 1, `[]`},
		{10, 0, `[]`},
		{10, -1, `[]`},
		{1, 9, `[]`},
		{0, 9, `[]`},
	} {
		got := fmt.Sprintf("%q", sample(t, 1, numbers(tt.keys)...).Splits(tt.parts))
		checkDiff(t, fmt.Sprintf("%d keys in %d parts", tt.keys, tt.parts), tt.want, got)
	}
}

// With 1,000 kept keys per part, the largest part is only a little larger than the mean.
func TestSplitsAreEven(t *testing.T) {
	keys := workload.W3(200_000).Keys
	splits := sample(t, 0.05, keys...).Splits(10)
	sizes := make([]int, len(splits)+1)
	for _, key := range keys {
		part, _ := slices.BinarySearchFunc(splits, key, func(split, key []byte) int {
			if bytes.Compare(split, key) <= 0 { // the part starts with its split key
				return -1
			}
			return 1
		})
		sizes[part]++
	}
	if most := slices.Max(sizes); len(splits) != 9 || most > len(keys)/10*115/100 {
		t.Errorf("%d split keys, parts of %v keys, want 9, and at most 15 %% more than the mean", len(splits), sizes)
	}
}

func TestNewSamplerRefuses(t *testing.T) {
	for _, rate := range []float64{0, -1, 1.001, math.NaN(), math.Inf(1)} {
		if s, err := set.NewSampler(rate); err == nil || s != nil {
			t.Errorf("NewSampler(%v) = %v, %v, want an error", rate, s, err)
		}
	}
}

func BenchmarkSampler(b *testing.B) {
	keys := workload.W3(100_000).Keys
	s := sample(b, 0.001)
	b.ReportAllocs()
	for i := range b.N {
		s.Add(keys[i%len(keys)])
	}
}
