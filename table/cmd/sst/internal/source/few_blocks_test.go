package source

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// someOrders returns orders that are not bytewise. The last ones differ from it in few keys.
func someOrders(rng *rand.Rand) map[string]func(a, b string) int {
	var rank [256]byte
	for i, r := range rng.Perm(256) {
		rank[i] = byte(r)
	}
	by := func(f func(string) string) func(a, b string) int {
		return func(a, b string) int { return cmp.Or(cmp.Compare(f(a), f(b)), cmp.Compare(a, b)) }
	}
	salt := rng.Uint64()
	moved := func(key string) bool { // about one of 300 keys
		h := salt
		for i := range len(key) {
			h = (h ^ uint64(key[i])) * 0x9e3779b97f4a7c15
		}
		return h>>32%300 == 0
	}
	return map[string]func(a, b string) int{
		"reverse":          func(a, b string) int { return cmp.Compare(b, a) },
		"length first":     func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) },
		"last byte first":  by(func(s string) string { b := []byte(s); slices.Reverse(b); return string(b) }),
		"case-insensitive": by(strings.ToLower),
		"signed bytes": by(func(s string) string {
			return strings.Map(func(r rune) rune { return r ^ 0x80 }, s)
		}),
		"permuted bytes": by(func(s string) string {
			b := []byte(s)
			for i := range b {
				b[i] = rank[b[i]]
			}
			return string(b)
		}),
		"without the first byte": by(func(s string) string { return s[min(1, len(s)):] }),
		"few keys at the end": by(func(s string) string {
			if moved(s) {
				return "\xff" + s
			}
			return s
		}),
		"few keys a little later": by(func(s string) string {
			if moved(s) {
				return s[:max(0, len(s)-1)] + "\xff"
			}
			return s
		}),
	}
}

// someKeys returns distinct keys of several kinds.
func someKeys(rng *rand.Rand, n int) map[string][]string {
	random := func(letters string, least, most int) string {
		b := make([]byte, least+rng.IntN(most-least+1))
		for i := range b {
			b[i] = letters[rng.IntN(len(letters))]
		}
		return string(b)
	}
	all := map[string][]string{}
	for range n {
		all["numbers"] = append(all["numbers"], fmt.Sprint(rng.IntN(100*n)))
		all["padded"] = append(all["padded"], fmt.Sprintf("key%09d", rng.IntN(100*n)))
		all["words"] = append(all["words"], random("abcdeABCDE", 3, 12))
		all["lower"] = append(all["lower"], random("abcdefghij", 6, 6))
		all["binary"] = append(all["binary"], random("\x00\x01\x7f\x80\xfe\xffab", 5, 9))
		all["paths"] = append(all["paths"], "https://"+random("abc", 3, 3)+".example/"+random("xyz/", 2, 12))
	}
	for kind, keys := range all {
		slices.Sort(keys)
		all[kind] = slices.Compact(keys)
	}
	return all
}

// Reading few data blocks detects nearly every wrong order that reading all of them detects. Whatever the order, a
// lookup of a present key finds it, or returns an error that says why not.
func TestLookupsInWrongOrders(t *testing.T) {
	t.Parallel()
	dir, few, all := t.TempDir(), 0, 0
	for seed := range uint64(long.Rounds(1, 8)) {
		rng := rand.New(rand.NewPCG(seed, 72))
		keys, orders := someKeys(rng, 2000), someOrders(rng)
		for _, kind := range slices.Sorted(maps.Keys(keys)) {
			for _, name := range slices.Sorted(maps.Keys(orders)) {
				sorted := slices.SortedFunc(slices.Values(keys[kind]), orders[name])
				if slices.IsSorted(sorted) {
					continue
				}
				path := filepath.Join(dir, "t.ldb")
				o := table.WriterOptions{Comparer: table.AnyOrder, BlockSize: 300}
				switch rng.IntN(3) {
				case 0:
					o.FilterPolicy = filter.NewBloom(10)
				case 1:
					o.TableFilterPolicy = filter.NewTableBloom(10)
				}
				filetest.WriteTable(t, path, o, sorted...)
				if open(t, path, dbfile.Options{}).Order == table.AnyOrder {
					all++
				} else {
					t.Errorf("%s by %s: all data blocks do not show it", kind, name)
				}
				noticed := checkWrongOrder(t, path, kind+" by "+name, sorted, rng)
				if noticed {
					few++
				} else {
					t.Logf("%s by %s: few data blocks do not show it", kind, name)
				}
			}
		}
	}
	t.Logf("few data blocks show %d of %d orders", few, all)
	if few < all*8/10 {
		t.Errorf("few data blocks show %d orders, want nearly all of %d", few, all)
	}
}

// checkWrongOrder looks up keys of a table, most of them out of place, with the first one among them. It reports
// whether opening the table has detected the wrong order.
func checkWrongOrder(t *testing.T, path, what string, keys []string, rng *rand.Rand) (noticed bool) {
	t.Helper()
	var displaced []string
	for i, key := range keys[1:] {
		if key < keys[i] {
			displaced = append(displaced, keys[i], key)
		}
	}
	var s *Source
	for i := range 60 {
		if i%2 == 0 || i > 30 {
			if s != nil {
				s.Close() // it was only read
			}
			s = openSource(t, path, Options{Lookups: true})
			noticed = s.Order == table.AnyOrder
		}
		key := displaced[rng.IntN(len(displaced))]
		if i%4 == 0 {
			key = keys[rng.IntN(len(keys))]
		}
		e, found, err := s.Get([]byte(key))
		if err == nil && (!found || !bytes.Equal(e.Value, []byte(key))) {
			t.Errorf("%s: Get of %q: %q, %v, want it or an error", what, key, e.Value, found)
		}
		absent := key + "\x00absent"
		if e, found, err := s.Get([]byte(absent)); found {
			t.Errorf("%s: Get of %q: %q, %v", what, absent, e.Value, err)
		}
	}
	return noticed
}

// The first missed key is searched for in all data blocks whose filters do not rule it out, including blocks of a
// large table that were not sampled.
func TestMissInLargeTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.ldb")
	w, err := table.Create(path, &table.WriterOptions{Comparer: table.AnyOrder, Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10)})
	noError(t, err)
	defer w.Abort()                                                       // does nothing after Close
	displaced := []string{"KEY000050757", "KEY000123477", "KEY000150132"} // in the middle of blocks, where separators do not reveal them
	for i := range 200_000 {
		key := fmt.Sprintf("key%09d", i)
		if upper := strings.ToUpper(key); slices.Contains(displaced, upper) {
			key = upper
		}
		noError(t, w.Append([]byte(key), make([]byte, 100)))
	}
	noError(t, w.Close())
	for _, key := range displaced {
		s := openSource(t, path, Options{Lookups: true})
		if _, found, err := s.Get([]byte(key)); !found && err == nil {
			t.Errorf("%s is absent", key)
		}
	}
}
