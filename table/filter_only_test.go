package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// MayContain returns true for each key of the table, and reads nothing. For absent keys it returns true for false
// positives, and without a filter.
func TestMayContain(t *testing.T) {
	t.Parallel()
	pairs := numbered(2000)
	for _, tt := range []struct {
		name       string
		o          table.WriterOptions
		ignore     bool
		atMost     int // absent keys of 2000 that may pass
		tableFirst bool
	}{
		{"filter by blocks", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, false, 60, false},
		{"table filter", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, false, 60, true},
		{"both", table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}, false, 5, true},
		{"no filter", table.WriterOptions{}, false, 2000, false},
		{"ignored", table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}, true, 2000, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			contents := build(t, &tt.o, pairs)
			src := &countingReader{ReaderAt: bytes.NewReader(contents)}
			var m table.Metrics
			r := newReader(t, src, len(contents), &table.ReaderOptions{IgnoreFilter: tt.ignore, Metrics: &m})
			opened, passed := src.n.Load(), 0
			for _, p := range pairs {
				if !mayContain(r, p.Key) {
					t.Fatalf("MayContain(%q) = false", p.Key)
				}
				if mayContain(r, append(p.Key, '~')) {
					passed++
				}
			}
			if passed > tt.atMost || passed < tt.atMost-60 {
				t.Errorf("%d of %d absent keys may be there, want at most %d", passed, len(pairs), tt.atMost)
			}
			if n := src.n.Load() - opened; n > 0 || m.BlocksRead.Load() > 0 {
				t.Errorf("%d reads", n)
			}
			if n := m.Lookups.Load(); n != uint64(2*len(pairs)) {
				t.Errorf("%d lookups counted, want %d", n, 2*len(pairs))
			}
			if (m.TableFilterNegatives.Load() > 0) != tt.tableFirst {
				t.Errorf("%d absent keys ruled out by the table filter", m.TableFilterNegatives.Load())
			}
			if mayContain(r, []byte("z")) || r.FilterOnly() {
				t.Errorf("MayContain of a key > all = true, or FilterOnly = %v", r.FilterOnly())
			}
		})
	}
}

// In a filter-only table, a missing or unusable filter is an error.
func TestFilterOnlyWithoutItsFilter(t *testing.T) {
	t.Parallel()
	other := build(t, &table.WriterOptions{TableFilterPolicy: renamed{filter.NewTableBloom(10)}, FilterOnly: true}, []workload.Pair{{Key: []byte("a")}})
	_, err := table.NewReader(bytes.NewReader(other), int64(len(other)), nil)
	checkError(t, "NewReader without the policy", err, nil, `filter "other": no policy of that name in the options`)
	lazy := newReader(t, table.Bytes(other), len(other), nil) // which reads only the footer
	if err := lazy.Verify(); !errors.Is(err, table.ErrUnknownFilter) || !lazy.FilterOnly() || !mayContain(lazy, []byte("b")) {
		t.Errorf("in memory, without the policy: Verify = %v, FilterOnly = %v, MayContain = %v", err, lazy.FilterOnly(), mayContain(lazy, []byte("b")))
	}
	var f rawtable.File
	properties := f.Block(rawtable.Entries("rocksdb.num.filter_entries", "\x02", "sievetable.filter.only", "\x01"))
	missing := f.Footer(f.Block(rawtable.Entries("rocksdb.properties", properties)), f.Block(rawtable.Entries()))
	_, err = table.NewReader(bytes.NewReader(missing), int64(len(missing)), nil)
	checkError(t, "NewReader without the filter", err, table.ErrCorrupt, "the table has only a filter of 2 keys")
	none := &table.WriterOptions{TableFilterPolicy: noGenerator{}, FilterOnly: true}
	checkError(t, "NewWriter", errorOf(table.NewWriter(io.Discard, none)), nil, "returns no TableGenerator")
}

// renamed is a TableBloom with another name.
type renamed struct{ filter.TableBloom }

func (renamed) Name() string { return "other" }

// noGenerator is a policy without a generator.
type noGenerator struct{ filter.TableBloom }

func (noGenerator) NewTableGenerator() filter.TableGenerator { return nil }

// filterOnly returns a filter-only table of the keys.
func filterOnly(t *testing.T, pairs []workload.Pair) []byte {
	t.Helper()
	keys := make([]workload.Pair, len(pairs))
	for i, p := range pairs {
		keys[i].Key = p.Key
	}
	return build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterOnly: true}, keys)
}

// A filter-only table supports MayContain. Other methods return an error or no entries.
func TestFilterOnly(t *testing.T) {
	t.Parallel()
	pairs := numbered(2000)
	contents := filterOnly(t, pairs)
	if want := 2000*10/8 + 800; len(contents) > want {
		t.Errorf("%d bytes, want at most %d", len(contents), want)
	}
	r := open(t, contents, nil)
	noError(t, errors.Join(r.FilterErr(), r.Verify()))
	wrong := 0
	for _, p := range pairs {
		if !mayContain(r, p.Key) {
			t.Fatalf("MayContain(%q) = false", p.Key)
		}
		checkError(t, "Get", errorOf(r.Get(p.Key)), table.ErrFilterOnly, "")
		absent := append(p.Key, '~')
		want := table.ErrNotFound
		if mayContain(r, absent) {
			wrong, want = wrong+1, table.ErrFilterOnly
		}
		if _, _, err := r.Find(absent); !errors.Is(err, want) {
			t.Fatalf("Find(%q) = %v, want %v", absent, err, want)
		}
	}
	if wrong > 60 {
		t.Errorf("%d of 2000 absent keys may be there", wrong)
	}
	checkNoEntries(t, r)
	if empty := open(t, filterOnly(t, nil), nil); mayContain(empty, []byte("key")) || !empty.FilterOnly() || !r.FilterOnly() {
		t.Errorf("FilterOnly = %v, and %v of a table of no keys, or that may contain a key", r.FilterOnly(), empty.FilterOnly())
	}
	p, err := r.Properties()
	noError(t, err)
	want := &layout.Properties{FilterOnly: true, FilterEntries: 2000, FilterPolicy: filter.TableBloom{}.Name(), FilterSize: p.FilterSize, IndexSize: p.IndexSize,
		Comparer: table.BytewiseComparer.Name(), Compression: "Snappy", BlockSize: 4096, RestartInterval: 16, Other: p.Other}
	checkDiff(t, "Properties", want, p)
}

// checkNoEntries checks the methods that need entries, which the table does not have.
func checkNoEntries(t *testing.T, r *table.Reader) {
	t.Helper()
	for name, move := range map[string]func(it *table.Iter) bool{
		"First": (*table.Iter).First, "Last": (*table.Iter).Last, "Next": (*table.Iter).Next,
		"SeekGE": func(it *table.Iter) bool { return it.SeekGE([]byte("key")) },
		"SeekLT": func(it *table.Iter) bool { return it.SeekLT([]byte("key")) },
	} {
		for _, o := range []*table.IterOptions{nil, {Lower: []byte("a"), Upper: []byte("z")}, {FilterKey: []byte("key")}} {
			it := r.NewIter(o)
			if move(it) {
				t.Errorf("%s is at %q", name, it.Key())
			}
			checkError(t, name, it.Error(), table.ErrFilterOnly, "")
		}
	}
}

// SetTableFilter with a filter that was built elsewhere writes the same table as Append of its keys.
func TestSetTableFilter(t *testing.T) {
	t.Parallel()
	policy := filter.NewTableBloom(10)
	generator := policy.NewTableGenerator()
	pairs := numbered(1000)
	for _, p := range pairs {
		generator.Add(p.Key)
	}
	contents, err := generator.Generate()
	noError(t, err)
	only := table.WriterOptions{TableFilterPolicy: policy, FilterOnly: true}
	both := table.WriterOptions{TableFilterPolicy: policy}
	set := func(w *table.Writer) error { return w.SetTableFilter(contents, 1000) }
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		calls []func(w *table.Writer) error
		want  string // in the error
	}{
		{"once", only, []func(*table.Writer) error{set}, ""},
		{"twice", only, []func(*table.Writer) error{set, set}, ""},
		{"a table with entries", both, []func(*table.Writer) error{set}, "needs FilterOnly"},
		{"after Append", only, []func(*table.Writer) error{appendKey, set}, "no Append"},
		{"before Append", only, []func(*table.Writer) error{set, appendKey}, "Append after SetTableFilter"},
		{"no keys", only, []func(*table.Writer) error{func(w *table.Writer) error { return w.SetTableFilter(contents, 0) }}, "at least 1 key"},
		{"no filter", only, []func(*table.Writer) error{func(w *table.Writer) error { return w.SetTableFilter(nil, 1) }}, "filter policy"},
		{"after Close", only, []func(*table.Writer) error{(*table.Writer).Close, set}, "closed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			w, err := table.NewWriter(&out, &tt.o)
			for i := 0; i < len(tt.calls) && err == nil; i++ {
				err = tt.calls[i](w)
			}
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || w.Close() == nil {
					t.Errorf("%v, want %q in the error", err, tt.want)
				}
				return
			}
			if err != nil || w.Close() != nil || !bytes.Equal(out.Bytes(), filterOnly(t, pairs)) {
				t.Errorf("another table, error %v", err)
			}
		})
	}
}

// If the policy panics, no table without the filter is written.
func TestSetTableFilterPanics(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: panicking{filter.NewTableBloom(10)}, FilterOnly: true}
	w, err := table.NewWriter(io.Discard, &o)
	noError(t, err)
	if p := panicOf(func() { w.SetTableFilter([]byte("filter"), 1) }); p != errBroken {
		t.Errorf("SetTableFilter panics with %v", p)
	}
	checkError(t, "Close", w.Close(), nil, "an earlier call panicked")
}

// panicking is a policy whose Open panics.
type panicking struct{ filter.TableBloom }

func (panicking) Open([]byte) (filter.TableFilter, error) { panic(errBroken) }

func appendKey(w *table.Writer) error { return w.Append([]byte("a"), nil) }

// Values, and keys without a filter key, are errors, so that nothing is lost silently.
func TestFilterOnlyRefuses(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*table.WriterOptions{
		"no filter":     {FilterOnly: true},
		"block filters": {FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10), FilterPolicy: filter.NewBloom(10)},
	} {
		checkError(t, name, errorOf(table.NewWriter(io.Discard, o)), nil, "FilterOnly")
	}
	noKeys := func([]byte) []byte { return nil }
	for _, tt := range []struct {
		o          table.WriterOptions
		key, value string
		want       string
	}{
		{table.WriterOptions{}, "b", "1", `table: value of 1 bytes of key "b": FilterOnly keeps no values`},
		{table.WriterOptions{}, "a", "", `table: keys are not in increasing order: "a" after "a"`},
		{table.WriterOptions{FilterKey: func(key []byte) []byte { return map[bool][]byte{true: key}[string(key) == "a"] }}, "b", "",
			`table: key "b" has no filter key, and FilterOnly keeps nothing else`},
		{table.WriterOptions{FilterKey: noKeys}, "b", "", `table: key "a" has no filter key, and FilterOnly keeps nothing else`},
	} {
		tt.o.FilterOnly, tt.o.TableFilterPolicy = true, filter.NewTableBloom(10)
		w := newWriter(t, io.Discard, &tt.o)
		err := appendAll(w, []workload.Pair{{Key: []byte("a")}, {Key: []byte(tt.key), Value: []byte(tt.value)}})
		if got := fmt.Sprint(err); got != tt.want || w.Close() == nil {
			t.Errorf("Append returns %s, want %s", got, tt.want)
		}
	}
}

// mayContainAll returns an error if a key is ruled out.
func mayContainAll(r *table.Reader, pairs []workload.Pair) error {
	for _, p := range pairs {
		if !mayContain(r, p.Key) {
			return fmt.Errorf("MayContain(%q) = false", p.Key)
		}
		if _, err := r.Get(p.Key); errors.Is(err, table.ErrNotFound) {
			return fmt.Errorf("Get(%q) = %v", p.Key, err)
		}
	}
	return nil
}
