package hashlist_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sievetable/sievetable/internal/hashlist"
)

// A List contains the added hashes, in order, even if it reuses another list's memory.
func TestListHasWhatWasAdded(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{0, 1, 63, 64, 65, 128, 8191, 8192, 8193, 50_000, 1} {
		var l hashlist.List
		var want []uint64
		for range n {
			h := rng.Uint64()
			if l.EndsWith(h) {
				t.Fatalf("a list of %d ends with a hash that was not added", l.Len())
			}
			if l.Add(h); !l.EndsWith(h) {
				t.Fatalf("a list of %d does not end with the hash that was added", l.Len())
			}
			want = append(want, h)
		}
		check(t, &l, want)
		if l.Release(); l.EndsWith(0) {
			t.Error("an empty list ends with a hash")
		}
		check(t, &l, nil)
	}
}

func check(t *testing.T, l *hashlist.List, want []uint64) {
	t.Helper()
	if diff := cmp.Diff(want, slices.Concat(l.Chunks()...)); l.Len() != len(want) || len(want) > 0 && diff != "" {
		t.Errorf("Len is %d, want %d (-want +got):\n%s", l.Len(), len(want), diff)
	}
}
