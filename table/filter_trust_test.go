package table_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// With a wrong FilterKey a filter has the first key by chance in some of many tables. The keys behind it
// tell.
func TestWrongFilterKeyWithTheFirstKeyByChance(t *testing.T) {
	t.Parallel()
	for _, entries := range []int{2, 3, 7, 300} {
		pairs := numbered(entries)
		name := filepath.Join(t.TempDir(), "a.ldb")
		contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(20), TableFilterPolicy: filter.NewTableBloom(20)}, pairs)
		if err := os.WriteFile(name, contents, 0o666); err != nil {
			t.Fatal(err)
		}
		wrong := func(key []byte) []byte {
			if bytes.Equal(key, pairs[0].Key) {
				return key // as if the filters had the wrong one too
			}
			return key[:len(key)-1]
		}
		r, err := table.Open(name, &table.ReaderOptions{FilterKey: wrong, Mapped: entries%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		checkLookups(t, r, pairs)
		if err := r.FilterErr(); err == nil || !strings.Contains(err.Error(), "denies the table's key \"key000002\"") {
			t.Errorf("%d entries: FilterErr = %v", entries, err)
		}
	}
}

// Filters are asked for the first eight keys, and not for more: a FilterKey that is wrong for the eighth
// one is noticed.
func TestFiltersAreAskedForEightKeys(t *testing.T) {
	t.Parallel()
	pairs := numbered(20)
	name := filepath.Join(t.TempDir(), "a.ldb")
	if err := os.WriteFile(name, build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(20)}, pairs), 0o666); err != nil {
		t.Fatal(err)
	}
	for i, p := range pairs {
		r, err := table.Open(name, &table.ReaderOptions{FilterKey: func(key []byte) []byte {
			if bytes.Equal(key, p.Key) {
				return []byte("wrong")
			}
			return key
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Get(p.Key)
		if noticed := r.FilterErr() != nil; noticed != (i < 8) || noticed != (err == nil) {
			t.Errorf("FilterKey is wrong for key %d: FilterErr = %v, Get = %v; want it noticed for the first 8, and the key found", i+1, r.FilterErr(), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// If the first block is damaged, and its checksum is right, the filter is believed all the same: lookups of
// the keys that it denies read neither that block again nor another one.
func TestFilterIsBelievedIfTheFirstBlockIsMalformed(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]string{"no entries": rawtable.Entries(), "an entry that shares": rawtable.Entry(1, "a", "1") + rawtable.Restarts(0)} {
		t.Run(name, func(t *testing.T) {
			p := sound()
			p.data1 = raw(block)
			file := filepath.Join(t.TempDir(), "a.ldb")
			if err := os.WriteFile(file, p.build(), 0o666); err != nil {
				t.Fatal(err)
			}
			var m table.Metrics
			r, err := table.Open(file, &table.ReaderOptions{Metrics: &m})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for range 3 {
				if _, err := r.Get([]byte("cc")); err != table.ErrNotFound {
					t.Errorf("Get of a key that the filter denies = %v", err)
				}
			}
			if s := m.Snapshot(); s.FilterNegatives != 3 || s.BlocksRead > 0 || r.FilterErr() != nil {
				t.Errorf("%v; FilterErr = %v", s, r.FilterErr())
			}
		})
	}
}

// After Close, MayContain denies keys if a filter was checked before, and else none: the file is closed.
func TestMayContainAfterClose(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.ldb")
	if err := os.WriteFile(name, build(t, withBloom, numbered(50)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, checked := range []bool{false, true} {
		r, err := table.Open(name, nil)
		if err == nil && checked {
			err = r.FilterErr()
		}
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		if got := r.MayContain([]byte("key000001")); got == checked {
			t.Errorf("checked before: %t; MayContain of an absent key = %t", checked, got)
		}
		if !r.MayContain([]byte("key000002")) {
			t.Error("MayContain denies a key of the table")
		}
	}
}
