package comparers

import (
	"slices"
	"testing"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	for word, names := range map[string][]string{
		"bytewise": {"leveldb.BytewiseComparator"},
		"reverse":  {"leveldb.ReverseBytewiseComparator", "rocksdb.ReverseBytewiseComparator"},
		"idb_cmp1": {"idb_cmp1"},
	} {
		byFlag := ByFlagValue(word)
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
	if order := ByFlagValue("idb"); order != nil {
		t.Errorf("ByFlagValue of an unknown value = %v", order)
	}
}

// The separators and successors of each order are correct.
func TestSeparators(t *testing.T) {
	t.Parallel()
	for _, c := range all {
		keys := [][]byte{{}, []byte("a"), []byte("aa"), []byte("ab"), []byte("b"), {0}, {0, 0}, {0xff}, {0xff, 0xff}, []byte("\x00\x01\x01\x01\x01\x00\x00")}
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
