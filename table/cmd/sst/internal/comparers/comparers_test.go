package comparers

import (
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	for word, names := range map[string][]string{
		"bytewise": {"leveldb.BytewiseComparator"},
		"reverse":  {"leveldb.ReverseBytewiseComparator", "rocksdb.ReverseBytewiseComparator"},
		"idb_cmp1": {"idb_cmp1"},
	} {
		byFlag, err := ByFlagValue(word)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if byName, ok := ByName(name); !ok || byName != byFlag {
				t.Errorf("ByName(%q) = %v, %v; want that of ByFlagValue(%q)", name, byName, ok, word)
			}
		}
		if !slices.Contains(FlagValues(), word) {
			t.Errorf("FlagValues() = %q, want %q among them", FlagValues(), word)
		}
	}
	if c, ok := ByName("test.Unknown"); ok || c != nil {
		t.Errorf("ByName of an unknown order = %v, %v", c, ok)
	}
	if _, err := ByFlagValue("idb"); err == nil || !strings.Contains(err.Error(), `--comparator is "idb", want auto, bytewise, reverse, idb_cmp1`) {
		t.Errorf("ByFlagValue of an unknown value = %v", err)
	}
}

// Each order can be that of a table: it does not separate keys wrongly.
func TestSeparators(t *testing.T) {
	t.Parallel()
	for _, c := range all {
		keys := samples()
		slices.SortFunc(keys, func(a, b []byte) int { return c.comparer.Compare(a, b) })
		for i := 1; i < len(keys); i++ {
			a, b := keys[i-1], keys[i]
			if c.comparer.Compare(a, b) == 0 {
				continue
			}
			if s := c.comparer.Separator(nil, a, b); s != nil && (c.comparer.Compare(a, s) > 0 || c.comparer.Compare(s, b) >= 0) {
				t.Errorf("%s: Separator(%q, %q) = %q", c.flagValue, a, b, s)
			}
			if s := c.comparer.Successor(nil, b); s != nil && c.comparer.Compare(s, b) < 0 {
				t.Errorf("%s: Successor(%q) = %q", c.flagValue, b, s)
			}
		}
	}
}

// checkOrder checks that the order holds of three keys, whatever they are.
func checkOrder(t *testing.T, c table.Comparer, x, y, z []byte) {
	t.Helper()
	keys := [][]byte{x, y, z}
	for _, a := range keys {
		if c.Compare(a, a) != 0 {
			t.Errorf("Compare(%x, itself) = %d", a, c.Compare(a, a))
		}
		for _, b := range keys {
			if sign(c.Compare(a, b)) != -sign(c.Compare(b, a)) {
				t.Errorf("Compare(%x, %x) = %d, and %d the other way round", a, b, c.Compare(a, b), c.Compare(b, a))
			}
		}
	}
	slices.SortFunc(keys, c.Compare)
	first, second := c.Compare(keys[0], keys[1]), c.Compare(keys[1], keys[2])
	if got, want := sign(c.Compare(keys[0], keys[2])), sign(min(first, second)); first > 0 || second > 0 || got != want {
		t.Errorf("%x, %x, %x: %d, %d, and from end to end %d", keys[0], keys[1], keys[2], first, second, got)
	}
}

func sign(n int) int { return min(1, max(-1, n)) }
