package fuse_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A memorySource has tables in memory.
type memorySource map[string][]byte

func (s memorySource) ReadAt(_ context.Context, name string, p []byte, off int64) (int, error) {
	return bytes.NewReader(s[name]).ReadAt(p, off)
}

// A testSet has the tables of a set. Key j of table i is setKey(i, j).
type testSet struct {
	memorySource
	set.Manifest
	keys []int // of each table
}

// newTestSet returns a set of tables with these numbers of keys, and filters of 16 bits.
func newTestSet(t testing.TB, sizes ...int) *testSet {
	t.Helper()
	s := &testSet{memorySource: memorySource{}}
	for _, n := range sizes {
		s.add(t, n, table.WriterOptions{TableFilterPolicy: newPolicy(t, 16)})
	}
	return s
}

func setKey(i, j int) []byte { return fmt.Appendf(nil, "%03d/%06d", i, j) }

// add adds a table of n keys.
func (s *testSet) add(t testing.TB, n int, o table.WriterOptions) {
	t.Helper()
	var b bytes.Buffer
	o.BlockSize = 1 << 20 // so that lookups build no search trees, whose memory would be counted
	w, err := set.NewTableWriter(&b, &o)
	noError(t, err)
	for j := range n {
		noError(t, w.Append(setKey(len(s.Tables), j), nil))
	}
	line, err := w.Close()
	noError(t, err)
	if !o.FilterOnly {
		described, err := set.Describe(bytes.NewReader(b.Bytes()), line.Size, &table.ReaderOptions{
			TableFilterPolicies: []filter.TablePolicy{atMost(t, fuse.Policy{}, 8)},
		})
		if err != nil || described.FilterSize != line.FilterSize || described.FilterBits != line.FilterBits {
			t.Errorf("Describe returns a filter of %d bytes and %d bits, %v, want %d and %d as Close", described.FilterSize,
				described.FilterBits, err, line.FilterSize, line.FilterBits)
		}
	}
	line.Name = fmt.Sprintf("t%d", len(s.Tables))
	s.memorySource[line.Name] = b.Bytes()
	s.Tables, s.keys = append(s.Tables, line), append(s.keys, n)
}

// filterSize returns the bytes of the table filters as they are in the files.
func (s *testSet) filterSize() (size int64) {
	for _, t := range s.Tables {
		size += t.FilterSize
	}
	return size
}

// openAll returns options that open all tables, with a limit for filters.
func openAll(limit int64) *set.Options {
	return &set.Options{
		Reader:       table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{fuse.Policy{}}},
		FilterMemory: limit, OpenAll: true,
	}
}

// open opens the set with a limit for its filters, and its tables.
func (s *testSet) open(t testing.TB, limit int64) *set.Set {
	t.Helper()
	opened, err := set.Open(context.Background(), &s.Manifest, s.memorySource, openAll(limit))
	noError(t, err)
	t.Cleanup(func() { opened.Close() })
	return opened
}

// withoutFilters returns the memory of the open tables without their filters.
func (s *testSet) withoutFilters(t testing.TB) int64 {
	return s.open(t, 0).MemorySize() - s.filterSize()
}

// checkKeys checks that the set has some keys of each table, and no others.
func (s *testSet) checkKeys(t testing.TB, opened *set.Set, rng *rand.Rand) {
	t.Helper()
	for range 200 {
		i := rng.IntN(len(s.keys))
		key := setKey(i, rng.IntN(s.keys[i]))
		if _, err := opened.Get(context.Background(), key); err != nil {
			t.Fatalf("Get(%q) returns %v", key, err)
		}
		if _, err := opened.Get(context.Background(), append(key, '~')); !errors.Is(err, table.ErrNotFound) {
			t.Fatalf("Get of an absent key returns %v", err)
		}
	}
}

// For any tables, a set's filters take at most FilterMemory, and at least as much as with a lower limit, and no key
// is lost.
func TestFilterMemoryIsKept(t *testing.T) {
	t.Parallel()
	seeds := uint64(15)
	if long.Race {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(43, seed))
			s := newTestSet(t)
			for range 1 + rng.IntN(12) {
				s.add(t, 1+rng.IntN(1<<(2+rng.IntN(12))), table.WriterOptions{TableFilterPolicy: newPolicy(t, allBits[rng.IntN(len(allBits))])})
			}
			without, before := s.withoutFilters(t), int64(0)
			for limit := int64(1); limit < 2*s.filterSize(); limit += 1 + rng.Int64N(s.filterSize()/8+50) {
				opened := s.open(t, limit)
				size := opened.MemorySize() - without
				if size > limit || size < before {
					t.Errorf("filters of %d bytes take %d, want at most %d, and %d or more as with a lower limit", s.filterSize(), size, limit, before)
				}
				if all := s.filterSize(); limit >= all && size != all {
					t.Errorf("filters of %d bytes take %d, though %d may be taken", all, size, limit)
				}
				before = size
				s.checkKeys(t, opened, rng)
			}
		})
	}
}

// Equal widths have the fewest false positives, and large filters are narrowed before small ones.
func TestLargestFiltersAreNarrowedFirst(t *testing.T) {
	t.Parallel()
	s := newTestSet(t, 1000, 30_000, 5000)
	sizeOf := func(bits ...int) (size int64) {
		for i, n := range s.keys {
			if bits[i] > 0 {
				size += int64(newPolicy(t, bits[i]).Size(n))
			}
		}
		return size
	}
	without := s.withoutFilters(t)
	for _, bits := range [][]int{{16, 16, 16}, {16, 14, 16}, {16, 14, 14}, {14, 14, 14}, {10, 8, 10}, {4, 4, 4}, {4, 0, 4}, {4, 0, 0}, {0, 0, 0}} {
		limit := sizeOf(bits...) + 100 // the set's estimate can be a little higher
		opened := s.open(t, limit)
		if got := opened.MemorySize() - without; got != sizeOf(bits...) {
			t.Errorf("with %d bytes, filters take %d, want %d: those of %v bits", limit, got, sizeOf(bits...), bits)
		}
		dropped := strings.Count(fmt.Sprint(opened.FilterErr()), "is not used: FilterMemory (")
		if want := 3 - len(slices.DeleteFunc(bits, func(n int) bool { return n == 0 })); dropped != want {
			t.Errorf("with %d bytes, FilterErr reports %d filters, want %d", limit, dropped, want)
		}
	}
}

// Filters that cannot or must not be narrowed stay as they are, however low the limit is.
func TestFilterMemoryLeavesOthers(t *testing.T) {
	t.Parallel()
	const n = 5000
	for name, tt := range map[string]struct {
		o      table.WriterOptions
		forget bool // remove the fields from the manifest, as if Describe did not know the policy
		want   int  // remaining bits; 0: all
	}{
		"Bloom":        {o: table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}},
		"block filter": {o: table.WriterOptions{FilterPolicy: filter.NewBloom(10)}},
		"Never":        {o: table.WriterOptions{TableFilterPolicy: newPolicy(t, 16), Never: listedKeys(0)}},
		"no fields":    {o: table.WriterOptions{TableFilterPolicy: newPolicy(t, 16)}, forget: true},
		"filter only":  {o: table.WriterOptions{TableFilterPolicy: newPolicy(t, 16), FilterOnly: true}, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestSet(t)
			s.add(t, n, tt.o)
			want := s.open(t, 0).MemorySize()
			if tt.want > 0 {
				want += int64(newPolicy(t, tt.want).Size(n)) - s.filterSize()
			}
			if tt.forget {
				s.Tables[0].FilterSize, s.Tables[0].FilterBits = 0, 0
			}
			opened := s.open(t, 1)
			if got := opened.MemorySize(); got != want || opened.FilterErr() != nil {
				t.Errorf("the table takes %d bytes, want %d; FilterErr %v", got, want, opened.FilterErr())
			}
			noError(t, opened.Verify(context.Background(), nil))
		})
	}
}

// Swap recomputes the bits: tables that are open with more bits are opened again, and keys are found at any time.
func TestFilterMemoryAfterSwap(t *testing.T) {
	t.Parallel()
	s := newTestSet(t, slices.Repeat([]int{2000}, 8)...)
	perTable, rng := int64(newPolicy(t, 16).Size(2000)), rand.New(rand.NewPCG(44, 0))
	without := s.withoutFilters(t) / 8
	one := set.Manifest{Tables: s.Tables[:1]}
	part := &testSet{s.memorySource, one, s.keys[:1]}
	opened := part.open(t, perTable+100)
	if got := opened.MemorySize(); got < perTable {
		t.Fatalf("one table takes %d bytes, want all bits", got)
	}
	part.checkKeys(t, opened, rng)
	var lookups sync.WaitGroup
	for range 2 {
		lookups.Go(func() {
			for i := range 1500 {
				if _, err := opened.Get(context.Background(), setKey(0, i%2000)); err != nil {
					t.Errorf("Get returns %v", err)
					return
				}
			}
		})
	}
	for i := range 20 {
		noError(t, opened.Swap(context.Background(), &[]*testSet{s, part}[i%2].Manifest))
	}
	lookups.Wait()
	for _, m := range []*testSet{s, part, s} {
		noError(t, opened.Swap(context.Background(), &m.Manifest))
		m.checkKeys(t, opened, rng)
		noError(t, opened.Drain(context.Background()))
		n := int64(len(m.Tables))
		if got := opened.MemorySize(); got > n*(without+64)+perTable+100 {
			t.Errorf("%d tables take %d bytes, want at most %d each and %d for filters", n, got, without, perTable+100)
		}
	}
}

// A gate is a memorySource whose first read signals that it has begun, and waits.
type gate struct {
	memorySource
	once        sync.Once
	begun, open chan struct{}
}

func (g *gate) ReadAt(ctx context.Context, name string, p []byte, off int64) (int, error) {
	g.once.Do(func() {
		close(g.begun)
		<-g.open
	})
	return g.memorySource.ReadAt(ctx, name, p, off)
}

// A table that is being opened during a Swap does not stay open with its previous bits.
func TestFilterMemoryOfATableOpenedDuringSwap(t *testing.T) {
	t.Parallel()
	s := newTestSet(t, slices.Repeat([]int{2000}, 8)...)
	perTable, without := int64(newPolicy(t, 16).Size(2000)), s.withoutFilters(t)/8
	src := &gate{memorySource: s.memorySource, begun: make(chan struct{}), open: make(chan struct{})}
	o := openAll(perTable)
	o.OpenAll = false
	opened, err := set.Open(context.Background(), &set.Manifest{Tables: s.Tables[:1]}, src, o)
	noError(t, err)
	defer opened.Close()
	var lookup sync.WaitGroup
	lookup.Go(func() {
		if _, err := opened.Get(context.Background(), setKey(0, 0)); err != nil {
			t.Errorf("Get returns %v", err)
		}
	})
	<-src.begun
	noError(t, opened.Swap(context.Background(), &s.Manifest))
	close(src.open)
	lookup.Wait()
	s.checkKeys(t, opened, rand.New(rand.NewPCG(46, 0)))
	if got := opened.MemorySize(); got > 8*(without+64)+perTable {
		t.Errorf("8 tables take %d bytes, want at most %d each and %d for filters", got, without, perTable)
	}
}

// A mapped filter does not count as memory: it is neither narrowed nor left out.
func TestFilterMemoryOfMappedTables(t *testing.T) {
	t.Parallel()
	s := newTestSet(t, 1000)
	dir := t.TempDir()
	var manifest bytes.Buffer
	noError(t, set.WriteManifest(&manifest, &s.Manifest))
	s.memorySource[set.ManifestName] = manifest.Bytes()
	for name, contents := range s.memorySource {
		noError(t, os.WriteFile(filepath.Join(dir, name), contents, 0o666))
	}
	m, o := new(table.Metrics), openAll(1)
	o.Reader.Mapped, o.Reader.Metrics = true, m
	opened, err := set.OpenDir(context.Background(), dir, o)
	noError(t, err)
	defer opened.Close()
	if err := opened.FilterErr(); err != nil {
		t.Errorf("FilterErr returns %v", err)
	}
	s.checkKeys(t, opened, rand.New(rand.NewPCG(45, 0)))
	if n := m.FilterFalsePositives.Load(); n > 3 {
		t.Errorf("%d of 200 absent keys pass a filter of 16 bits", n)
	}
}

// A manifest with wrong fields for a filter is detected.
func TestManifestOfAnotherFilter(t *testing.T) {
	t.Parallel()
	s := newTestSet(t, 1000)
	right := s.Tables[0]
	for field, change := range map[string]func(*set.Table){
		"filterSize": func(t *set.Table) { t.FilterSize-- },
		"filterBits": func(t *set.Table) { t.FilterBits = 12 },
	} {
		s.Tables[0] = right
		change(&s.Tables[0])
		opened, err := set.Open(context.Background(), &s.Manifest, s.memorySource, openAll(0))
		if !errors.Is(err, set.ErrMismatch) || !strings.Contains(err.Error(), field) {
			t.Errorf("Open returns %v, %v, want an ErrMismatch with %s", opened, err, field)
		}
	}
}

// BenchmarkFilterMemory looks up absent keys in a set of 20 tables with filters of 16 bits, with a FilterMemory of a
// part of their size.
func BenchmarkFilterMemory(b *testing.B) {
	const tables = 20
	n := long.Size(5_000, 50_000)
	s := newTestSet(b, slices.Repeat([]int{n}, tables)...)
	without := s.withoutFilters(b)
	for _, percent := range []int64{100, 75, 50, 25, 20} {
		b.Run(fmt.Sprintf("percent=%d", percent), func(b *testing.B) {
			opened := s.open(b, s.filterSize()*percent/100)
			passed, i := 0, 0
			for b.Loop() {
				key := append(setKey(i%tables, i/tables%(n-1)), '~')
				mayContain, err := opened.MayContain(context.Background(), key)
				noError(b, err)
				if i++; mayContain {
					passed++
				}
			}
			b.ReportMetric(100*float64(passed)/float64(i), "%-false-positives")
			b.ReportMetric(float64(opened.MemorySize()-without)/float64(tables*n)*8, "bits/key")
		})
	}
}
