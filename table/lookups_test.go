package table_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// Lookups with DontFillCache add nothing to the Cache, find what is in it, and find what lookups without
// options find.
func TestLookupsDontFillCache(t *testing.T) {
	t.Parallel()
	pairs := numbered(500)
	contents := build(t, withBloom, pairs)
	for name, get := range map[string]func(l table.Lookups, key []byte) ([]byte, error){
		"Get":       table.Lookups.Get,
		"AppendGet": func(l table.Lookups, key []byte) ([]byte, error) { return l.AppendGet(nil, key) },
		"Find":      func(l table.Lookups, key []byte) ([]byte, error) { _, v, err := l.Find(key); return v, err },
		"AppendFind": func(l table.Lookups, key []byte) ([]byte, error) {
			_, v, err := l.AppendFind(nil, nil, key)
			return v, err
		},
		"FindGE": func(l table.Lookups, key []byte) ([]byte, error) { _, v, err := l.FindGE(key); return v, err },
	} {
		var m table.Metrics
		cache := table.NewCache(1 << 20)
		r := open(t, contents, &table.ReaderOptions{Cache: cache, Metrics: &m})
		for _, o := range []table.LookupOptions{{DontFillCache: true}, {}, {DontFillCache: true}} {
			size, hits := cache.Metrics().Size, m.CacheHits.Load()
			for _, p := range pairs {
				if v, err := get(r.With(t.Context(), o), p.Key); err != nil || !bytes.Equal(v, p.Value) {
					t.Fatalf("%s: %q, %v; want %q", name, v, err, p.Value)
				}
			}
			grew, hit := cache.Metrics().Size > size, m.CacheHits.Load() > hits
			if full := size > 0; grew == o.DontFillCache || hit != (full || !o.DontFillCache) {
				t.Errorf("%s, %+v: the Cache went from %d bytes to %d, hit: %v", name, o, size, cache.Metrics().Size, hit)
			}
		}
	}
}

// GetMany too.
func TestGetManyDontFillCache(t *testing.T) {
	t.Parallel()
	pairs := numbered(500)
	cache := table.NewCache(1 << 20)
	r := open(t, build(t, withBloom, pairs), &table.ReaderOptions{Cache: cache})
	keys := keysOf(pairs, 0, 10, 20, 300, 499)
	for _, noFill := range []bool{true, false, true} {
		size := cache.Metrics().Size
		checkGetMany(t, "with and without", open(t, build(t, withBloom, pairs), nil), keys, &table.GetManyOptions{DontFillCache: noFill})
		if _, err := getMany(r, keys, &table.GetManyOptions{DontFillCache: noFill}); err != nil {
			t.Error(err)
		}
		if grew := cache.Metrics().Size > size; grew == noFill {
			t.Errorf("DontFillCache %v: the Cache went from %d bytes to %d", noFill, size, cache.Metrics().Size)
		}
	}
}

// A damaged block and a closed Reader are errors of every lookup, which leave slices as they are.
func TestLookupErrors(t *testing.T) {
	t.Parallel()
	contents := build(t, oneKeyBlocks, pairsOf("a", "b"))
	contents[0] ^= 1
	r := open(t, contents, nil)
	for _, want := range []error{table.ErrCorrupt, table.ErrClosed} {
		l := r.With(t.Context(), table.LookupOptions{DontFillCache: true})
		k, v, err := l.AppendFind([]byte("k"), []byte("v"), []byte("a"))
		if string(k) != "k" || string(v) != "v" || !errors.Is(err, want) {
			t.Errorf("AppendFind = %q, %q, %v; want k, v, %v", k, v, err, want)
		}
		if dst, err := l.AppendGet([]byte("v"), []byte("a")); string(dst) != "v" || !errors.Is(err, want) {
			t.Errorf("AppendGet = %q, %v; want v, %v", dst, err, want)
		}
		if k, v, err := l.FindGE([]byte("a")); k != nil || v != nil || !errors.Is(err, want) {
			t.Errorf("FindGE = %q, %q, %v; want %v", k, v, err, want)
		}
		r.Close()
	}
}
