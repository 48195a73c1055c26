package table_test

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

var withBloom = &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}

// counts has the values of Metrics.
type counts struct{ Lookups, Questions, Negatives, FalsePositives, Blocks, Bytes uint64 }

func countsOf(m *table.Metrics) counts {
	return counts{
		m.Lookups.Load(), m.FilterChecks.Load(), m.FilterNegatives.Load(),
		m.FilterFalsePositives.Load(), m.BlocksRead.Load(), m.BytesRead.Load(),
	}
}

// The purpose of the library: a lookup of an absent key reads a data block only for a false positive. The Metrics
// agree with the source.
func TestFilterSparesReads(t *testing.T) {
	t.Parallel()
	contents, absent := build(t, withBloom, w1Pairs(20_000)), workload.W1(20_000).Absent
	for _, ignore := range []bool{false, true} {
		var m table.Metrics
		src := &countingReader{ReaderAt: bytes.NewReader(contents)}
		r := newReader(t, src, len(contents), &table.ReaderOptions{Metrics: &m, IgnoreFilter: ignore})
		atOpen := src.n.Load()
		getAll(t, r, absent)
		c := countsOf(&m)
		if got := uint64(src.n.Load() - atOpen); got != c.Blocks {
			t.Errorf("%d reads of the source, but DataBlocks = %d", got, c.Blocks)
		}
		perLookup := float64(c.Blocks) / float64(c.Lookups)
		switch {
		case ignore && (perLookup < 0.99 || c.Questions != 0):
			t.Errorf("filter ignored: %.4f blocks per lookup, %d questions; want about 1 and none", perLookup, c.Questions)
		case !ignore && (perLookup > 0.02 || perLookup == 0):
			t.Errorf("%.4f blocks per absent key, want at most 0.02, but some", perLookup)
		case !ignore && (c.Questions != c.Negatives+c.FalsePositives || c.FalsePositives != c.Blocks):
			t.Errorf("counts that disagree: %+v", c)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	contents := build(t, withBloom, numbered(1000))
	r := open(t, contents, &table.ReaderOptions{Metrics: &m})
	checkDiff(t, "after opening", counts{}, countsOf(&m))
	noError(t, errorOf(r.Get([]byte("key000010"))))
	c := countsOf(&m)
	if c.Bytes == 0 || c.Bytes > 4200 {
		t.Errorf("%d bytes read for one block", c.Bytes)
	}
	c.Bytes = 0
	checkDiff(t, "after a hit", counts{Lookups: 1, Questions: 1, Blocks: 1}, c)
	getAll(t, r, [][]byte{[]byte("zzz")})
	if got := countsOf(&m); got.Lookups != 2 || got.Questions != 1 {
		t.Errorf("after a key above the last separator: %+v; want 2 lookups, 1 question", got)
	}
	forward(t, r.NewIter(nil))
	noError(t, r.Verify())
	if got := m.BytesRead.Load(); got > uint64(2*len(contents)) || m.BlocksRead.Load() < 5 {
		t.Errorf("after a scan: %+v", countsOf(&m))
	}
}

// A value does not change, whatever is read after it, and keeps no large buffer in memory.
func TestValueIsForever(t *testing.T) {
	t.Parallel()
	pairs := numbered(1000)
	for i := 0; i < len(pairs); i += 2 { // a large part of its block, which is not copied
		pairs[i].Value = bytes.Repeat([]byte{byte(i)}, 1500)
	}
	for _, o := range []table.WriterOptions{{}, {Compression: table.NoCompression}} {
		contents := build(t, &o, pairs)
		far, _ := openStore(t, contents, nil)
		for source, r := range map[string]*table.Reader{"bytes": open(t, contents, nil), "a store": far.With(t.Context())} {
			var keys [][]byte
			values, err := getMany(r, allKeys(pairs), nil)
			noError(t, err)
			for _, p := range pairs {
				v, err := r.Get(p.Key)
				noError(t, err)
				k, found, err := r.Find(p.Key)
				noError(t, err)
				keys, values = append(keys, k), append(values, v, found)
			}
			forward(t, r.NewIter(nil))
			noError(t, r.Close())
			for i, k := range keys {
				if !bytes.Equal(k, pairs[i].Key) {
					t.Fatalf("%+v, %s: the key %q became %q", o, source, pairs[i].Key, k)
				}
				for _, v := range [][]byte{values[i], values[1000+2*i], values[1001+2*i]} {
					if want := pairs[i].Value; !bytes.Equal(v, want) || cap(v) != len(v) {
						t.Fatalf("%+v, %s: %q became %q, with a capacity of %d", o, source, want, v, cap(v))
					}
				}
			}
		}
	}
}

// A small value does not keep a large buffer in memory, even if earlier lookups have used the buffer.
func TestGetKeepsLittleMemory(t *testing.T) {
	pairs := append(pairsOf("a"), workload.Pair{Key: []byte("b"), Value: make([]byte, 900_000)})
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		r := open(t, build(t, &table.WriterOptions{BlockSize: 1, Compression: codec}, pairs), nil)
		before := settledHeap()
		values := make([][]byte, 200)
		for i := range values {
			_, err := r.AppendGet(nil, []byte("b"))
			noError(t, err)
			values[i], err = r.Get([]byte("a"))
			noError(t, err)
		}
		if kept := settledHeap() - before; kept > 10e6 {
			t.Errorf("codec %d: %d values of %d bytes keep %d bytes", codec.ID(), len(values), len(values[0]), kept)
		}
		runtime.KeepAlive(values)
	}
}

func TestLookupAllocations(t *testing.T) {
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		var m table.Metrics
		o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec}
		contents := build(t, o, numbered(1000))
		r := open(t, contents, &table.ReaderOptions{Metrics: &m})
		cached := open(t, contents, &table.ReaderOptions{Cache: table.NewCache(1 << 20)})
		present, absent := []byte("key001000"), []byte("key001001")
		dst, keyDst := make([]byte, 0, 100), make([]byte, 0, 100)
		parts := slices.Repeat([]table.GetManyPart{{Reader: cached}}, 100)
		for _, tt := range []struct {
			name string
			want error
			most float64
			why  string
			call func() error
		}{
			{"Get of an absent key", table.ErrNotFound, 0, "the filter answers", func() error { return errorOf(r.Get(absent)) }},
			{"AppendGet with room", nil, 0, "buffers are pooled", func() error { return errorOf(r.AppendGet(dst, present)) }},
			{"AppendFind with room", nil, 0, "buffers are pooled", func() error { _, _, err := r.AppendFind(keyDst, dst, present); return err }},
			{"AppendFind without slices", nil, 1, "key and value are one piece of memory", func() error { _, _, err := r.AppendFind(nil, nil, present); return err }},
			{"AppendGet with options", nil, 0, "options are values", func() error {
				return errorOf(r.With(t.Context()).DontFillCache(true).AppendGet(dst, present))
			}},
			{"Get of a present key", nil, 1, "the value is the caller's", func() error { return errorOf(r.Get(present)) }},
			{"Get from the Cache", nil, 0, "the value is the Cache's", func() error { return errorOf(cached.Get(present)) }},
			{"GetMany of many tables", nil, 20, "parts without Keys share theirs", func() error { return table.GetMany(t.Context(), [][]byte{absent}, parts, nil, nil) }},
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

// Lookups with DontFillCache add nothing to the Cache, but use it, and have the same results.
func TestLookupsDontFillCache(t *testing.T) {
	t.Parallel()
	type get = func(r *table.Reader, dont bool, key []byte) ([]byte, error)
	ways := map[string]get{
		"GetManyOptions": func(r *table.Reader, dont bool, key []byte) ([]byte, error) {
			return getByMany(r, key, &table.GetManyOptions{DontFillCache: dont})
		},
		"IterOptions": func(r *table.Reader, dont bool, key []byte) ([]byte, error) {
			return getByIter(r, key, &table.IterOptions{DontFillCache: dont})
		},
	}
	for name, lookup := range lookups {
		ways[name] = func(r *table.Reader, dont bool, key []byte) ([]byte, error) {
			return lookup(r.DontFillCache(dont), key)
		}
	}
	pairs := numbered(500)
	contents := build(t, withBloom, pairs)
	for name, get := range ways {
		var m table.Metrics
		cache := table.NewCache(1 << 20)
		r := open(t, contents, &table.ReaderOptions{Cache: cache, Metrics: &m})
		for _, dont := range []bool{true, false, true} {
			size, hits := cache.Size(), m.CacheHits.Load()
			for _, p := range pairs {
				if v, err := get(r, dont, p.Key); err != nil || !bytes.Equal(v, p.Value) {
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

// Every lookup fails for a corrupt block and a closed Reader, and leaves the slices unchanged.
func TestLookupErrors(t *testing.T) {
	t.Parallel()
	contents := build(t, oneKeyBlocks, pairsOf("a", "b"))
	contents[0] ^= 1
	r := open(t, contents, nil)
	checkFind(t, "in a sound block", r, []byte("b"), &pairsOf("b")[0])
	it := r.NewIter(nil)
	for _, want := range []error{table.ErrCorrupt, table.ErrClosed} {
		for name, get := range lookups {
			if v, err := get(r, []byte("a")); v != nil || !errors.Is(err, want) {
				t.Errorf("%s = %q, %v; want %v", name, v, err, want)
			}
		}
		l := r.With(t.Context()).DontFillCache(true)
		k, v, err := l.AppendFind([]byte("k"), []byte("v"), []byte("a"))
		if string(k) != "k" || string(v) != "v" || !errors.Is(err, want) {
			t.Errorf("AppendFind = %q, %q, %v; want k, v, %v", k, v, err, want)
		}
		if dst, err := l.AppendGet([]byte("v"), []byte("a")); string(dst) != "v" || !errors.Is(err, want) {
			t.Errorf("AppendGet = %q, %v; want v, %v", dst, err, want)
		}
		if it.First() || !errors.Is(it.Error(), want) || !errors.Is(r.Verify(), want) {
			t.Errorf("First = %v, Verify = %v; want %v", it.Error(), r.Verify(), want)
		}
		r.Close()
	}
	checkError(t, "Close again", r.Close(), table.ErrClosed, "")
}
