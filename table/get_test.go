package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

var withBloom = &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}

// counts are a Metrics' values.
type counts struct{ Lookups, Questions, Negatives, FalsePositives, Blocks, Bytes uint64 }

func countsOf(m *table.Metrics) counts {
	return counts{
		m.Lookups.Load(), m.FilterChecks.Load(), m.FilterNegatives.Load(),
		m.FilterFalsePositives.Load(), m.BlocksRead.Load(), m.BytesRead.Load(),
	}
}

// What the library is for: an absent key costs a data block only when the
// filter errs, and what the Metrics say of it is what the source sees.
func TestFilterSparesReads(t *testing.T) {
	t.Parallel()
	set := workload.W1(20_000)
	contents := build(t, withBloom, set.Pairs())
	for _, ignore := range []bool{false, true} {
		var m table.Metrics
		src := &countingReader{ReaderAt: bytes.NewReader(contents)}
		r, err := table.NewReader(src, int64(len(contents)), &table.ReaderOptions{Metrics: &m, IgnoreFilter: ignore})
		if err != nil {
			t.Fatal(err)
		}
		atOpen := src.n.Load()
		for _, k := range set.Absent {
			if _, err := r.Get(k); !errors.Is(err, table.ErrNotFound) {
				t.Fatalf("Get(%q) = %v, want ErrNotFound", k, err)
			}
		}
		c := countsOf(&m)
		if got := uint64(src.n.Load() - atOpen); got != c.Blocks {
			t.Errorf("%d reads of the source, but DataBlocks = %d", got, c.Blocks)
		}
		perLookup := float64(c.Blocks) / float64(c.Lookups)
		switch {
		case ignore && (perLookup < 0.99 || c.Questions != 0):
			t.Errorf("filter ignored: %.4f blocks per lookup, %d questions; want about 1 and none", perLookup, c.Questions)
		case !ignore && (perLookup > 0.02 || c.Questions != c.Negatives+c.FalsePositives || c.FalsePositives != c.Blocks):
			t.Errorf("%.4f blocks per absent key, want at most 0.02; %+v", perLookup, c)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	contents := build(t, withBloom, numbered(1000))
	r := open(t, contents, &table.ReaderOptions{Metrics: &m})
	if diff := cmp.Diff(counts{}, countsOf(&m)); diff != "" {
		t.Errorf("after opening (-want +got):\n%s", diff)
	}
	if _, err := r.Get([]byte("key000010")); err != nil {
		t.Fatal(err)
	}
	c := countsOf(&m)
	if c.Bytes == 0 || c.Bytes > 4200 {
		t.Errorf("%d bytes read for one block", c.Bytes)
	}
	c.Bytes = 0
	if diff := cmp.Diff(counts{Lookups: 1, Questions: 1, Blocks: 1}, c); diff != "" {
		t.Errorf("after a hit (-want +got):\n%s", diff)
	}
	if _, err := r.Get([]byte("zzz")); !errors.Is(err, table.ErrNotFound) {
		t.Fatal(err)
	}
	if got := countsOf(&m); got.Lookups != 2 || got.Questions != 1 {
		t.Errorf("after a key above the last separator: %+v; want 2 lookups, 1 question", got)
	}
	forward(t, r.NewIter(nil))
	if err := r.Verify(); err != nil {
		t.Fatal(err)
	}
	if got := m.BytesRead.Load() - c.Bytes; int64(got) > int64(2*len(contents)) || m.BlocksRead.Load() < 5 {
		t.Errorf("after a scan: %+v", countsOf(&m))
	}
}

// alwaysPolicy claims to contain every key, so that all that is asked of
// absent keys are false positives.
type alwaysPolicy struct{ filter.Policy }

func (alwaysPolicy) Name() string                     { return "test.Always" }
func (alwaysPolicy) Contains(filter, key []byte) bool { return true }

func TestFalsePositivesAreCounted(t *testing.T) {
	t.Parallel()
	p := alwaysPolicy{filter.NewBloom(10)}
	var m table.Metrics
	r := open(t, build(t, &table.WriterOptions{FilterPolicy: p}, numbered(100)),
		&table.ReaderOptions{Metrics: &m, FilterPolicies: []filter.Policy{p}})
	for i := range 50 {
		if _, err := r.Get(fmt.Appendf(nil, "key%06d", 2*i+1)); !errors.Is(err, table.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if c := countsOf(&m); c.Questions != 50 || c.FalsePositives != 50 || c.Negatives != 0 {
		t.Errorf("%+v, want 50 questions, all of them false positives", c)
	}
}

func TestGetValueIsForever(t *testing.T) {
	t.Parallel()
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		r := open(t, build(t, &table.WriterOptions{Compression: codec}, numbered(1000)), nil)
		var values [][]byte
		for _, p := range numbered(1000) {
			v, err := r.Get(p.Key)
			if err != nil {
				t.Fatal(err)
			}
			if len(v) != cap(v) {
				t.Fatalf("value of length %d has capacity %d", len(v), cap(v))
			}
			values = append(values, v)
		}
		forward(t, r.NewIter(nil))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for i, p := range numbered(1000) {
			if !bytes.Equal(values[i], p.Value) {
				t.Fatalf("codec %d: value %d became %q", codec.ID(), i, values[i])
			}
		}
	}
}

// A small value does not keep a large buffer in memory, whatever lookups have
// used the buffer before.
func TestGetKeepsLittleMemory(t *testing.T) {
	pairs := append(pairsOf("a"), workload.Pair{Key: []byte("b"), Value: make([]byte, 900_000)})
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		r := open(t, build(t, &table.WriterOptions{BlockSize: 1, Compression: codec}, pairs), nil)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		values := make([][]byte, 200)
		for i := range values {
			if _, err := r.AppendGet(nil, []byte("b")); err != nil {
				t.Fatal(err)
			}
			var err error
			if values[i], err = r.Get([]byte("a")); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 10e6 {
			t.Errorf("codec %d: %d values of %d bytes keep %d bytes", codec.ID(), len(values), len(values[0]), kept)
		}
		runtime.KeepAlive(values)
	}
}

func TestAppendGet(t *testing.T) {
	t.Parallel()
	r := open(t, build(t, nil, numbered(10)), nil)
	got, err := r.AppendGet([]byte("before "), []byte("key000002"))
	if err != nil || string(got) != "before value of key000002" {
		t.Errorf("AppendGet = %q, %v", got, err)
	}
	got, err = r.AppendGet([]byte("before"), []byte("key000003"))
	if !errors.Is(err, table.ErrNotFound) || string(got) != "before" {
		t.Errorf("AppendGet of an absent key = %q, %v; want dst and ErrNotFound", got, err)
	}
}

func TestLookupAllocations(t *testing.T) {
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		var m table.Metrics
		o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec}
		r := open(t, build(t, o, numbered(1000)), &table.ReaderOptions{Metrics: &m})
		present, absent := []byte("key001000"), []byte("key001001")
		dst, keyDst := make([]byte, 0, 100), make([]byte, 0, 100)
		for _, tt := range []struct {
			name string
			want error
			most float64
			why  string
			call func() error
		}{
			{"Get of an absent key", table.ErrNotFound, 0, "the filter answers", func() error { _, err := r.Get(absent); return err }},
			{"AppendGet with room", nil, 0, "buffers are pooled", func() error { _, err := r.AppendGet(dst, present); return err }},
			{"AppendFind with room", nil, 0, "buffers are pooled", func() error { _, _, err := r.AppendFind(keyDst, dst, present); return err }},
			{"AppendFind without slices", nil, 1, "key and value are one piece of memory", func() error { _, _, err := r.AppendFind(nil, nil, present); return err }},
			{"AppendGet with options", nil, 0, "options are values", func() error {
				_, err := r.With(t.Context()).DontFillCache(true).AppendGet(dst, present)
				return err
			}},
			{"Get of a present key", nil, 1, "the value is the caller's", func() error { _, err := r.Get(present); return err }},
		} {
			var err error
			got := testing.AllocsPerRun(200, func() { err = tt.call() })
			if got > tt.most && !long.Race {
				t.Errorf("codec %d: %s: %v allocations, want at most %v: %s", codec.ID(), tt.name, got, tt.most, tt.why)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("codec %d: %s = %v, want %v", codec.ID(), tt.name, err, tt.want)
			}
		}
		if c := countsOf(&m); c.Negatives != 201 {
			t.Errorf("codec %d: the filter answered %d of 201 absent lookups", codec.ID(), c.Negatives)
		}
	}
}

// Lookups with DontFillCache add nothing to the Cache, find what is in it, and find what lookups without
// options find.
func TestLookupsDontFillCache(t *testing.T) {
	t.Parallel()
	pairs := numbered(500)
	contents := build(t, withBloom, pairs)
	for name, get := range map[string]func(r *table.Reader, key []byte) ([]byte, error){
		"Get":       (*table.Reader).Get,
		"AppendGet": func(r *table.Reader, key []byte) ([]byte, error) { return r.AppendGet(nil, key) },
		"Find":      func(r *table.Reader, key []byte) ([]byte, error) { _, v, err := r.Find(key); return v, err },
		"AppendFind": func(r *table.Reader, key []byte) ([]byte, error) {
			_, v, err := r.AppendFind(nil, nil, key)
			return v, err
		},
		"FindGE": func(r *table.Reader, key []byte) ([]byte, error) { _, v, err := r.FindGE(key); return v, err },
		"NewIter": func(r *table.Reader, key []byte) ([]byte, error) {
			it := r.NewIter(nil)
			it.SeekGE(key)
			v := bytes.Clone(it.Value())
			return v, it.Close()
		},
	} {
		var m table.Metrics
		cache := table.NewCache(1 << 20)
		r := open(t, contents, &table.ReaderOptions{Cache: cache, Metrics: &m})
		for _, dont := range []bool{true, false, true} {
			size, hits := cache.Size(), m.CacheHits.Load()
			for _, p := range pairs {
				if v, err := get(r.With(t.Context()).DontFillCache(dont), p.Key); err != nil || !bytes.Equal(v, p.Value) {
					t.Fatalf("%s: %q, %v; want %q", name, v, err, p.Value)
				}
			}
			grew, hit := cache.Size() > size, m.CacheHits.Load() > hits
			if full := size > 0; grew == dont || hit != (full || !dont) {
				t.Errorf("%s, DontFillCache(%v): the Cache went from %d bytes to %d, hit: %v", name, dont, size, cache.Size(), hit)
			}
		}
	}
}

// GetMany too.
func TestGetManyDontFillCache(t *testing.T) {
	t.Parallel()
	pairs := numbered(500)
	cache := table.NewCache(1 << 20)
	r := open(t, build(t, withBloom, pairs), &table.ReaderOptions{Cache: cache})
	keys := keysOf(pairs, 0, 10, 20, 300, 499)
	for _, noFill := range []bool{true, false, true} {
		size := cache.Size()
		checkGetMany(t, "with and without", open(t, build(t, withBloom, pairs), nil), keys, &table.GetManyOptions{DontFillCache: noFill})
		if _, err := getMany(r, keys, &table.GetManyOptions{DontFillCache: noFill}); err != nil {
			t.Error(err)
		}
		if grew := cache.Size() > size; grew == noFill {
			t.Errorf("DontFillCache %v: the Cache went from %d bytes to %d", noFill, size, cache.Size())
		}
	}
}

// A damaged block and a closed Reader are errors of every lookup, which leave slices as they are.
func TestLookupErrors(t *testing.T) {
	t.Parallel()
	contents := build(t, oneKeyBlocks, pairsOf("a", "b"))
	contents[0] ^= 1
	r := open(t, contents, nil)
	for _, want := range []error{table.ErrCorrupt, table.ErrClosed} {
		l := r.With(t.Context()).DontFillCache(true)
		k, v, err := l.AppendFind([]byte("k"), []byte("v"), []byte("a"))
		if string(k) != "k" || string(v) != "v" || !errors.Is(err, want) {
			t.Errorf("AppendFind = %q, %q, %v; want k, v, %v", k, v, err, want)
		}
		if dst, err := l.AppendGet([]byte("v"), []byte("a")); string(dst) != "v" || !errors.Is(err, want) {
			t.Errorf("AppendGet = %q, %v; want v, %v", dst, err, want)
		}
		if k, v, err := l.FindGE([]byte("a")); k != nil || v != nil || !errors.Is(err, want) {
			t.Errorf("FindGE = %q, %q, %v; want %v", k, v, err, want)
		}
		r.Close()
	}
}
