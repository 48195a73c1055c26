package byprefix

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
)

type entry struct {
	key, value []byte
	live       bool
}

// randomEntries returns entries whose keys have few distinct letters, so that prefixes repeat, and are empty, short
// or long.
func randomEntries(r *rand.Rand) []entry {
	letters := []string{"ab/", "a/\x00", "/", "\x00\xff", "aé/"}[r.IntN(5)]
	all := make([]entry, r.IntN(400))
	for i := range all {
		key := make([]byte, []int{r.IntN(4), r.IntN(12), r.IntN(200)}[r.IntN(3)])
		for j := range key {
			key[j] = letters[r.IntN(len(letters))]
		}
		all[i] = entry{key, make([]byte, r.IntN(50)), r.IntN(3) > 0}
	}
	return all
}

// A rule defines prefixes by their delimiter or, if that is empty, by their length.
type rule struct {
	delimiter string
	length    int
}

func (r rule) prefixer() filter.Prefixer {
	if r.delimiter != "" {
		return filter.PrefixUntil(r.delimiter)
	}
	return filter.PrefixOfLength(r.length)
}

func randomRule(r *rand.Rand) rule {
	if r.IntN(2) == 0 {
		return rule{length: 1 + r.IntN(6)}
	}
	return rule{delimiter: []string{"/", "a", "//", "aba", "\x00", "missing", "ab"}[r.IntN(7)]}
}

// expected computes the result with a map of all prefixes.
func expected(rule rule, top int, entries []entry) *Result {
	newCount := func() Count { return Count{Live: new(Live)} }
	groups, want := map[string]Count{}, &Result{Count: newCount(), Top: []Group{}, Others: newCount(), Without: newCount(), Unknown: newCount()}
	for _, e := range entries {
		c := Count{Entries: 1, KeyBytes: uint64(len(e.key)), ValueBytes: uint64(len(e.value)), Live: new(Live)}
		if e.live {
			c.LiveEntries, c.LiveBytes = 1, uint64(len(e.key)+len(e.value))
		}
		want.add(c)
		prefix := ""
		switch before, _, found := strings.Cut(string(e.key), rule.delimiter); {
		case rule.delimiter != "" && found:
			prefix = before + rule.delimiter
		case rule.delimiter == "" && len(e.key) >= rule.length:
			prefix = string(e.key[:rule.length])
		default:
			want.Without.add(c)
			continue
		}
		if _, ok := groups[prefix]; !ok {
			groups[prefix] = newCount()
		}
		g := groups[prefix]
		g.add(c)
		groups[prefix] = g
	}
	want.Prefixes = uint64(len(groups))
	for prefix, c := range groups {
		g := Group{Prefix: []byte(prefix), Count: c}
		g.Text, g.PrefixBase64 = printable.StringOrBytes(g.Prefix)
		want.Top = append(want.Top, g)
	}
	slices.SortFunc(want.Top, compareGroups)
	for _, g := range want.Top[min(top, len(want.Top)):] {
		want.Others.add(g.Count)
	}
	want.Top = want.Top[:min(top, len(want.Top))]
	return want
}

// For sorted keys and for keys in any order, the result is the same as with a map.
func TestCounterIsAMap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 5))
		rule, entries, top := randomRule(r), randomEntries(r), 1+r.IntN(20)
		want := expected(rule, top, entries)
		for _, runs := range []bool{false, true} {
			if runs {
				slices.SortStableFunc(entries, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
			}
			c := NewCounter(rule.prefixer(), top, runs, true)
			for _, e := range entries {
				c.Add(e.key, e.value, e.live)
			}
			if diff := cmp.Diff(want, c.Result()); diff != "" {
				t.Fatalf("seed %d, rule %+v, top %d, in runs: %v (-want +got):\n%s", seed, rule, top, runs, diff)
			}
		}
	}
}

// Sorted keys need memory only for the top groups. In any order, entries of groups that exceed the memory are
// counted together, and none is lost.
func TestCounterIsBounded(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("x"), 1<<20)
	for _, runs := range []bool{true, false} {
		c := NewCounter(filter.PrefixUntil("/"), 3, runs, true)
		for i := range 200 {
			c.Add(fmt.Appendf(nil, "%04d%s/%d", i, long, i), nil, true)
		}
		if n := len(c.groups); n > maxRoom>>20 {
			t.Errorf("in runs: %v: %d long prefixes in memory", runs, n)
		}
		r := c.Result()
		var top Count
		for _, g := range r.Top {
			top.add(g.Count)
		}
		if n := top.Entries + r.Others.Entries; n != 200 || r.Entries != 200 || len(r.Top) != 3 {
			t.Errorf("in runs: %v: %d entries, want 200", runs, n)
		}
		if known := r.Unknown.Entries == 0; known != runs || !runs && r.Prefixes+r.Unknown.Entries != 200 {
			t.Errorf("in runs: %v: %d prefixes, and %d entries of others", runs, r.Prefixes, r.Unknown.Entries)
		}
	}
}
