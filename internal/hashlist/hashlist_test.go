package hashlist_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sievetable/sievetable/internal/hashlist"
)

// A List contains the added hashes, in order, even if it reuses its memory, or another list's.
func TestListHasWhatWasAdded(t *testing.T) {
	t.Run("32 bits", testList[uint32])
	t.Run("64 bits", testList[uint64])
}

func testList[H uint32 | uint64](t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 1))
	var l hashlist.List[H]
	for _, n := range []int{0, 1, 63, 64, 65, 128, 2047, 2048, 2049, 50_000, 70, 1, 0} {
		var want []H
		for range n {
			h := H(rng.Uint64())
			if l.EndsWith(h) {
				t.Fatalf("a list of %d ends with a hash that was not added", l.Len())
			}
			if l.Add(h); !l.EndsWith(h) {
				t.Fatalf("a list of %d does not end with the hash that was added", l.Len())
			}
			want = append(want, h)
		}
		check(t, &l, want)
		if l.Reset(); l.EndsWith(0) {
			t.Error("an empty list ends with a hash")
		}
		check(t, &l, nil)
	}
}

func check[H uint32 | uint64](t *testing.T, l *hashlist.List[H], want []H) {
	t.Helper()
	if diff := cmp.Diff(want, slices.Concat(l.Chunks()...)); l.Len() != len(want) || len(want) > 0 && diff != "" {
		t.Errorf("Len is %d, want %d (-want +got):\n%s", l.Len(), len(want), diff)
	}
}
