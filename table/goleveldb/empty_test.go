package goleveldb_test

import (
	"testing"

	"github.com/syndtr/goleveldb/leveldb/opt"
)

// Empty keys and values are not nil.
func TestEmptyIsNotNil(t *testing.T) {
	t.Parallel()
	for _, c := range tableCases() {
		if c.internal {
			continue
		}
		entries := []entry{{[]byte{}, []byte{}}, {[]byte("a"), []byte{}}}
		if c.o.GetComparer().Compare(entries[0].key, entries[1].key) > 0 {
			entries[0], entries[1] = entries[1], entries[0]
		}
		_, r := openBoth(t, theirTable(t, &c.o, entries), &c.o)
		for _, e := range entries {
			value, err := r.Get(e.key, nil)
			if err != nil || value == nil {
				t.Errorf("%s: Get(%q) = %#v, %v", c.name, e.key, value, err)
			}
			for _, filtered := range []bool{false, true} {
				key, value, err := r.Find(e.key, filtered, &opt.ReadOptions{})
				if err != nil || key == nil || value == nil {
					t.Errorf("%s: Find(%q, %t) = %#v, %#v, %v", c.name, e.key, filtered, key, value, err)
				}
			}
		}
		it := r.NewIterator(nil, nil)
		for it.Next() {
			if it.Key() == nil || it.Value() == nil {
				t.Errorf("%s: the iterator is at %#v, %#v", c.name, it.Key(), it.Value())
			}
		}
		it.Release()
	}
}
