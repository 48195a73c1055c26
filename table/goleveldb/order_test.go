package goleveldb_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/table/goleveldb"
	"github.com/sievetable/sievetable/table/goleveldb/internal/leveldb"
)

// A table is listed in file order even if the comparer has another order. goleveldb relies on that when it recovers
// a database: it reads tables of internal keys with the order of user keys.
func TestListInAnotherOrder(t *testing.T) {
	t.Parallel()
	strict := ordering(func(_, _ []byte) int { panic("this is no key") }) // a program's own order that accepts no key
	for _, c := range tableCases() {
		entries := c.entries(90)
		contents := theirTable(t, &c.o, entries)
		for _, o := range []*opt.Options{nil, {Comparer: strict}} {
			_, r := openBoth(t, contents, o)
			it := r.NewIterator(nil, nil)
			var forward, backward []entry
			for it.Next() {
				forward = append(forward, entryAt(it))
			}
			for it.Prev() {
				backward = append(backward, entryAt(it))
			}
			slices.Reverse(backward)
			for name, got := range map[string][]entry{"forward": forward, "backward": backward} {
				if diff := cmp.Diff(entries, got, cmp.AllowUnexported(entry{})); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", c.name, name, diff)
				}
			}
			if !it.First() || !bytes.Equal(it.Key(), entries[0].key) || !it.Last() || !bytes.Equal(it.Key(), entries[len(entries)-1].key) {
				t.Errorf("%s: First and Last: at %q, %v", c.name, it.Key(), it.Error())
			}
			if it.Release(); it.Error() != nil {
				t.Errorf("%s: %v", c.name, it.Error())
			}
		}
	}
}

// An engine's table with keys out of order is corrupt.
func TestDisorderInAnEnginesTable(t *testing.T) {
	t.Parallel()
	c := tableCases()[10]
	backward := c
	backward.o.Comparer = leveldb.NewComparer(descending)
	_, r := openBoth(t, theirTable(t, &backward.o, backward.entries(5)), &c.o)
	if got, want := scanned(r), "0 entries, 000007.ldb: data-block at 0, 259 bytes"; got != want {
		t.Errorf("a scan returns %s, want %s", got, want)
	}
}

// A lookup finds keys that are equal to the given one in a program's order, even if the filter contains only one of
// them.
func TestEqualKeysFindEachOther(t *testing.T) {
	t.Parallel()
	c := tableCases()[2]
	c.o.Comparer = ordering(func(a, b []byte) int { return bytes.Compare(bytes.ToLower(a), bytes.ToLower(b)) })
	theirs, ours := openBoth(t, theirTable(t, &c.o, []entry{{[]byte("Ada"), []byte("1")}, {[]byte("ken"), []byte("2")}}), &c.o)
	for _, r := range []reader{theirs, ours} {
		for _, key := range []string{"Ada", "ada", "KEN"} {
			if _, err := r.Get([]byte(key), nil); err != nil {
				t.Errorf("%T: Get(%q): %v", r, key, err)
			}
		}
		if _, err := r.Get([]byte("grace"), nil); err != goleveldb.ErrNotFound {
			t.Errorf("%T: Get of an absent key: %v", r, err)
		}
	}
}
