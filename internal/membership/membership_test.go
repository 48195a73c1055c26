package membership

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All forms have all keys, and none but the filter has others.
func TestAnswers(t *testing.T) {
	t.Parallel()
	const n = 1000
	p := NewPool(n, n)
	keys := p.Keys(n)
	for _, f := range Forms {
		s := f.New(keys)
		for _, k := range p.Present(n) {
			if !s.Contains(k) {
				t.Errorf("%s: %q is missing", f.Name, k)
			}
		}
		wrong := 0
		for _, k := range p.Absent() {
			if s.Contains(k) {
				wrong++
			}
		}
		if isFilter := f.Name == "Bloom filter"; wrong > 0 && !isFilter || wrong > n/30 {
			t.Errorf("%s: %d of %d absent keys are there", f.Name, wrong, n)
		}
	}
}

// The probes of a filter do not depend on the number of keys. Those of a slice grow with its
// logarithm, and those of a list with the number itself.
func TestProbes(t *testing.T) {
	t.Parallel()
	type probes struct{ Absent, Present float64 } // rounded
	want := map[string][]probes{                  // of 100 and of 10,000 keys
		"Bloom filter": {{3, 6}, {3, 6}},
		"sorted slice": {{8, 8}, {14, 14}},
		"Go map":       {{0, 0}, {0, 0}},
		"list":         {{100, 51}, {10_000, 4984}},
	}
	p := NewPool(10_000, 1000)
	got := map[string][]probes{}
	for _, f := range Forms {
		for _, n := range []int{100, 10_000} {
			s := f.New(p.Keys(n))
			got[f.Name] = append(got[f.Name], probes{
				math.Round(MeanProbes(s, p.Absent())), math.Round(MeanProbes(s, p.Present(n))),
			})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for most, want := range map[int][]int{9: nil, 1000: {10, 100, 1000}, 1999: {10, 100, 1000}} {
		if diff := cmp.Diff(want, Sizes(most)); diff != "" {
			t.Errorf("Sizes(%d) (-want +got):\n%s", most, diff)
		}
	}
}
