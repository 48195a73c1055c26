package goleveldb

import (
	"cmp"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/comparer"

	"github.com/sievetable/sievetable/table/goleveldb/internal/leveldb"
)

// Keys too short for an internal key come first, in bytewise order, though an engine's comparer panics for them.
func TestShortKeysComeFirst(t *testing.T) {
	t.Parallel()
	order := internalOrder{leveldb.NewComparer(comparer.DefaultComparer)}
	keys := [][]byte{
		nil, []byte("7 bytes"), []byte("a"), []byte("aa"), []byte("b"), {0xff},
		internalKeyOf("", 2), internalKeyOf("", 1), internalKeyOf("a", 1), internalKeyOf("b", 3),
	}
	for i, a := range keys {
		for j, b := range keys {
			if got, want := order.Compare(a, b), cmp.Compare(i, j); got != want {
				t.Errorf("Compare(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}
