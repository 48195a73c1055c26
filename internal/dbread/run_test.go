package dbread

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// For any tables in any order, a Run accepts those that overlap none before, keeps them in order, and finds those
// whose range contains a key.
func TestRunIsAListOfRanges(t *testing.T) {
	t.Parallel()
	order, identity := table.BytewiseComparer, func(key []byte) []byte { return key }
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 44))
		var r Run[int]
		var want [][2]string
		ranges := map[int][2]string{}
		for i := range 40 {
			a, b := fmt.Sprintf("%03d", rng.IntN(300)), fmt.Sprintf("%03d", rng.IntN(300))
			if rng.IntN(3) > 0 {
				b = a
			}
			keys := [2]string{min(a, b), max(a, b)}
			fits := !slices.ContainsFunc(want, func(w [2]string) bool { return w[0] <= keys[1] && keys[0] <= w[1] })
			if got := r.Insert(order, i, merge.LevelTable{Smallest: []byte(keys[0]), Largest: []byte(keys[1])}); got != fits {
				t.Fatalf("seed %d: Insert(%v) = %t among %v", seed, keys, got, want)
			}
			if fits {
				want, ranges[i] = append(want, keys), keys
			}
		}
		slices.SortFunc(want, func(a, b [2]string) int { return bytes.Compare([]byte(a[0]), []byte(b[0])) })
		for i, table := range r.Tables {
			if ranges[table] != want[i] {
				t.Errorf("seed %d: table %d has %v, want %v", seed, i, ranges[table], want[i])
			}
		}
		for key := range 300 {
			k := fmt.Sprintf("%03d", key)
			from, to := r.Find(order, order, identity, []byte(k))
			i := slices.IndexFunc(want, func(w [2]string) bool { return w[0] <= k && k <= w[1] })
			if (from < to) != (i >= 0) || i >= 0 && (from != i || to != i+1) {
				t.Errorf("seed %d: Find(%s) = %d to %d, want %d", seed, k, from, to, i)
			}
		}
	}
}

// A table with an unknown range is alone, and can contain any key.
func TestRunOfUnknownRange(t *testing.T) {
	t.Parallel()
	known := merge.LevelTable{Smallest: []byte("a"), Largest: []byte("b")}
	var r Run[int]
	if !r.Insert(table.BytewiseComparer, 1, merge.LevelTable{}) || r.IsKnown() || r.Insert(table.BytewiseComparer, 2, known) {
		t.Error("a table is beside one of unknown range")
	}
	if from, to := r.Find(table.BytewiseComparer, table.BytewiseComparer, nil, []byte("x")); from != 0 || to != 1 {
		t.Errorf("Find = %d to %d, want the table", from, to)
	}
	r = Run[int]{}
	if !r.Insert(table.BytewiseComparer, 1, known) || !r.IsKnown() || r.Insert(table.BytewiseComparer, 2, merge.LevelTable{}) {
		t.Error("a table of unknown range is beside another")
	}
}
