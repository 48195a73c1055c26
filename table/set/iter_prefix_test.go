package set_test

import (
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// The Iter of a set shows the keys that start with the prefix, of which it has a copy, and checks filters for it.
func TestIterOfAPrefix(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(20), FilterPrefix: filter.PrefixOfLength(len(key(0)))})
	s := open(t, m, src, nil)
	for prefix, want := range map[string]int{key(0): 1, key(perTable): 1, key(3 * perTable): 0} {
		asked := []byte(prefix)
		it := s.NewIter(background, &table.IterOptions{Prefix: asked})
		copy(asked, "other")
		n, found := 0, false
		for e, err := range it.All() {
			noError(t, err)
			n++
			found = found || string(e.Key) == prefix
		}
		if n != want || found != (want > 0) {
			t.Errorf("prefix %q: %d entries are shown, want %d; it is among them: %v", prefix, n, want, found)
		}
		noError(t, it.Close())
	}
}
