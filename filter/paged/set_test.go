package paged_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/table"
	tableset "github.com/sievetable/sievetable/table/set"
)

// A store has the tables of a set, and counts requests.
type store struct {
	tables   map[string][]byte
	requests atomic.Int64
	bytes    atomic.Int64
	dead     atomic.Bool
}

func (s *store) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	s.requests.Add(1)
	s.bytes.Add(int64(len(p)))
	if s.dead.Load() {
		return 0, errDead
	}
	return bytes.NewReader(s.tables[name]).ReadAt(p, off)
}

const perTable = 20_000

// add adds a table of n keys to the set.
func (s *store) add(t *testing.T, m *tableset.Manifest, o *table.WriterOptions, n int, key func(i int) []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := tableset.NewTableWriter(&out, o)
	noError(t, err)
	for i := range n {
		noError(t, w.Append(key(i), nil))
	}
	line, err := w.Close()
	noError(t, err)
	line.Name = fmt.Sprint("t", len(m.Tables))
	s.tables[line.Name], m.Tables = out.Bytes(), append(m.Tables, line)
	return out.Bytes()
}

func setKey(i int) []byte { return fmt.Appendf(nil, "http://example.com/%09d", i) }

// newSet returns a set of three tables, of every second key.
func newSet(t *testing.T, filterOnly bool) (*store, *tableset.Manifest) {
	t.Helper()
	s, m := &store{tables: map[string][]byte{}}, new(tableset.Manifest)
	for i := range 3 {
		o := &table.WriterOptions{TableFilterPolicy: newPolicy(t, 14), FilterOnly: filterOnly}
		contents := s.add(t, m, o, perTable, func(j int) []byte { return setKey(2 * (i*perTable + j)) })
		line := m.Tables[i]
		described, err := tableset.Describe(bytes.NewReader(contents), line.Size, &readPaged)
		if !filterOnly && (err != nil || described.TailSize != line.TailSize) {
			t.Errorf("Describe = %+v, %v, want a tail of %d bytes", described, err, line.TailSize)
		}
	}
	return s, m
}

// readPaged are options with the policy for paged filters.
var readPaged = table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{paged.Policy{}}}

func openSet(t *testing.T, s *store, m *tableset.Manifest, o *tableset.Options) *tableset.Set {
	t.Helper()
	if o.Reader.TableFilterPolicies == nil {
		o.Reader.TableFilterPolicies = readPaged.TableFilterPolicies
	}
	opened, err := tableset.Open(t.Context(), m, s, o)
	noError(t, err)
	t.Cleanup(func() { opened.Close() })
	return opened
}

// checkVerify checks that Verify finds nothing wrong, and reads each table once.
func checkVerify(t *testing.T, s *store, m *tableset.Manifest, opened *tableset.Set) {
	t.Helper()
	before, size := s.bytes.Load(), int64(0)
	for _, line := range m.Tables {
		size += line.Size + 1 // to check that the table ends there
	}
	if err := opened.Verify(t.Context(), nil); err != nil || s.bytes.Load()-before > size {
		t.Errorf("Verify of %d bytes = %v, and read %d", size, err, s.bytes.Load()-before)
	}
}

// Opening a set of filters and one lookup take two requests: for the end of a table, and for a page.
func TestSetOfPagedFilters(t *testing.T) {
	t.Parallel()
	s, m := newSet(t, true)
	opened := openSet(t, s, m, &tableset.Options{})
	if may, err := opened.MayContain(t.Context(), setKey(30_000)); !may || err != nil {
		t.Errorf("MayContain = %v, %v", may, err)
	}
	if n, size := s.requests.Load(), s.bytes.Load(); n != 2 || size > 8<<10 {
		t.Errorf("opening and a lookup took %d requests of %d bytes", n, size)
	}
	passed := 0
	for i := range 3 * perTable {
		may, err := opened.MayContain(t.Context(), setKey(i))
		if err != nil || i%2 == 0 && !may {
			t.Fatalf("MayContain(%s) = %v, %v", setKey(i), may, err)
		}
		if i%2 == 1 && may {
			passed++
		}
	}
	if passed > 100 { // 0.12 % of 30,000 is 36
		t.Errorf("%d absent keys pass", passed)
	}
	if may, known := opened.TryMayContain(setKey(1)); !may || known {
		t.Errorf("TryMayContain = %v, %v, want an answer that is not known", may, known)
	}
	if size := opened.MemorySize(); size > 3*4096 {
		t.Errorf("the open set takes %d bytes", size)
	}
	checkVerify(t, s, m, opened)
	s.dead.Store(true)
	if may, err := opened.MayContain(t.Context(), setKey(2)); may || !errors.Is(err, errDead) {
		t.Errorf("MayContain of a dead store = %v, %v", may, err)
	}
}

// A set of tables with keys finds all, one by one and many at a time. Opening a table checks no key, since that
// would read pages: no page fails.
func TestSetWithPagedFilters(t *testing.T) {
	t.Parallel()
	s, m := newSet(t, false)
	var metrics table.Metrics
	o := table.ReaderOptions{Cache: table.NewCache(64 << 20), Metrics: &metrics}
	opened := openSet(t, s, m, &tableset.Options{Reader: o})
	var keys [][]byte
	for i := 0; i < 3*perTable; i += 7 {
		keys = append(keys, setKey(i))
		if _, err := opened.Get(t.Context(), setKey(i)); (err == nil) != (i%2 == 0) || err != nil && err != table.ErrNotFound {
			t.Fatalf("Get(%s) = %v", setKey(i), err)
		}
	}
	if n := metrics.FilterPageErrors.Load(); n > 0 {
		t.Errorf("%d pages could not be read", n)
	}
	for range 2 { // the second time, pages and blocks are in the Cache
		before, found := s.requests.Load(), 0
		err := opened.GetMany(t.Context(), keys, &table.GetManyOptions{Gap: 64 << 10}, func(i int, _ []byte) error {
			found++
			return nil
		})
		if want := (len(keys) + 1) / 2; err != nil || found != want {
			t.Errorf("GetMany found %d of %d keys: %v", found, want, err)
		}
		if n := s.requests.Load() - before; n > 0 {
			t.Errorf("GetMany took %d requests, though all is in the Cache", n)
		}
	}
	checkVerify(t, s, m, opened)
}

// A Set holds whole filters with InMemory, also if the pages are not in the tail, and opens each table by one request.
func TestSetHoldsPagedFiltersInMemory(t *testing.T) {
	t.Parallel()
	for _, filterOnly := range []bool{false, true} {
		s, m := newSet(t, filterOnly)
		opened := openSet(t, s, m, &tableset.Options{Reader: table.ReaderOptions{
			TableFilterPolicies: []filter.TablePolicy{paged.Policy{}.InMemory()}}})
		for i := 0; i < 6*perTable; i += 5 {
			if may, err := opened.MayContain(t.Context(), setKey(i)); err != nil || i%2 == 0 && !may {
				t.Fatalf("MayContain(%s) = %v, %v", setKey(i), may, err)
			}
		}
		if n := s.requests.Load(); n != 3 {
			t.Errorf("filter only %v: opening three tables took %d requests", filterOnly, n)
		}
		checkVerify(t, s, m, opened)
	}
}

// The same holds if the filter is smaller than the tail, since the index is large.
func TestSetHoldsSmallFiltersInMemory(t *testing.T) {
	t.Parallel()
	for _, policy := range []filter.TablePolicy{newPolicy(t, 14), filter.NewTableBloom(14)} {
		s, m := &store{tables: map[string][]byte{}}, new(tableset.Manifest)
		s.add(t, m, &table.WriterOptions{TableFilterPolicy: policy, BlockSize: 1}, 1000, setKey)
		if line := m.Tables[0]; line.FilterSize >= line.TailSize {
			t.Fatalf("a filter of %d bytes, and a tail of %d", line.FilterSize, line.TailSize)
		}
		opened := openSet(t, s, m, &tableset.Options{Reader: table.ReaderOptions{
			TableFilterPolicies: []filter.TablePolicy{paged.Policy{}.InMemory()}}})
		if _, err := opened.Get(t.Context(), setKey(7)); err != nil || s.requests.Load() != 2 {
			t.Errorf("%s: Get = %v, with %d requests", policy.Name(), err, s.requests.Load())
		}
		checkVerify(t, s, m, opened)
	}
}

// Verify reads each table once also if it has no policy for the filter.
func TestVerifyOfUnknownPagedFilters(t *testing.T) {
	t.Parallel()
	s, m := newSet(t, false)
	checkVerify(t, s, m, openSet(t, s, m, &tableset.Options{Reader: table.ReaderOptions{
		TableFilterPolicies: []filter.TablePolicy{narrowable{}}}}))
}

// Verify notices a tail that is too short to open the table, also though it reads the pages before that.
func TestVerifyOfShortTails(t *testing.T) {
	t.Parallel()
	s, m := newSet(t, false)
	m.Tables[0].TailSize--
	opened := openSet(t, s, m, &tableset.Options{})
	_, want := opened.Get(t.Context(), setKey(0))
	if err := opened.Verify(t.Context(), nil); !errors.Is(err, tableset.ErrMismatch) || err.Error() != want.Error() {
		t.Errorf("Verify = %v, want what Get returns: %v", err, want)
	}
}

// GetMany opens as many tables at a time as fit into the MemorySize, with the pages that they hold.
func TestGetManyCountsPagesInMemory(t *testing.T) {
	t.Parallel()
	s, m := newSet(t, false)
	most := m.Tables[0].FilterSize * 3 / 2
	opened := openSet(t, s, m, &tableset.Options{MemorySize: most, Reader: table.ReaderOptions{
		TableFilterPolicies: []filter.TablePolicy{paged.Policy{}.InMemory()}}})
	keys := [][]byte{setKey(0), setKey(2 * perTable), setKey(4 * perTable)}
	err := opened.GetMany(t.Context(), keys, nil, func(i int, _ []byte) error {
		if size := opened.MemorySize(); size > most {
			t.Errorf("at key %d, open tables take %d bytes, more than %d", i, size, most)
		}
		return nil
	})
	noError(t, err)
}

// Paged filters do not count towards FilterMemory.
func TestFilterMemoryIsNotForPages(t *testing.T) {
	t.Parallel()
	s, m := newSet(t, false)
	s.add(t, m, &table.WriterOptions{TableFilterPolicy: narrowable{}}, 1, func(int) []byte { return []byte("z") })
	opened := openSet(t, s, m, &tableset.Options{FilterMemory: 1000, Reader: table.ReaderOptions{
		TableFilterPolicies: []filter.TablePolicy{paged.Policy{}, narrowable{}}}})
	if _, err := opened.Get(t.Context(), []byte("z")); err != nil {
		t.Fatal(err)
	}
	if err := opened.FilterErr(); err != nil {
		t.Errorf("a filter of 100 bytes has to make way for others, which take no memory: %v", err)
	}
}

// A narrowable has filters of 100 bytes that contain everything, and that can be narrowed.
type narrowable struct{}

func (narrowable) Name() string                               { return "narrowable" }
func (p narrowable) NewTableGenerator() filter.TableGenerator { return p }
func (p narrowable) Open([]byte) (filter.TableFilter, error)  { return p, nil }
func (narrowable) FilterBits([]byte) int                      { return 16 }
func (p narrowable) AtMost(int) (filter.TablePolicy, error)   { return p, nil }
func (narrowable) Narrow(contents []byte) ([]byte, error)     { return contents, nil }
func (narrowable) Add([]byte)                                 {}
func (narrowable) Generate() ([]byte, error)                  { return make([]byte, 100), nil }
func (narrowable) Contains([]byte) bool                       { return true }
