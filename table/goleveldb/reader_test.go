package goleveldb_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/table/goleveldb"
)

// probes returns keys of a table, keys between them, and keys before and after them all.
func (c *tableCase) probes(entries []entry) (keys [][]byte) {
	for _, e := range entries {
		user, trailer := e.key, 0
		if c.internal {
			user, trailer = e.key[:len(e.key)-8], 8
		}
		keys = append(keys, e.key)
		for _, k := range [][]byte{append(bytes.Clone(user), '5'), user[:len(user)/2], append(bytes.Clone(user), 0xff)} {
			keys = append(keys, append(bytes.Clone(k), make([]byte, trailer)...))
		}
		if c.internal {
			keys = append(keys, internalKey(user, 1<<56-1, 1), internalKey(user, 0, 0))
		}
	}
	return append(keys, bytes.Repeat([]byte{0xff}, 30), make([]byte, 8))
}

// Both packages find the same entries, in tables of either.
func TestReaderFindsAsGoleveldb(t *testing.T) {
	t.Parallel()
	for _, c := range tableCases() {
		for _, n := range []int{0, 1, 80} {
			if n == 0 && c.internal {
				continue // goleveldb panics
			}
			entries := c.entries(n)
			var ours bytes.Buffer
			write(t, goleveldb.NewWriter(&ours, &c.o, nil, 0), entries)
			for name, contents := range map[string][]byte{"our": ours.Bytes(), "goleveldb's": theirTable(t, &c.o, entries)} {
				where := fmt.Sprintf("%s: %s table of %d entries", c.name, name, n)
				theirs, got := openBoth(t, contents, &c.o)
				for _, key := range c.probes(entries) {
					c.compareLookups(t, where, theirs, got, key)
				}
			}
		}
	}
}

// compareLookups compares the results of two Readers for a key.
func (c *tableCase) compareLookups(t *testing.T, where string, theirs, ours reader, key []byte) {
	t.Helper()
	all := func(r reader) (results []string) {
		k, v, err := r.Find(key, false, nil)
		results = append(results, fmt.Sprintf("Find: %q, %q, %s", k, v, errorKind(err)))
		k, err = r.FindKey(key, false, &opt.ReadOptions{DontFillCache: true})
		results = append(results, fmt.Sprintf("FindKey: %q, %s", k, errorKind(err)))
		v, err = r.Get(key, nil)
		results = append(results, fmt.Sprintf("Get: %q, %s", v, errorKind(err)))
		offset, err := r.OffsetOf(key)
		return append(results, fmt.Sprintf("OffsetOf: %d, %s", offset, errorKind(err)), c.filtered(r, key))
	}
	if diff := cmp.Diff(all(theirs), all(ours)); diff != "" {
		t.Errorf("%s: %q (-want +got):\n%s", where, key, diff)
	}
}

// filtered returns the result of Find with filtered set, as text. If the table has a filter, an entry with another
// key counts as not found, since programs cannot rely on it.
func (c *tableCase) filtered(r reader, key []byte) string {
	k, v, err := r.Find(key, true, nil)
	if c.o.Filter == nil {
		return fmt.Sprintf("filtered: %q, %q, %s", k, v, errorKind(err))
	}
	same := func(a, b []byte) bool { return bytes.Equal(a, b) }
	if c.internal {
		same = func(a, b []byte) bool { return bytes.Equal(a[:len(a)-8], b[:len(b)-8]) }
	}
	if err == nil && !same(k, key) {
		k, v, err = nil, nil, goleveldb.ErrNotFound
	}
	return fmt.Sprintf("filtered: %q, %q, %s", k, v, errorKind(err))
}

// The caller owns the results of lookups, even after Release. Lookups after Release fail, even if the block is
// cached.
func TestResultsAreTheCallers(t *testing.T) {
	t.Parallel()
	c := tableCase{}
	entries := c.entries(50)
	r, _ := cachedFile(t, theirTable(t, &c.o, entries), newCache(1<<20), 1, &c.o)
	for range 2 {
		for _, e := range entries {
			k, v, err := r.Find(e.key, false, nil)
			got, getErr := r.Get(e.key, nil)
			if err != nil || getErr != nil || !bytes.Equal(k, e.key) || !bytes.Equal(v, e.value) || !bytes.Equal(got, e.value) {
				t.Fatalf("%q: %q, %q, %v, Get %q, %v", e.key, k, v, err, got, getErr)
			}
			clear(k)
			clear(v)
			clear(got)
		}
	}
	_, value, err := r.Find(entries[9].key, false, nil)
	r.Release()
	if _, again := r.Get(entries[9].key, nil); err != nil || !bytes.Equal(value, entries[9].value) || again != goleveldb.ErrReaderReleased {
		t.Errorf("%q: %q, %v; after Release: %v", entries[9].key, value, err, again)
	}
}

// A filter that is not in the options is not checked, as in goleveldb: its contents are unknown.
func TestUnknownFilterIsNotAsked(t *testing.T) {
	t.Parallel()
	engine := tableCases()[7]
	entries := engine.entries(100)
	contents := theirTable(t, &engine.o, entries)
	opaque := ordering(engine.o.Comparer.Compare) // its type is not the engine's
	for _, tt := range []struct {
		name string
		o    opt.Options
	}{
		{"no filter", opt.Options{Comparer: opaque}},
		{"another filter", opt.Options{Comparer: opaque, Filter: lengthFilter{}}},
	} {
		_, r := openBoth(t, contents, &tt.o)
		for _, e := range entries {
			if k, _, err := r.Find(e.key, true, nil); err != nil || !bytes.Equal(k, e.key) {
				t.Fatalf("%s: Find(%q) = %q, %v", tt.name, e.key, k, err)
			}
		}
	}
	o := engine.o
	o.Filter, o.AltFilters = nil, append(o.AltFilters, lengthFilter{}, engine.o.Filter)
	_, r := openBoth(t, contents, &o)
	if _, _, err := r.Find(internalKey([]byte("absent"), 1, 1), true, nil); err != goleveldb.ErrNotFound {
		t.Errorf("alternative filters: %v", err)
	}
}

// After Release of the Reader, an iterator fails when it reaches another block. goleveldb's panics.
func TestIteratorOfAReleasedReader(t *testing.T) {
	t.Parallel()
	c := tableCases()[3]
	_, r := openBoth(t, theirTable(t, &c.o, c.entries(300)), &c.o)
	it := r.NewIterator(nil, nil)
	defer it.Release()
	if !it.Next() {
		t.Fatal(it.Error())
	}
	r.Release()
	for it.Next() {
	}
	if err := it.Error(); err != goleveldb.ErrReaderReleased {
		t.Errorf("Error = %v, want %v", err, goleveldb.ErrReaderReleased)
	}
}
