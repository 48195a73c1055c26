package bench

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
)

// A keySet is a set of keys in some form.
type keySet interface {
	Contains(key []byte) bool // a filter has false positives

	// Probes returns how many bits of a filter Contains checks, or how many keys it compares. It is 0 if the form
	// does not know.
	Probes(key []byte) int
}

// forms lists the ways to store a set, the filter first.
var forms = []struct {
	name string
	new  func(keys [][]byte) keySet // keeps the keys, which are in ascending order
	most int                        // largest number of keys whose lookups are fast enough to measure
}{
	{"Bloom filter", newBloom, largest},
	{"sorted slice", func(keys [][]byte) keySet { return sorted(keys) }, largest},
	{"Go map", newHashed, largest},
	{"list", func(keys [][]byte) keySet { return list(keys) }, 10_000},
}

// bloomSet is one filter with all keys.
type bloomSet struct {
	policy filter.Bloom
	filter filter.Bytes
}

func newBloom(keys [][]byte) keySet {
	p := filter.NewBloom(10)
	return &bloomSet{p, filtertest.Build(p, keys...)}
}

func (b *bloomSet) Contains(key []byte) bool { return b.policy.Contains(b.filter, key) }

// atOnce is the number of bits that package filter checks before it decides whether to go on.
const atOnce = 3

// Probes finds the first bit of the key that is not set. A filter's last byte is k, so the same filter with a
// smaller k checks only the first bits. Probes changes that byte temporarily.
func (b *bloomSet) Probes(key []byte) int {
	last := &b.filter[len(b.filter)-1]
	k := *last
	defer func() { *last = k }()
	for *last = min(atOnce, k); *last < k; *last = min(*last+atOnce, k) {
		if !b.Contains(key) {
			break
		}
	}
	return int(*last)
}

// sorted uses binary search.
type sorted [][]byte

func (s sorted) Contains(key []byte) bool {
	_, found := slices.BinarySearchFunc(s, key, bytes.Compare)
	return found
}

func (s sorted) Probes(key []byte) int {
	n := 0
	_, _ = slices.BinarySearchFunc(s, key, func(a, b []byte) int {
		n++
		return bytes.Compare(a, b)
	})
	return n
}

type hashed map[string]struct{}

func newHashed(keys [][]byte) keySet {
	h := make(hashed, len(keys))
	for _, k := range keys {
		h[string(k)] = struct{}{}
	}
	return h
}

func (h hashed) Contains(key []byte) bool {
	_, found := h[string(key)]
	return found
}

// Probes returns 0: a map does not report how many slots it compares.
func (hashed) Probes([]byte) int { return 0 }

// list is searched linearly.
type list [][]byte

func (l list) Contains(key []byte) bool { return l.index(key) < len(l) }

func (l list) Probes(key []byte) int { return min(l.index(key)+1, len(l)) }

// index returns the index of key, or len(l) if key is absent.
func (l list) index(key []byte) int {
	for i, k := range l {
		if bytes.Equal(k, key) {
			return i
		}
	}
	return len(l)
}

// meanProbes returns the mean number of probes of the first lookups, or 0 if the form does not know.
func meanProbes(s keySet, keys [][]byte) float64 {
	keys = keys[:min(len(keys), 5000)] // enough for two digits
	sum := 0
	for _, k := range keys {
		sum += s.Probes(k)
	}
	return float64(sum) / float64(len(keys))
}

// All forms contain all keys, and only the filter has false positives.
func TestForms(t *testing.T) {
	t.Parallel()
	const n = 1000
	p := newPool(n, n)
	keys := p.keys(n)
	for _, f := range forms {
		s := f.new(keys)
		for _, k := range p.present(n) {
			if !s.Contains(k) {
				t.Errorf("%s: %q is missing", f.name, k)
			}
		}
		wrong := positives(s.Contains, p.absent)
		if isFilter := f.name == "Bloom filter"; wrong > 0 && !isFilter || wrong > n/30 {
			t.Errorf("%s: %d of %d absent keys are there", f.name, wrong, n)
		}
	}
}

// The probes of a filter do not depend on the number of keys. Those of a sorted slice grow with its logarithm, and those
// of a list linearly.
func TestProbes(t *testing.T) {
	t.Parallel()
	type probes struct{ Absent, Present float64 } // rounded
	want := map[string][]probes{                  // of 100 and of 10,000 keys
		"Bloom filter": {{3, 6}, {3, 6}},
		"sorted slice": {{8, 8}, {14, 14}},
		"Go map":       {{0, 0}, {0, 0}},
		"list":         {{100, 51}, {10_000, 4984}},
	}
	p := newPool(10_000, 1000)
	got := map[string][]probes{}
	for _, f := range forms {
		for _, n := range []int{100, 10_000} {
			s := f.new(p.keys(n))
			got[f.name] = append(got[f.name], probes{
				math.Round(meanProbes(s, p.absent)), math.Round(meanProbes(s, p.present(n))),
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
		if diff := cmp.Diff(want, sizes(most)); diff != "" {
			t.Errorf("sizes(%d) (-want +got):\n%s", most, diff)
		}
	}
}
