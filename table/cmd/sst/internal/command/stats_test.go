package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/byprefix"
	"github.com/sievetable/sievetable/table/internalkey"
)

// randomVersions returns internal keys of which many are versions of one user key, deletions among
// them, with user keys that are empty, short or long.
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

// writeVersions writes a table of internal keys, whose values have as many bytes as their sequence
// number.
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

// prefixCounts are the counts of prefixes: entries, bytes of keys and of values, live entries and bytes.
type prefixCounts map[string][5]uint64

// countsOf counts with a map. Keys without a prefix are those of "without".
func countsOf(keys [][]byte, delimiter string, length int) prefixCounts {
	counts, seen := prefixCounts{}, map[string]bool{}
	for _, key := range keys {
		k, _ := internalkey.Parse(key)
		user, prefix := string(k.UserKey), "without"
		if before, _, found := strings.Cut(user, delimiter); delimiter != "" && found {
			prefix = "of " + before + delimiter
		} else if delimiter == "" && len(user) >= length {
			prefix = "of " + user[:length]
		}
		c := counts[prefix]
		c[0], c[1], c[2] = c[0]+1, c[1]+uint64(len(user)), c[2]+k.Sequence
		if !seen[user] && k.Kind == internalkey.Set {
			c[3], c[4] = c[3]+1, c[4]+uint64(len(user))+k.Sequence
		}
		counts[prefix], seen[user] = c, true
	}
	return counts
}

// printedCounts reads what stats --by-prefix --json printed.
func printedCounts(t *testing.T, printed string) prefixCounts {
	t.Helper()
	var r struct {
		Top     []byprefix.Group `json:"top"`
		Without byprefix.Count   `json:"without_prefix"`
	}
	noError(t, json.NewDecoder(strings.NewReader(printed)).Decode(&r))
	counts := prefixCounts{}
	add := func(prefix string, n byprefix.Count) {
		counts[prefix] = [5]uint64{n.Entries, n.KeyBytes, n.ValueBytes, n.LiveEntries, n.LiveBytes}
	}
	for _, g := range r.Top {
		prefix := g.PrefixBase64
		if g.Text != nil {
			prefix = []byte(*g.Text)
		}
		add("of "+string(prefix), g.Count)
	}
	if r.Without.Entries > 0 {
		add("without", r.Without)
	}
	return counts
}

// Whatever the keys, their order and the prefixes are, stats --by-prefix counts as a map does.
func TestByPrefixIsAMap(t *testing.T) {
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
		delimiter, length, flag := "", 1+r.IntN(5), ""
		if flag = fmt.Sprint("--length=", length); r.IntN(2) == 0 {
			delimiter = []string{"/", "a/", "\xff\xff"}[r.IntN(3)]
			flag = "--delimiter=" + printable.Escape([]byte(delimiter))
		}
		got := printedCounts(t, mustSST(t, "stats", "--by-prefix", "--json", "--top=1000", "--internal-keys=yes", "--comparator="+name, flag, path))
		if diff := cmp.Diff(countsOf(keys, delimiter, length), got); diff != "" {
			t.Fatalf("seed %d, %s, %s (-want +got):\n%s", seed, name, flag, diff)
		}
	}
}

// A measured rate is printed with the decimals that its lookups tell.
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
