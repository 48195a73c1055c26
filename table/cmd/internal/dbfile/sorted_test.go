package dbfile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/internalkey"
)

// Of pairs with equal keys, a sorted table keeps the last, or keeps the first and reports the others: in memory
// and on disk, in any order, with user keys and internal keys.
func TestSortedTableHasOneOfEqualKeys(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	reverse := comparers.ByFlagValue("reverse")
	for seed := range 32 {
		rng := rand.New(rand.NewPCG(uint64(seed), 96))
		user := []table.Comparer{table.BytewiseComparer, reverse, filetest.FoldingComparer{Comparer: table.BytewiseComparer}}[seed%3]
		internal, keepsFirst, size := seed&1 > 0, seed&2 > 0, 1
		if rng.IntN(2) == 0 { // on disk
			size = MaxSortInMemory / 16
		}
		what := fmt.Sprintf("seed %d: internal keys %t, keeps the first %t, %s, values of %d bytes", seed, internal, keepsFirst, user.Name(), size)
		checkSorted(t, what, randomPairs(rng, internal, size), user, internal, keepsFirst)
	}
}

// randomPairs returns pairs with few distinct keys, each with a different value.
func randomPairs(rng *rand.Rand, internal bool, size int) (pairs []input.Pair) {
	for i := range 17 + rng.IntN(4) {
		key := append([]byte("key"), "aAbBcC"[rng.IntN(6)])
		if internal {
			key = internalkey.Key{UserKey: key, Sequence: rng.Uint64N(3), Kind: internalkey.Kind(rng.IntN(2))}.Append(nil)
		}
		pairs = append(pairs, input.Pair{Key: key, Value: append(make([]byte, size), byte(i))})
	}
	return pairs
}

// checkSorted compares a sorted table with pairs sorted by slices.SortedStableFunc.
func checkSorted(t *testing.T, what string, pairs []input.Pair, user table.Comparer, internal, keepsFirst bool) {
	t.Helper()
	order := user
	if internal {
		order = table.InternalComparer(user)
	}
	line := func(key, value []byte) string { return fmt.Sprintf("%q %d", key, value[len(value)-1]) }
	sorted := slices.SortedStableFunc(slices.Values(pairs), func(a, b input.Pair) int { return order.Compare(a.Key, b.Key) })
	var want, wantRepeated []string
	for i, p := range sorted {
		isFirst := i == 0 || order.Compare(sorted[i-1].Key, p.Key) != 0
		isLast := i+1 == len(sorted) || order.Compare(sorted[i+1].Key, p.Key) != 0
		if keepsFirst && isFirst || !keepsFirst && isLast {
			want = append(want, line(p.Key, p.Value))
		}
		if keepsFirst && !isFirst {
			wantRepeated = append(wantRepeated, string(p.Key))
		}
	}
	var got, repeated []string
	var call func(key []byte)
	if keepsFirst {
		call = func(key []byte) { repeated = append(repeated, string(key)) }
	}
	s, err := NewSortedTable(func(yield func(input.Pair, error) bool) {
		for _, p := range pairs {
			if !yield(p, nil) {
				return
			}
		}
	}, Stored{Internal: internal, Order: user}, call, t.TempDir())
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for e, err := range s.All(nil) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got = append(got, line(e.Key, e.Value))
	}
	if diff := cmp.Diff([][]string{want, wantRepeated}, [][]string{got, repeated}); diff != "" {
		t.Errorf("%s: pairs, and keys that are repeated (-want +got):\n%s", what, diff)
	}
	noError(t, s.Close())
}
