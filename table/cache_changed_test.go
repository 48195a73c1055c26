package table_test

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// A changingSource has the file that current is.
type changingSource struct{ current atomic.Pointer[bytes.Reader] }

func (s *changingSource) ReadAt(p []byte, off int64) (int, error) {
	return s.current.Load().ReadAt(p, off)
}

// A file that has changed when the Cache has evicted its table is damage, for Readers of it, and
// harms no Iter that lives on.
func TestCachedTableThatChanges(t *testing.T) {
	t.Parallel()
	before, after := build(t, withBloom, numbered(1000)), build(t, withBloom, numbered(300))
	footer := len(after) - 48
	after = append(append(after[:footer:footer], make([]byte, len(before)-len(after))...), after[footer:]...)
	for _, key := range []string{"", "1"} {
		var src changingSource
		src.current.Store(bytes.NewReader(before))
		c := table.NewCache(1 << 20)
		o := &table.ReaderOptions{Cache: c, CacheIndexAndFilters: true, CacheKey: key}
		r, err := table.NewReader(&src, int64(len(before)), o)
		if err != nil {
			t.Fatal(err)
		}
		it := r.NewIter(nil)
		it.First()
		evictAll(t, c)
		src.current.Store(bytes.NewReader(after))
		if _, err := r.Get([]byte("key000002")); !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("CacheKey %q: Get from a file that has changed: %v, want %v", key, err, table.ErrCorrupt)
		}
		src.current.Store(bytes.NewReader(before))
		again := open(t, before, o)
		for it.Next() {
		}
		for _, r := range []*table.Reader{r, again} {
			if _, err := r.Get([]byte("key000002")); err != nil {
				t.Errorf("CacheKey %q: Get when the file is as before: %v", key, err)
			}
		}
		if err := errors.Join(it.Close(), r.Close(), again.Close()); err != nil {
			t.Errorf("CacheKey %q: %v", key, err)
		}
	}
}

// evictAll has c evict all that it has.
func evictAll(t *testing.T, c *table.Cache) {
	t.Helper()
	filler := open(t, build(t, nil, numbered(40_000)), &table.ReaderOptions{Cache: c})
	for range 2 { // the first time spares what was in use
		it := filler.NewIter(nil)
		for it.Next() {
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if m := c.Metrics(); m.Tables != 0 {
		t.Fatalf("%d tables are left", m.Tables)
	}
	if err := filler.Close(); err != nil {
		t.Fatal(err)
	}
}
