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

func setKey(i int) []byte { return fmt.Appendf(nil, "http://example.com/%09d", i) }

// newSet returns a set of three tables, of every second key.
func newSet(t *testing.T, filterOnly bool) (*store, *tableset.Manifest) {
	t.Helper()
	s, m := &store{tables: map[string][]byte{}}, new(tableset.Manifest)
	for i := range 3 {
		var out bytes.Buffer
		o := &table.WriterOptions{TableFilterPolicy: newPolicy(t, 14), FilterOnly: filterOnly}
		w, err := tableset.NewTableWriter(&out, o)
		if err != nil {
			t.Fatal(err)
		}
		for j := range perTable {
			if err := w.Append(setKey(2*(i*perTable+j)), nil); err != nil {
				t.Fatal(err)
			}
		}
		line, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		line.Name = fmt.Sprint("t", i)
		if described, err := tableset.Describe(bytes.NewReader(out.Bytes()), line.Size, &table.ReaderOptions{
			TableFilterPolicies: []filter.TablePolicy{paged.Policy{}}}); !filterOnly && (err != nil || described.TailSize != line.TailSize) {
			t.Errorf("Describe = %+v, %v, want a tail of %d bytes", described, err, line.TailSize)
		}
		s.tables[line.Name] = out.Bytes()
		m.Tables = append(m.Tables, line)
	}
	return s, m
}

func openSet(t *testing.T, s *store, m *tableset.Manifest, r table.ReaderOptions) *tableset.Set {
	t.Helper()
	r.TableFilterPolicies = []filter.TablePolicy{paged.Policy{}}
	opened, err := tableset.Open(t.Context(), m, s, &tableset.Options{Reader: r})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	return opened
}

// Opening a set of filters and one lookup take two requests, of the table's end and of a page: the filters are never read.
func TestSetOfPagedFilters(t *testing.T) {
	t.Parallel()
	s, m := newSet(t, true)
	opened := openSet(t, s, m, table.ReaderOptions{})
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
	if err := opened.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
	s.dead.Store(true)
	if may, err := opened.MayContain(t.Context(), setKey(2)); may || !errors.Is(err, errDead) {
		t.Errorf("MayContain of a dead store = %v, %v", may, err)
	}
}

// A set of tables with keys finds all, one by one and many at a time.
func TestSetWithPagedFilters(t *testing.T) {
	t.Parallel()
	s, m := newSet(t, false)
	cache := table.NewCache(64 << 20)
	opened := openSet(t, s, m, table.ReaderOptions{Cache: cache})
	var keys [][]byte
	for i := 0; i < 3*perTable; i += 7 {
		keys = append(keys, setKey(i))
		if _, err := opened.Get(t.Context(), setKey(i)); (err == nil) != (i%2 == 0) || err != nil && err != table.ErrNotFound {
			t.Fatalf("Get(%s) = %v", setKey(i), err)
		}
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
}
