package table_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// emptyPairs are an empty key, and keys with empty values among others.
func emptyPairs() []workload.Pair {
	return []workload.Pair{
		{Key: []byte{}, Value: []byte{}}, {Key: []byte("a"), Value: []byte{}}, {Key: []byte("b"), Value: []byte("1")}, {Key: []byte("c"), Value: []byte{}},
	}
}

// What is there and empty is not nil, however it is looked up.
func TestEmptyIsNotNil(t *testing.T) {
	t.Parallel()
	for _, pairs := range [][]workload.Pair{emptyPairs(), emptyPairs()[:1], emptyPairs()[1:2]} {
		for _, o := range []table.WriterOptions{
			{}, {Compression: table.NoCompression}, {BlockSize: 1}, {BlockSize: 1, RestartInterval: 1},
			{FilterPolicy: filter.NewBloom(10)}, {TableFilterPolicy: filter.NewTableBloom(10), FilterPolicy: filter.NewBloom(10)},
		} {
			for _, cache := range []*table.Cache{nil, table.NewCache(0), table.NewCache(1 << 20)} {
				for _, internal := range []bool{false, true} {
					name := fmt.Sprintf("%d pairs, %+v, cache %t, internal keys %t", len(pairs), o, cache != nil, internal)
					checkNotNil(t, name, pairs, o, cache, internal)
				}
			}
		}
	}
}

func checkNotNil(t *testing.T, name string, pairs []workload.Pair, o table.WriterOptions, cache *table.Cache, internal bool) {
	t.Helper()
	ro := &table.ReaderOptions{Cache: cache}
	key := func(user []byte) []byte { return user }
	if internal {
		o.Comparer, ro.Comparer = internalOrder, internalOrder
		key = func(user []byte) []byte {
			return table.InternalKey{UserKey: user, Sequence: 1, Kind: table.KindSet}.Append(nil)
		}
	}
	var stored []workload.Pair
	for _, p := range pairs {
		stored = append(stored, workload.Pair{Key: key(p.Key), Value: p.Value})
	}
	r := open(t, build(t, &o, stored), ro)
	for range 3 { // the Cache takes a block that is read again
		checkLookupsNotNil(t, name, r, stored)
		checkItersNotNil(t, name, r, internal, len(stored))
	}
}

// checkLookupsNotNil looks each pair up in all ways, by keys that are empty or nil.
func checkLookupsNotNil(t *testing.T, name string, r *table.Reader, pairs []workload.Pair) {
	t.Helper()
	for _, p := range pairs {
		keys := [][]byte{p.Key}
		if len(p.Key) == 0 {
			keys = append(keys, nil)
		}
		for _, k := range keys {
			for way, get := range map[string]func() (key, value []byte, err error){
				"Get": func() ([]byte, []byte, error) { v, err := r.Get(k); return p.Key, v, err },
				"With": func() ([]byte, []byte, error) {
					v, err := r.With(context.Background(), table.LookupOptions{}).Get(k)
					return p.Key, v, err
				},
				"AppendGet":  func() ([]byte, []byte, error) { v, err := r.AppendGet(nil, k); return p.Key, v, err },
				"Find":       func() ([]byte, []byte, error) { return r.Find(k) },
				"AppendFind": func() ([]byte, []byte, error) { return r.AppendFind(nil, nil, k) },
				"FindGE":     func() ([]byte, []byte, error) { return r.FindGE(k) },
				"GetMany": func() (_, v []byte, _ error) {
					err := r.GetMany(context.Background(), [][]byte{k}, nil, func(_ int, value []byte) error { v = value; return nil })
					return p.Key, v, err
				},
			} {
				key, value, err := get()
				if err != nil || key == nil || value == nil || !bytes.Equal(key, p.Key) || !bytes.Equal(value, p.Value) {
					t.Errorf("%s: %s(%q) = %#v, %#v, %v", name, way, k, key, value, err)
				}
			}
		}
	}
}

// An anyIter is an iterator of any type.
type anyIter interface {
	First() bool
	Last() bool
	Next() bool
	Prev() bool
	SeekGE(key []byte) bool
	SeekLT(key []byte) bool
	Key() []byte
	Value() []byte
}

// checkItersNotNil moves iterators of all types to each of n entries, in all ways.
func checkItersNotNil(t *testing.T, name string, r *table.Reader, internal bool, n int) {
	t.Helper()
	iters := map[string]anyIter{"Iter": r.NewIter(nil), "merge.Iter": merge.New(nil, r.NewIter(nil))}
	if internal {
		iters["merge.Iter"] = merge.New(internalOrder, r.NewIter(nil))
		iters["SnapshotIter"] = merge.NewSnapshotIter(table.BytewiseComparer, merge.New(internalOrder, r.NewIter(nil)), table.MaxSequence)
	}
	for kind, it := range iters {
		for move, next := range map[string]func() bool{"First": it.First, "Last": it.Last} {
			step, count := it.Next, 0
			if move == "Last" {
				step = it.Prev
			}
			for ok := next(); ok; ok = step() {
				count++
				checkEntryNotNil(t, name, kind+" from "+move, it)
				key := bytes.Clone(it.Key())
				if kind == "SnapshotIter" || !internal {
					if !it.SeekGE(key) || !it.SeekLT(append(bytes.Clone(key), 0)) {
						t.Fatalf("%s: %s does not seek %q", name, kind, key)
					}
					checkEntryNotNil(t, name, kind+" after SeekLT", it)
					it.SeekGE(key)
					checkEntryNotNil(t, name, kind+" after SeekGE", it)
				}
			}
			if count != n {
				t.Fatalf("%s: %s from %s has %d entries, want %d", name, kind, move, count, n)
			}
		}
	}
	for e, err := range r.All(nil) {
		if e.Key == nil || e.Value == nil || err != nil {
			t.Errorf("%s: All has %#v, %v", name, e, err)
		}
	}
}

func checkEntryNotNil(t *testing.T, name, way string, it anyIter) {
	t.Helper()
	if it.Key() == nil || it.Value() == nil {
		t.Errorf("%s: %s is at %#v, %#v", name, way, it.Key(), it.Value())
	}
}
