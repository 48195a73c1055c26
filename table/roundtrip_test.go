package table_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
	"github.com/sievetable/sievetable/table/merge"
)

// Whatever a Writer accepts, a Reader with the same Comparer, FilterKey and Codecs and otherwise default options
// reads with every operation: here for tables of extreme shapes with different blocks, orders, compressions and
// filters.
func TestWhatIsWrittenIsRead(t *testing.T) {
	long.NoRace(t)
	rng := rand.New(rand.NewPCG(13, 1))
	rounds, large := 1, long.Enabled() && !testing.Short() && !long.Race
	if large {
		rounds = 5
	}
	for _, shape := range shapes {
		if shape.large && !large {
			continue
		}
		for range rounds {
			o := anyOptions(rng)
			if shape.many && o.Comparer == (descendingComparer{}) {
				o.BlockSize = min(o.BlockSize, 64<<10) // comparing long keys with all keys before them takes time
			}
			name := fmt.Sprintf("%s, blocks of %d, restarts every %d, %s, codec %d, concurrency %d, filters %v %v",
				shape.name, o.BlockSize, o.RestartInterval, o.Comparer.Name(), o.Compression.ID(), o.Concurrency, o.FilterPolicy, o.TableFilterPolicy)
			t.Run(name, func(t *testing.T) { checkLaw(t, &o, shape.pairs(o.Comparer)) })
		}
	}
}

// numberedKey returns keys that share all but their last digits.
func numberedKey(length int) func(i int) string {
	prefix := strings.Repeat("k", length-6)
	return func(i int) string { return fmt.Sprintf("%s%06d", prefix, i) }
}

// pairs are the shape's entries, in the order.
func (s shape) pairs(order table.Comparer) []workload.Pair {
	pairs := make([]workload.Pair, s.n)
	for i := range pairs {
		at := i
		if order == (descendingComparer{}) {
			at = s.n - 1 - i
		}
		key := []byte(s.key(at))
		if order.Name() == internalOrder.Name() {
			key = internalkey.Key{UserKey: key, Sequence: uint64(i), Kind: internalkey.Set}.Append(nil)
		}
		pairs[i] = workload.Pair{Key: key, Value: make([]byte, s.size)}
	}
	return pairs
}

// deflate compresses far more than Snappy: bounds of work and memory by the length in the file would be too low for
// it.
type deflate struct{}

func (deflate) ID() byte { return 4 }

func (deflate) Encode(dst, src []byte) []byte {
	out := bytes.NewBuffer(dst)
	w, err := flate.NewWriter(out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(src)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func (deflate) Decode(dst, src []byte, limit int) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	n, err := io.Copy(out, io.LimitReader(flate.NewReader(bytes.NewReader(src)), int64(limit)+1))
	if err == nil && n > int64(limit) {
		err = errors.New("too long")
	}
	return out.Bytes(), err
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func anyOptions(rng *rand.Rand) table.WriterOptions {
	o := table.WriterOptions{
		FilterPolicy:      pick[filter.Policy](rng, nil, filter.NewBloom(10), manyNames{}),
		TableFilterPolicy: pick[filter.TablePolicy](rng, nil, filter.NewTableBloom(10)),
		FilterBaseLg:      pick(rng, 1, 11, 30),
		Properties:        rng.IntN(2) == 0,
		BlockSize:         pick(rng, 1, 4096, 1<<20, 512<<20),
		RestartInterval:   pick(rng, 1, 16, math.MaxInt32),
		Compression:       pick[table.Codec](rng, table.NoCompression, table.Snappy, deflate{}),
		Comparer:          pick[table.Comparer](rng, table.BytewiseComparer, internalOrder, descendingComparer{}),
		Concurrency:       pick(rng, 1, 3),
	}
	if o.Comparer.Name() == internalOrder.Name() {
		o.FilterKey = internalkey.UserKey
	}
	return o
}

// manyNames is a policy with as many names as a Writer accepts, all of them long.
type manyNames struct{ filter.Bloom }

func (manyNames) String() string                 { return "of many names" }
func (manyNames) NewGenerator() filter.Generator { return filter.NewBloom(10).NewGenerator() }

func (manyNames) Aliases() []string {
	var names []string
	for i := range 11 {
		names = append(names, fmt.Sprintf("%s%03d", strings.Repeat("name", 255), i))
	}
	return names
}

// checkLaw writes pairs and reads them in every way.
func checkLaw(t *testing.T, o *table.WriterOptions, pairs []workload.Pair) {
	contents := build(t, o, pairs)
	ro := table.ReaderOptions{Comparer: o.Comparer, FilterKey: o.FilterKey, Codecs: []table.Codec{deflate{}}}
	r := open(t, contents, &ro)
	noError(t, errors.Join(r.FilterErr(), r.Verify()))
	cached := ro
	cached.Cache = table.NewCache(64 << 20)
	lookUp(t, r, pairs)
	lookUp(t, open(t, contents, &cached), pairs)
	if got := forward(t, r.NewIter(&table.IterOptions{ReadAhead: 1 << 20})); workload.Digest(got) != workload.Digest(pairs) {
		t.Error("forward: other entries")
	}
	if got := backward(t, r.NewIter(nil)); workload.Digest(got) != workload.Digest(pairs) {
		t.Error("backward: other entries")
	}
	seek(t, r, pairs)
	if _, err := r.Properties(); (err == nil) != o.Properties || err != nil && !errors.Is(err, table.ErrNotFound) {
		t.Errorf("Properties: %v", err)
	}
	takeApart(t, contents, &ro)
}

// lookUp gets some of the pairs, and absent keys.
func lookUp(t *testing.T, r *table.Reader, pairs []workload.Pair) {
	t.Helper()
	for i := 0; i < len(pairs); i += 1 + len(pairs)/10 {
		p := pairs[i]
		value, err := r.Get(p.Key)
		appended, appendErr := r.AppendGet(nil, p.Key)
		key, found, findErr := r.Find(p.Key)
		noError(t, errors.Join(err, appendErr, findErr))
		if !bytes.Equal(value, p.Value) || !bytes.Equal(appended, p.Value) || !bytes.Equal(found, p.Value) || !bytes.Equal(key, p.Key) {
			t.Fatalf("lookups of key %d find something else", i)
		}
		absent := append(bytes.Clone(p.Key), "~absent.sequence"...)
		checkError(t, "Get of an absent key", errorOf(r.Get(absent)), table.ErrNotFound, "")
	}
}

// seek moves an Iter to some of the pairs, the first and the last one.
func seek(t *testing.T, r *table.Reader, pairs []workload.Pair) {
	t.Helper()
	it := r.NewIter(nil)
	for i := 0; i < len(pairs); i += 1 + len(pairs)/20 {
		if !it.SeekGE(pairs[i].Key) || !bytes.Equal(it.Key(), pairs[i].Key) {
			t.Fatalf("SeekGE of key %d: %v", i, it.Error())
		}
		if it.SeekLT(pairs[i].Key) != (i > 0) || i > 0 && !bytes.Equal(it.Key(), pairs[i-1].Key) {
			t.Fatalf("SeekLT of key %d: %v", i, it.Error())
		}
	}
	if n := len(pairs); it.First() != (n > 0) || n > 0 && !bytes.Equal(it.Key(), pairs[0].Key) ||
		it.Last() != (n > 0) || n > 0 && !bytes.Equal(it.Key(), pairs[n-1].Key) {
		t.Error("First or Last is at another key")
	}
	noError(t, it.Close())
}

// takeApart reads each block that a Layout knows.
func takeApart(t *testing.T, contents []byte, o *table.ReaderOptions) {
	t.Helper()
	l, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), o)
	noError(t, err)
	parts, err := l.Meta()
	noError(t, err)
	_, err = l.Filters()
	noError(t, err)
	for _, e := range l.Data {
		parts = append(parts, layout.MetaindexEntry{Handle: e.Handle})
	}
	for _, p := range parts {
		_, _, err := l.ReadBlock(p.Handle)
		noError(t, err)
	}
}

type tooManyNames struct{ manyNames }

func (tooManyNames) Aliases() []string {
	return append(manyNames{}.Aliases(), strings.Repeat("n", 1000))
}

type longNamed struct{ descendingComparer }

func (longNamed) Name() string { return strings.Repeat("n", 1025) }

// shape describes the number and the contents of a table's entries.
type shape struct {
	name  string
	large bool // takes seconds
	many  bool // bytes of keys
	n     int
	key   func(i int) string
	size  int // of a value
}

// shapes are extreme. Earlier Readers refused them.
var shapes = []shape{
	{name: "nothing", n: 0},
	{name: "the empty key", n: 1, key: func(int) string { return "" }},
	{name: "one key of 8 MB", n: 1, key: func(int) string { return strings.Repeat("k", 8_000_000) }},
	{name: "20 keys of 70 kB", n: 20, key: numberedKey(70_000)},
	{name: "400 keys of 10 kB", n: 400, key: numberedKey(10_000)},
	{large: true, name: "3 keys of 5 MiB", n: 3, key: numberedKey(5 << 20)},
	{large: true, name: "3 keys of 5 MiB that differ at the start", n: 3, key: func(i int) string { return fmt.Sprint(i) + strings.Repeat("k", 5<<20) }},
	{large: true, name: "40 keys of 1 MiB", n: 40, key: numberedKey(1 << 20), many: true},
	{large: true, name: "3,000 keys of 2 kB", n: 3000, key: numberedKey(2042), many: true},
	{large: true, name: "keys that grow", n: 100, key: func(i int) string { return strings.Repeat("k", 1000*i) }},
	{large: true, name: "a key of one byte, and others of 2 MiB", n: 3, key: func(i int) string { return "k" + strings.Repeat("l", min(i, 1)*2<<20) + fmt.Sprint(i) }},
	{large: true, name: "values of 3 MB", n: 5, key: numberedKey(10), size: 3_000_000},
	{large: true, name: "30,000 short keys", n: 30_000, key: numberedKey(8)},
}

// Empty keys and values of present entries are not nil, however they are written and looked up, even with a nil key.
func TestEmptyIsNotNil(t *testing.T) {
	t.Parallel()
	empties := []workload.Pair{{Value: []byte{}}, {Key: []byte("a"), Value: []byte{}}, {Key: []byte("b"), Value: []byte("1")}, {Key: []byte("c"), Value: []byte{}}}
	bloom := filter.NewBloom(10)
	for _, pairs := range [][]workload.Pair{empties, empties[:1], empties[1:2]} {
		for _, o := range []table.WriterOptions{
			{}, {Compression: table.NoCompression}, {BlockSize: 1}, {BlockSize: 1, RestartInterval: 1},
			{FilterPolicy: bloom}, {FilterPolicy: bloom, FilterKey: wholeKey}, {TableFilterPolicy: filter.NewTableBloom(10), FilterPolicy: bloom},
		} {
			for _, cache := range []*table.Cache{nil, table.NewCache(0), table.NewCache(1 << 20)} {
				for _, internal := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d pairs, %+v, cache %t, internal keys %t", len(pairs), o, cache != nil, internal), func(t *testing.T) {
						checkNotNil(t, pairs, o, cache, internal)
					})
				}
			}
		}
	}
}

func checkNotNil(t *testing.T, pairs []workload.Pair, o table.WriterOptions, cache *table.Cache, internal bool) {
	ro := &table.ReaderOptions{Cache: cache, FilterKey: o.FilterKey}
	stored := slices.Clone(pairs)
	if internal {
		o.Comparer, ro.Comparer = internalOrder, internalOrder
		for i, p := range pairs {
			stored[i].Key = internalKey(string(p.Key), 1, internalkey.Set)
		}
	}
	r := open(t, build(t, &o, stored), ro)
	for range 3 { // the Cache admits a block that is read again
		checkLookupsNotNil(t, r, stored)
		checkItersNotNil(t, r, internal, len(stored))
	}
}

// checkLookupsNotNil looks up each pair in all ways, an empty key also as nil.
func checkLookupsNotNil(t *testing.T, r *table.Reader, pairs []workload.Pair) {
	t.Helper()
	for _, p := range pairs {
		for _, k := range [][]byte{append([]byte{}, p.Key...), append([]byte(nil), p.Key...)} {
			for way, get := range lookups {
				for _, r := range []*table.Reader{r, r.With(t.Context())} {
					if value, err := get(r, k); err != nil || value == nil || !bytes.Equal(value, p.Value) {
						t.Errorf("%s(%#v) = %#v, %v", way, k, value, err)
					}
				}
			}
			for way, find := range map[string]func(key []byte) (k, value []byte, err error){
				"Find": r.Find, "FindGE": r.FindGE,
				"AppendFind": func(key []byte) ([]byte, []byte, error) { return r.AppendFind(nil, nil, key) },
			} {
				if key, _, err := find(k); err != nil || key == nil || !bytes.Equal(key, p.Key) {
					t.Errorf("%s(%#v) finds %#v, %v", way, k, key, err)
				}
			}
		}
	}
}

// checkItersNotNil moves iterators of all types to each of n entries, in all ways.
func checkItersNotNil(t *testing.T, r *table.Reader, internal bool, n int) {
	t.Helper()
	iters := map[string]merge.Iterator{"Iter": r.NewIter(nil), "merge.Iter": merge.New(nil, r.NewIter(nil))}
	if internal {
		iters["merge.Iter"] = merge.New(internalOrder, r.NewIter(nil))
		iters["SnapshotIter"] = merge.NewSnapshotIter(table.BytewiseComparer, merge.New(internalOrder, r.NewIter(nil)), internalkey.MaxSequence)
	}
	for kind, it := range iters {
		check := func(way string, moved bool) {
			if !moved || it.Key() == nil || it.Value() == nil {
				t.Errorf("%s after %s: %t, at %#v, %#v", kind, way, moved, it.Key(), it.Value())
			}
		}
		for move, next := range map[string]func() bool{"First": it.First, "Last": it.Last} {
			step, count := it.Next, 0
			if move == "Last" {
				step = it.Prev
			}
			for ok := next(); ok; ok = step() {
				count++
				check(move, true)
				key := append([]byte(nil), it.Key()...)
				if kind == "SnapshotIter" || !internal {
					check("SeekLT", it.SeekLT(append(bytes.Clone(key), 0)))
					check("SeekGE", it.SeekGE(key))
				}
			}
			if count != n {
				t.Fatalf("%s from %s has %d entries, want %d", kind, move, count, n)
			}
		}
	}
	for e, err := range r.All(nil) {
		if e.Key == nil || e.Value == nil || err != nil {
			t.Errorf("All has %#v, %v", e, err)
		}
	}
}
