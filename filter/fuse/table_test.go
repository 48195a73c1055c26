package fuse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

func writePairs(t testing.TB, to io.Writer, o *table.WriterOptions, n int, pair func(i int) (key, value []byte)) {
	t.Helper()
	w, err := table.NewWriter(to, o)
	noError(t, err)
	for i := range n {
		noError(t, w.Append(pair(i)))
	}
	noError(t, w.Close())
}

// writeTable returns a table of n keys with that filter.
func writeTable(t *testing.T, p fuse.Policy, n int) []byte {
	t.Helper()
	return narrowTable(t, &table.WriterOptions{TableFilterPolicy: p}, n)
}

func metaOf(t *testing.T, contents []byte) []layout.MetaindexEntry {
	t.Helper()
	l, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), nil)
	noError(t, err)
	meta, err := l.Meta()
	noError(t, err)
	return meta
}

// readTable opens a table. Its Reader knows the policies.
func readTable(t testing.TB, contents []byte, policies ...filter.TablePolicy) (*table.Reader, *table.Metrics) {
	t.Helper()
	m := new(table.Metrics)
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), &table.ReaderOptions{TableFilterPolicies: policies, Metrics: m})
	noError(t, err)
	t.Cleanup(func() { r.Close() })
	return r, m
}

// A Reader reads a data block for an absent key only for a false positive, or if the Reader has no Policy.
func TestFilterSavesReadsOfAbsentKeys(t *testing.T) {
	t.Parallel()
	contents := writeTable(t, fuse.Policy{}, 10_000)
	const lookups = 1000
	for name, tt := range map[string]struct {
		policies []filter.TablePolicy
		most     uint64 // data blocks read
		err      string // of FilterErr
	}{
		"with a Policy": {[]filter.TablePolicy{fuse.Policy{}}, 5, ""},
		"without":       {nil, lookups, `filter "binaryfuse": no policy of that name in the options`},
	} {
		r, m := readTable(t, contents, tt.policies...)
		if err := r.FilterErr(); tt.err == "" && err != nil || !strings.Contains(fmt.Sprint(err), tt.err) {
			t.Errorf("%s: FilterErr returns %v, want %q", name, err, tt.err)
		}
		for i := range lookups {
			if _, err := r.Get(fmt.Appendf(nil, "key%06d~", i)); !errors.Is(err, table.ErrNotFound) {
				t.Fatalf("Get of an absent key returns %v", err)
			}
		}
		if n := m.BlocksRead.Load(); n > tt.most || n < tt.most/2-2 {
			t.Errorf("%s: %d data blocks were read, want about %d", name, n, tt.most)
		}
		noError(t, r.Verify())
	}
}

// A Policy of any number of bits reads all filters, and a table lists them under one name.
func TestPoliciesReadEachOthersFilters(t *testing.T) {
	t.Parallel()
	for _, bits := range allBits {
		want := "fullfilter.binaryfuse"
		if bits == 14 {
			want = "fullfilter.sievetable.binaryfuse"
		}
		contents := writeTable(t, newPolicy(t, bits), 1000)
		if meta := metaOf(t, contents); len(meta) != 1 || meta[0].Name != want {
			t.Errorf("%d bits: the metaindex lists %v, want %s only", bits, meta, want)
		}
		for _, reading := range allBits {
			r, m := readTable(t, contents, newPolicy(t, reading))
			for i := range 20 {
				if _, err := r.Get(fmt.Appendf(nil, "key%06d~", i)); !errors.Is(err, table.ErrNotFound) {
					t.Fatalf("Get of an absent key returns %v", err)
				}
			}
			if n := m.FilterChecks.Load(); n != 20 || r.FilterErr() != nil || r.Verify() != nil {
				t.Errorf("%d bits, read with %d: %d checks, %v, %v", bits, reading, n, r.FilterErr(), r.Verify())
			}
		}
	}
}

// Without keys there is no filter.
func TestTableOfNoKeys(t *testing.T) {
	t.Parallel()
	if contents := build(t, fuse.Policy{}, 0); len(contents) > 0 {
		t.Errorf("Generate returns %d bytes", len(contents))
	}
	r, _ := readTable(t, writeTable(t, fuse.Policy{}, 0), fuse.Policy{})
	if _, err := r.Get([]byte("key")); !errors.Is(err, table.ErrNotFound) || r.FilterErr() != nil {
		t.Errorf("Get returns %v, FilterErr %v", err, r.FilterErr())
	}
}
