package dbdir

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Files are sorted by their numbers, however many digits these have, and then by names without numbers.
func TestOrderOfNames(t *testing.T) {
	t.Parallel()
	want := []string{"1.ldb", "000009.ldb", "9.ldb", "000010.sst", "10.ldb", "999999.ldb", "1000000.ldb", "10a.ldb", "1a.ldb", "9a.ldb", "a.ldb"}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		got := slices.Clone(want)
		rng.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, func(a, b string) int { return compareNumbered(numbered(a), numbered(b)) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}
