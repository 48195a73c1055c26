package workload

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (u URLs) strings() (all []string) {
	for i := range u.Len() {
		all = append(all, string(u.Append(nil, i)))
	}
	return all
}

func TestW4(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ n, absent int }{{1, 1}, {1000, 1}, {1000, 7}, {1000, 1000}, {7, 100}} {
		present, missing := W4(c.n, c.absent)
		if present.Len() != c.n || missing.Len() != c.absent {
			t.Fatalf("W4(%d, %d): %d and %d URLs", c.n, c.absent, present.Len(), missing.Len())
		}
		all := append(present.strings(), missing.strings()...)
		if !slices.IsSorted(all[:c.n]) || !slices.IsSorted(all[c.n:]) {
			t.Errorf("W4(%d, %d) is not in order", c.n, c.absent)
		}
		slices.Sort(all)
		if got := len(slices.Compact(all)); got != c.n+c.absent {
			t.Errorf("W4(%d, %d): %d different URLs", c.n, c.absent, got)
		}
		if slices.ContainsFunc(all, func(s string) bool { return len(s) != URLLen }) {
			t.Errorf("W4(%d, %d): a URL has not %d bytes", c.n, c.absent, URLLen)
		}
	}
	// Figures are comparable only if everybody measures these very keys.
	present, _ := W4(10_000, 1)
	if diff := cmp.Diff("https://www.bababa.org/baba/balifo/index.html?id=000022091729045", present.strings()[0]); diff != "" {
		t.Errorf("first URL (-want +got):\n%s", diff)
	}
}

func TestURLsShuffle(t *testing.T) {
	t.Parallel()
	present, _ := W4(1000, 1)
	sorted := present.strings()
	present.Shuffle()
	if shuffled := present.strings(); slices.IsSorted(shuffled) {
		t.Error("URLs are in order after Shuffle")
	}
	present.Sort()
	if diff := cmp.Diff(sorted, present.strings()); diff != "" {
		t.Errorf("URLs after Sort (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(sorted[3:5], present.Slice(3, 5).strings()); diff != "" {
		t.Errorf("Slice(3, 5) (-want +got):\n%s", diff)
	}
}
