package dbread

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// A levelOf is a level of tables that contain versions of few keys, and its Run.
type levelOf struct {
	Run[int]
	order  table.Comparer
	tables [][]workload.Pair
}

// randomLevel returns a level whose versions of a user key can be in several tables, which are inserted in any order.
func randomLevel(t *testing.T, rng *rand.Rand) *levelOf {
	t.Helper()
	l := &levelOf{order: table.InternalComparer(table.BytewiseComparer)}
	var keys []string
	for range 1 + rng.IntN(60) {
		keys = append(keys, string(internalkey.Key{UserKey: fmt.Appendf(nil, "%02d", rng.IntN(12)), Sequence: rng.Uint64N(20), Kind: internalkey.Set}.Append(nil)))
	}
	slices.SortFunc(keys, func(a, b string) int { return l.order.Compare([]byte(a), []byte(b)) })
	for keys = slices.Compact(keys); len(keys) > 0; {
		n := 1 + rng.IntN(min(5, len(keys)))
		l.tables, keys = append(l.tables, tabletest.PairsOf(keys[:n]...)), keys[n:]
	}
	for _, i := range rng.Perm(len(l.tables)) {
		pairs := l.tables[i]
		if !l.Insert(l.order, i, merge.LevelTable{Smallest: pairs[0].Key, Largest: pairs[len(pairs)-1].Key}) {
			t.Fatalf("table %d is not inserted", i)
		}
	}
	return l
}

// In a level whose tables share user keys, a Run finds all tables with versions of a key up to a sequence number.
// The first of them has the newest version.
func TestRunFindsAllVersions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 45))
		l := randomLevel(t, rng)
		for user := range 13 {
			seek := internalkey.SearchKey(nil, fmt.Appendf(nil, "%02d", user), rng.Uint64N(22))
			isVersion := func(p workload.Pair) bool {
				return bytes.Equal(internalkey.UserKey(p.Key), internalkey.UserKey(seek)) && l.order.Compare(p.Key, seek) >= 0
			}
			from, to := l.Find(l.order, table.BytewiseComparer, internalkey.UserKey, seek)
			for i, pairs := range l.tables {
				if has := slices.ContainsFunc(pairs, isVersion); has && (i < from || i >= to) {
					t.Errorf("seed %d: Find(%q) = %d to %d, and table %d has a version", seed, seek, from, to, i)
				}
			}
			if newest := slices.IndexFunc(l.tables, func(pairs []workload.Pair) bool { return slices.ContainsFunc(pairs, isVersion) }); newest >= 0 && newest != from {
				t.Errorf("seed %d: Find(%q) begins with table %d, want %d, which has the newest", seed, seek, from, newest)
			}
		}
	}
}

// An Iter returns the entries of the tables that can have keys within the bounds, and opens no other table.
func TestRunIteratesWithinBounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 46))
		l := randomLevel(t, rng)
		bound := func() []byte {
			if rng.IntN(4) == 0 {
				return nil
			}
			pairs := slices.Concat(l.tables...)
			if key := pairs[rng.IntN(len(pairs))].Key; rng.IntN(2) == 0 {
				return key
			}
			return internalkey.SearchKey(nil, fmt.Appendf(nil, "%02d", rng.IntN(13)), rng.Uint64N(22))
		}
		lower, upper := bound(), bound()
		var want, opened []int
		var pairs []workload.Pair
		for i, table := range l.tables {
			above := lower == nil || l.order.Compare(table[len(table)-1].Key, lower) >= 0
			if above && (upper == nil || l.order.Compare(table[0].Key, upper) < 0) {
				want, pairs = append(want, i), append(pairs, table...)
			}
		}
		it, err := l.Iter(l.order, lower, upper, func(i int) (merge.Iterator, error) {
			opened = append(opened, i)
			contents := tabletest.Build(t, &table.WriterOptions{Comparer: l.order}, l.tables[i])
			return tabletest.Open(t, contents, &table.ReaderOptions{Comparer: l.order}).NewIter(nil), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []workload.Pair
		for it != nil && it.Next() {
			got = append(got, workload.Pair{Key: bytes.Clone(it.Key()), Value: bytes.Clone(it.Value())})
		}
		if it != nil && it.Close() != nil || (it == nil) != (want == nil) {
			t.Fatalf("seed %d: the iterator is %v, of tables %v", seed, it, want)
		}
		if diff := cmp.Diff(want, opened) + tabletest.DiffPairs(pairs, got); diff != "" {
			t.Errorf("seed %d: from %q to %q, tables and pairs (-want +got):\n%s", seed, lower, upper, diff)
		}
	}
}
