package paged_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// writeTable returns a table of the keys with a paged filter of 10 bits per key.
func writeTable(t *testing.T, keys [][]byte) []byte {
	t.Helper()
	var pairs []workload.Pair
	for _, key := range keys {
		pairs = append(pairs, workload.Pair{Key: key})
	}
	return tabletest.Build(t, &table.WriterOptions{TableFilterPolicy: newPolicy(t, 10)}, pairs)
}

// filterIn returns where the filter of a table is.
func filterIn(t *testing.T, contents []byte) layout.Handle {
	t.Helper()
	l, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), nil)
	noError(t, err)
	meta, err := l.Meta()
	i := slices.IndexFunc(meta, func(m layout.MetaindexEntry) bool { return m.Name == "fullfilter.sievetable.paged" })
	if err != nil || i < 0 {
		t.Fatalf("Meta returns %v, %v", meta, err)
	}
	return meta[i].Handle
}

// A table contains the filter, which a Reader uses with a policy of any number of bits. The trailer is near the end
// of the table.
func TestTableHasTheFilter(t *testing.T) {
	t.Parallel()
	keys := numbered(1, 20_000)
	contents := writeTable(t, keys)
	h := filterIn(t, contents)
	if diff := cmp.Diff(build(t, 10, keys), contents[h.Offset:][:h.Length]); diff != "" {
		t.Error("the table does not have the filter as it was built")
	}
	var m table.Metrics
	r := tabletest.Open(t, contents,
		&table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{paged.Policy{}}, Metrics: &m})
	defer r.Close()
	byPage := newReader(t, contents[h.Offset:][:h.Length])
	for _, key := range append(numbered(2, 1000), keys[:1000]...) {
		found, err := byPage.Contains(key)
		if may, mayErr := r.MayContain(key); err != nil || mayErr != nil || found != may {
			t.Fatalf("MayContain(%x) = %v, %v, and by the page %v, %v", key, may, mayErr, found, err)
		}
	}
	if err := r.Verify(); err != nil || m.FilterChecks.Load() < 2000 {
		t.Errorf("Verify returns %v, and the filter was checked %d times", err, m.FilterChecks.Load())
	}
}

// A filter of other keys, with valid checksums, rules out keys of the table. A corrupt page or trailer rules out
// none, even under a right checksum of the block. Verify finds them all.
func TestTableWithADamagedFilter(t *testing.T) {
	t.Parallel()
	keys := numbered(1, 1000)
	for name, change := range map[string]func(filter []byte){
		"of other keys":   func(b []byte) { copy(b, build(t, 10, numbered(2, 1000))) },
		"corrupt page":    func(b []byte) { clear(b[1000:2000]) },
		"corrupt trailer": func(b []byte) { b[len(b)-6]++ },
	} {
		t.Run(name, func(t *testing.T) {
			contents := writeTable(t, keys)
			h := filterIn(t, contents)
			change(contents[h.Offset:][:h.Length])
			rawtable.Repair(contents)
			o := table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{paged.Policy{}}}
			r := tabletest.Open(t, contents, &o)
			defer r.Close()
			if err := r.Verify(); !errors.Is(err, table.ErrCorrupt) {
				t.Errorf("Verify returns %v", err)
			}
			for _, key := range keys {
				if _, err := r.Get(key); err != nil && name != "of other keys" {
					t.Fatalf("Get(%x) returns %v", key, err)
				}
			}
		})
	}
}
