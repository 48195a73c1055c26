package command

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/byprefix"
	"github.com/sievetable/sievetable/table/internalkey"
)

// randomVersions returns internal keys, many of them versions of one user key, with deletions. User keys are empty,
// short or long.
func randomVersions(r *rand.Rand) (keys [][]byte) {
	for sequence := range uint64(r.IntN(300)) {
		user := make([]byte, []int{r.IntN(3), r.IntN(8), r.IntN(300)}[r.IntN(3)])
		for i := range user {
			user[i] = "/a\xff"[r.IntN(3)]
		}
		k := internalkey.Key{UserKey: user, Sequence: sequence, Kind: internalkey.Kind(r.IntN(2))}
		keys = append(keys, k.Append(nil))
	}
	return keys
}

// writeVersions writes a table of internal keys. The length of each value is its sequence number.
func writeVersions(t *testing.T, path string, keys [][]byte, order table.Comparer) {
	t.Helper()
	o := &table.WriterOptions{Comparer: table.InternalComparer(order), BlockSize: 300}
	slices.SortFunc(keys, o.Comparer.Compare)
	var pairs []workload.Pair
	for _, key := range keys {
		k, _ := internalkey.Parse(key)
		pairs = append(pairs, workload.Pair{Key: key, Value: make([]byte, k.Sequence)})
	}
	writeFile(t, path, tabletest.Build(t, o, pairs))
}

// countsOf counts keys as writeVersions writes them. The versions of a key must be in order.
func countsOf(keys [][]byte, prefix filter.Prefixer, top int) *byprefix.Result {
	c, seen := byprefix.NewCounter(prefix, top, false, true), map[string]bool{}
	for _, key := range keys {
		k, _ := internalkey.Parse(key)
		user := string(k.UserKey)
		c.Add(k.UserKey, make([]byte, k.Sequence), !seen[user] && k.Kind == internalkey.Set)
		seen[user] = true
	}
	return c.Result()
}

// Whatever the keys, their order and the prefixes, stats --by-prefix prints the counts of a Counter that expects no
// order.
func TestByPrefixIsThatOfACounter(t *testing.T) {
	for seed, r := range seeds(60, 6) {
		name := []string{"bytewise", "reverse", "idb_cmp1"}[seed%3]
		order := comparers.ByFlagValue(name)
		keys := randomVersions(r)
		if name == "idb_cmp1" { // keys that differ can be equal in it
			slices.SortFunc(keys, table.InternalComparer(order).Compare)
			keys = slices.CompactFunc(keys, func(a, b []byte) bool {
				return order.Compare(internalkey.UserKey(a), internalkey.UserKey(b)) == 0 && !bytes.Equal(internalkey.UserKey(a), internalkey.UserKey(b))
			})
		}
		path := filepath.Join(t.TempDir(), "t.ldb")
		writeVersions(t, path, keys, order)
		length, top := 1+r.IntN(5), 1+r.IntN(30)
		prefix, flag := filter.PrefixOfLength(length), fmt.Sprint("--length=", length)
		if r.IntN(2) == 0 {
			delimiter := []string{"/", "a/", "\xff\xff"}[r.IntN(3)]
			prefix, flag = filter.PrefixUntil(delimiter), "--delimiter="+printable.Escape([]byte(delimiter))
		}
		got := mustSST(t, "stats", "--by-prefix", "--json", fmt.Sprint("--top=", top), "--internal-keys=yes", "--comparator="+name, flag, path)
		var want strings.Builder
		noError(t, printable.WriteJSON(&want, prefixResult{Path: path, Result: countsOf(keys, prefix, top)}))
		if diff := cmp.Diff(want.String(), got); diff != "" {
			t.Fatalf("seed %d, %s, %s (-want +got):\n%s", seed, name, flag, diff)
		}
	}
}

// A measured rate has as many decimals as its number of lookups supports.
func TestDecimals(t *testing.T) {
	t.Parallel()
	got := map[int]int{}
	for _, lookups := range []int{0, 1, 299, 300, 1000, 2999, 3000, 10_000, 30_000, 299_999, 300_000} {
		got[lookups] = decimals(lookups)
	}
	want := map[int]int{0: 0, 1: 0, 299: 0, 300: 1, 1000: 1, 2999: 1, 3000: 2, 10_000: 2, 30_000: 3, 299_999: 3, 300_000: 4}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
