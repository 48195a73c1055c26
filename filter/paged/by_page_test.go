package paged_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// A pagedTable is a table whose filter is read by the page.
type pagedTable struct {
	contents   []byte
	keys       map[string]bool
	all        [][]byte // keys and absent keys
	filterOnly bool
}

// newPagedTable returns a table of random options with n keys.
func newPagedTable(t *testing.T, rng *rand.Rand, n int, filterOnly bool) *pagedTable {
	t.Helper()
	p := &pagedTable{keys: map[string]bool{}, filterOnly: filterOnly}
	for len(p.keys) < n {
		p.keys[fmt.Sprintf("%d/%06d", rng.IntN(9), rng.IntN(1<<20))] = true
	}
	o := table.WriterOptions{TableFilterPolicy: newPolicy(t, 4+rng.IntN(12)), FilterOnly: filterOnly, Compression: table.NoCompression}
	if rng.IntN(2) == 0 {
		o.FilterPrefix = filter.PrefixUntil("/")
	}
	if !filterOnly && rng.IntN(2) == 0 {
		o.FilterPolicy = filter.NewBloom(2)
	}
	var pairs []workload.Pair
	for _, key := range slices.Sorted(maps.Keys(p.keys)) {
		pair := workload.Pair{Key: []byte(key)}
		if !filterOnly {
			pair.Value = pair.Key
		}
		pairs = append(pairs, pair)
		p.all = append(p.all, pair.Key, []byte(key+"~"))
	}
	p.contents = tabletest.Build(t, &o, pairs)
	for range 200 {
		p.all = append(p.all, fmt.Appendf(nil, "%d/%06d", rng.IntN(12), rng.IntN(1<<20)))
	}
	rng.Shuffle(len(p.all), func(i, j int) { p.all[i], p.all[j] = p.all[j], p.all[i] })
	return p
}

// A faultySource fails reads at some offsets, and counts all reads.
type faultySource struct {
	*bytes.Reader
	fails atomic.Bool // reads of 4 KiB, the pages, fail
	reads atomic.Int64
	large atomic.Int64 // bytes of the largest read
}

var errDead = errors.New("the store is dead")

func (s *faultySource) ReadAt(p []byte, off int64) (int, error) {
	s.reads.Add(1)
	s.large.Store(max(s.large.Load(), int64(len(p))))
	if s.fails.Load() && len(p)%paged.PageSize == 0 {
		return 0, errDead
	}
	return s.Reader.ReadAt(p, off)
}

func (p *pagedTable) open(t *testing.T, src io.ReaderAt, o table.ReaderOptions, policy filter.TablePolicy) *table.Reader {
	t.Helper()
	o.TableFilterPolicies = []filter.TablePolicy{policy}
	r, err := table.NewReader(src, int64(len(p.contents)), &o)
	noError(t, err)
	noError(t, r.FilterErr())
	return r
}

func (p *pagedTable) openFile(t *testing.T, mapped bool) *table.Reader {
	t.Helper()
	name := filepath.Join(t.TempDir(), "t.ldb")
	noError(t, os.WriteFile(name, p.contents, 0o666))
	r, err := table.Open(name, &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{paged.Policy{}}, Mapped: mapped})
	noError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// answers returns a Reader's results for all keys, by each kind of lookup.
func (p *pagedTable) answers(t *testing.T, r *table.Reader, o table.GetManyOptions) (all []string) {
	t.Helper()
	many := make([]string, len(p.all))
	o.NoAnswer = func(i int, err error) { many[i] = err.Error() }
	err := r.GetMany(t.Context(), p.all, &o, func(i int, value []byte) error {
		many[i] = string(value)
		return nil
	})
	if err != nil && !errors.Is(err, table.ErrFilterOnly) {
		t.Fatal(err)
	}
	for i, key := range p.all {
		value, err := r.Get(key)
		_, _, findErr := r.Find(key)
		may, mayErr := r.MayContain(key)
		all = append(all, fmt.Sprintf("%s: %s %v, %v, %v %v, %s", key, value, err, findErr, may, mayErr, many[i]))
	}
	for prefix := range 12 {
		io := table.IterOptions{Prefix: fmt.Appendf(nil, "%d/", prefix)}
		n := 0
		for _, err := range r.All(&io) {
			if n++; err != nil {
				all = append(all, err.Error())
			}
		}
		all = append(all, fmt.Sprint(prefix, ": ", n))
	}
	return all
}

// For any table, source and Cache, a filter that is read by the page gives the same results as in memory.
func TestByPageAndInMemoryAnswerAlike(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed := range uint64(long.Size(4, 20)) {
		rng := rand.New(rand.NewPCG(51, seed))
		p := newPagedTable(t, rng, 1+rng.IntN(6000), rng.IntN(3) == 0)
		inMemory := p.open(t, bytes.NewReader(p.contents), table.ReaderOptions{}, paged.Policy{}.InMemory())
		want := p.answers(t, inMemory, table.GetManyOptions{})
		for name, src := range map[string]io.ReaderAt{"read": bytes.NewReader(p.contents), "handed out": table.Bytes(p.contents)} {
			for _, size := range []int64{0, 9000, 1 << 20} {
				o := table.ReaderOptions{Metrics: new(table.Metrics), Cache: table.NewCache(size)}
				r := p.open(t, src, o, paged.Policy{})
				got := p.answers(t, r, table.GetManyOptions{Gap: rng.IntN(2) * 100_000, Concurrency: 1 + rng.IntN(4)})
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("seed %d, %s, cache of %d bytes (-in memory +by page):\n%.2000s", seed, name, size, diff)
				}
				if n := o.Metrics.FilterPageErrors.Load(); n > 0 || o.Metrics.FilterPagesRead.Load() == 0 {
					t.Errorf("seed %d, %s: %d errors, %v", seed, name, n, o.Metrics)
				}
			}
		}
		if err := p.open(t, bytes.NewReader(p.contents), table.ReaderOptions{}, paged.Policy{}).Verify(); err != nil {
			t.Errorf("seed %d: Verify = %v", seed, err)
		}
		for _, mapped := range []bool{false, true} {
			if diff := cmp.Diff(want, p.answers(t, p.openFile(t, mapped), table.GetManyOptions{})); diff != "" {
				t.Fatalf("seed %d, mapped %v (-in memory +by page):\n%.2000s", seed, mapped, diff)
			}
		}
	}
}

// Opening reads no page, and a lookup reads one.
func TestALookupReadsOnePage(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(52, 1))
	p := newPagedTable(t, rng, 50_000, true)
	src := &faultySource{Reader: bytes.NewReader(p.contents)}
	r := p.open(t, src, table.ReaderOptions{TailSize: 1000}, paged.Policy{})
	if n, size := src.reads.Load(), src.large.Load(); n != 1 || size > 1000 {
		t.Errorf("opening took %d reads of up to %d bytes", n, size)
	}
	for _, key := range p.all[:1000] {
		before := src.reads.Load()
		if may, err := r.MayContain(key); err != nil || !may && p.keys[string(key)] || src.reads.Load() != before+1 {
			t.Fatalf("MayContain(%s) = %v after %d reads", key, may, src.reads.Load()-before)
		}
	}
	if size := src.large.Load(); size != paged.PageSize {
		t.Errorf("the largest read has %d bytes", size)
	}
	before := src.reads.Load()
	if err := r.GetMany(t.Context(), p.all, &table.GetManyOptions{Gap: 1 << 20}, nil); !errors.Is(err, table.ErrFilterOnly) || src.reads.Load()-before > 2 {
		t.Errorf("GetMany = %v after %d reads", err, src.reads.Load()-before)
	}
}

// If a page is corrupt or cannot be read, lookups read the data block. In a filter-only table, they fail.
func TestPagesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(53, seed))
		p := newPagedTable(t, rng, 3000, seed%2 == 0)
		for fault, want := range map[string]error{"dead": errDead, "corrupt": table.ErrCorrupt} {
			src := &faultySource{Reader: bytes.NewReader(p.contents)}
			var m table.Metrics
			r := p.open(t, src, table.ReaderOptions{Metrics: &m}, paged.Policy{})
			if src.fails.Store(fault == "dead"); fault == "corrupt" {
				changed := bytes.Clone(p.contents)
				h := filterIn(t, p.contents)
				for i := uint64(0); i+paged.PageSize < h.Length; i += paged.PageSize {
					changed[h.Offset+i+uint64(rng.IntN(paged.PageSize))] ^= 1
				}
				src.Reader = bytes.NewReader(changed)
			}
			for _, key := range p.all[:300] {
				value, err := r.Get(key)
				may, mayErr := r.MayContain(key)
				switch {
				case !p.filterOnly && p.keys[string(key)]:
					if string(value) != string(key) || err != nil || !may || mayErr != nil {
						t.Fatalf("%s: Get(%s) = %q, %v, and MayContain %v, %v", fault, key, value, err, may, mayErr)
					}
				case !p.filterOnly:
					if err != table.ErrNotFound || mayErr != nil {
						t.Fatalf("%s: Get(%s) = %v, and MayContain %v", fault, key, err, mayErr)
					}
				case !errors.Is(err, want) || !errors.Is(mayErr, want) || may:
					t.Fatalf("%s: Get(%s) = %v, and MayContain %v, %v", fault, key, err, may, mayErr)
				}
			}
			if m.FilterPageErrors.Load() == 0 {
				t.Errorf("%s: no page failed", fault)
			}
			p.checkManyFails(t, r, fault)
		}
	}
}

// checkManyFails checks that GetMany finds all keys of a table whose pages cannot be read, or fails for all.
func (p *pagedTable) checkManyFails(t *testing.T, r *table.Reader, fault string) {
	t.Helper()
	found, unanswered := map[string]bool{}, 0
	o := table.GetManyOptions{NoAnswer: func(int, error) { unanswered++ }}
	err := r.GetMany(t.Context(), p.all, &o, func(i int, _ []byte) error {
		found[string(p.all[i])] = true
		return nil
	})
	if p.filterOnly && (unanswered != len(p.all) || err == nil) || !p.filterOnly && (len(found) != len(p.keys) || err != nil) {
		t.Errorf("%s: GetMany found %d of %d keys and left %d of %d without an answer: %.300v", fault, len(found), len(p.keys), unanswered, len(p.all), err)
	}
}

// If the context is done, lookups fail, even if the page is in the Cache or the filter in memory.
func TestContextEndsTheReadOfAPage(t *testing.T) {
	t.Parallel()
	for _, filterOnly := range []bool{false, true} {
		p := newPagedTable(t, rand.New(rand.NewPCG(54, 1)), 3000, filterOnly)
		src, cached := bytes.NewReader(p.contents), table.ReaderOptions{Cache: table.NewCache(1 << 20)}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, r := range map[string]*table.Reader{
			"read":      p.open(t, src, table.ReaderOptions{}, paged.Policy{}),
			"cached":    p.open(t, src, cached, paged.Policy{}),
			"in memory": p.open(t, src, cached, paged.Policy{}.InMemory()),
		} {
			for _, key := range p.all[:100] {
				if name == "cached" {
					r.MayContain(key) // puts the page into the Cache
				}
				k := table.HashKey(key)
				may, err := r.With(ctx).MayContain(key)
				hashed, hashedErr := r.With(ctx).MayContainHashed(&k)
				_, getErr := r.With(ctx).Get(key)
				for what, err := range map[string]error{"MayContain": err, "MayContainHashed": hashedErr, "Get": getErr} {
					if may || hashed || !errors.Is(err, context.Canceled) {
						t.Fatalf("%s, filter only %v: %s(%s) = %v", name, filterOnly, what, key, err)
					}
				}
			}
			it := r.With(ctx).NewIter(&table.IterOptions{FilterKey: p.all[0]})
			if it.First() || !filterOnly && !errors.Is(it.Error(), context.Canceled) {
				t.Errorf("%s: an Iter is at an entry: %v", name, it.Error())
			}
			if r.Close(); !errors.Is(r.GetMany(ctx, p.all, nil, nil), context.Canceled) {
				t.Errorf("%s: GetMany does not end", name)
			}
		}
	}
}
