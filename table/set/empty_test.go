package set_test

import (
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Empty keys and values are not nil.
func TestEmptyIsNotNil(t *testing.T) {
	t.Parallel()
	src, m := newStore(), new(set.Manifest)
	m.Tables = append(m.Tables, src.put(t, "a", filtered, [][2]string{{"", ""}, {"a", ""}}), src.put(t, "b", filtered, [][2]string{{"b", ""}}))
	for _, cache := range []*table.Cache{nil, table.NewCache(1 << 20)} {
		s := open(t, m, src, &set.Options{Reader: table.ReaderOptions{Cache: cache}})
		for range 3 { // the Cache keeps a block when it is read again
			keys := bytesOf("", "a", "b")
			for _, key := range keys {
				if value, err := s.Get(background, key); err != nil || value == nil {
					t.Errorf("Get(%q) = %#v, %v", key, value, err)
				}
			}
			found := 0
			err := s.GetMany(background, keys, nil, func(i int, value []byte) error {
				if found++; value == nil {
					t.Errorf("GetMany has nil for %q", keys[i])
				}
				return nil
			})
			if err != nil || found != len(keys) {
				t.Errorf("GetMany finds %d keys, %v", found, err)
			}
			it := s.NewIter(background, nil)
			for ok := it.Last(); ok; ok = it.Prev() {
				if it.Key() == nil || it.Value() == nil {
					t.Errorf("the iterator is at %#v, %#v", it.Key(), it.Value())
				}
			}
			noError(t, it.Close())
		}
	}
}
