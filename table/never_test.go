package table_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
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
)

// neverOf yields keys in one buffer, like a list that is read from a file.
func neverOf(keys ...[]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var buf []byte
		for _, key := range keys {
			if buf = append(buf[:0], key...); !yield(buf, nil) {
				return
			}
		}
	}
}

// A neverCase is a table with exceptions, and the options to read it.
type neverCase struct {
	o           table.WriterOptions
	r           table.ReaderOptions
	pairs       []workload.Pair
	never       [][]byte // on the list
	others      [][]byte // neither on the list nor in the table
	internal    bool
	bySlices    bool
	description string
}

// randomNever returns a case of random options, orders and keys.
func randomNever(seed uint64) neverCase {
	rng := rand.New(rand.NewPCG(21, seed))
	order := []table.Comparer{table.BytewiseComparer, descendingComparer{}, internalOrder}[rng.IntN(3)]
	internal := order.Name() == internalOrder.Name()
	c := neverCase{internal: internal, bySlices: rng.IntN(3) == 0}
	c.r = table.ReaderOptions{Comparer: order, TailSize: rng.IntN(2) * 1000, Metrics: new(table.Metrics)}
	c.o = table.WriterOptions{
		Comparer: order, TableFilterPolicy: filter.NewTableBloom(1 + rng.IntN(8)), BlockSize: 1 + rng.IntN(400),
		FilterOnly: rng.IntN(2) == 0, Properties: rng.IntN(2) == 0, DataDigest: rng.IntN(2) == 0, Concurrency: 1 + rng.IntN(2),
	}
	if !c.o.FilterOnly && rng.IntN(2) == 0 {
		c.o.FilterPolicy = filter.NewBloom(10)
	}
	c.description = fmt.Sprintf("seed %d: %s, filter only: %v", seed, order.Name(), c.o.FilterOnly)
	for i := range 1 + rng.IntN(300) {
		user := []byte(strings.Repeat("k", rng.IntN(3)) + fmt.Sprint(i*7))
		key := user
		if internal {
			key = internalKey(string(user), uint64(1+rng.IntN(9)), internalkey.Set)
		}
		switch rng.IntN(3) {
		case 0:
			p := workload.Pair{Key: key}
			if !c.o.FilterOnly {
				p.Value = user
			}
			c.pairs = append(c.pairs, p)
		case 1:
			c.never = append(c.never, key)
		default:
			c.others = append(c.others, key)
		}
	}
	slices.SortFunc(c.pairs, func(a, b workload.Pair) int { return order.Compare(a.Key, b.Key) })
	slices.SortFunc(c.never, order.Compare)
	return c
}

func (c *neverCase) open(t *testing.T, o *table.WriterOptions) *table.Reader {
	contents := build(t, o, c.pairs)
	if !c.bySlices {
		return open(t, contents, &c.r)
	}
	return newReader(t, table.Bytes(contents), len(contents), &c.r)
}

// With any options and in any order, MayContain returns false for all keys of the list, and Never changes no other
// results.
func TestNeverIsTheOnlyDifference(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	exceptions := 0
	for seed := range uint64(300) {
		c := randomNever(seed)
		plain := c.open(t, &c.o)
		c.o.Never = neverOf(c.never...)
		r := c.open(t, &c.o)
		checkSound(t, c.description, r)
		var want [][]byte
		for _, key := range c.never {
			if mayContain(r, key) {
				t.Errorf("%s: MayContain(%q) = true, but it is on the list", c.description, key)
			}
			if f := plain.Filters().Table; f != nil && f.Contains(c.user(key)) {
				want = append(want, c.user(key))
			}
		}
		checkExceptions(t, c.description, r.Filters().Never, want)
		exceptions += len(want)
		checkNeverLookups(t, &c, r, plain)
	}
	if exceptions < 500 {
		t.Errorf("%d exceptions in all tables, want many: the test shows nothing", exceptions)
	}
}

// checkExceptions compares the exceptions with the expected keys.
func checkExceptions(t *testing.T, name string, got *layout.Exceptions, want [][]byte) {
	t.Helper()
	slices.SortFunc(want, bytes.Compare)
	want = slices.CompactFunc(want, bytes.Equal)
	var keys [][]byte
	for key := range got.All() {
		keys = append(keys, bytes.Clone(key))
	}
	checkDiff(t, name+": exceptions", want, keys)
	checkDiff(t, name+": number of exceptions", len(want), got.Len())
}

// checkNeverLookups compares a table with one that has no exceptions.
func checkNeverLookups(t *testing.T, c *neverCase, r, plain *table.Reader) {
	t.Helper()
	for _, key := range c.others {
		if got, want := mayContain(r, key), mayContain(plain, key); got != want {
			t.Errorf("%s: MayContain(%q) = %v, want %v, as without exceptions", c.description, key, got, want)
		}
	}
	var keys [][]byte
	for _, p := range c.pairs {
		keys = append(keys, p.Key)
		if !mayContain(r, p.Key) {
			t.Errorf("%s: MayContain(%q) = false, but it is in the table", c.description, p.Key)
		}
		if !c.o.FilterOnly {
			checkGet(t, r, p.Key, p.Value)
		}
	}
	read := c.r.Metrics.BlocksRead.Load()
	for _, key := range c.never {
		if _, err := r.Get(key); err != table.ErrNotFound {
			t.Errorf("%s: Get(%q) = %v, want ErrNotFound", c.description, key, err)
		}
		if _, _, err := r.Find(key); err != table.ErrNotFound {
			t.Errorf("%s: Find(%q) = %v, want ErrNotFound", c.description, key, err)
		}
	}
	checkGetMany(t, c.description, r, c.never, nil)
	if n := c.r.Metrics.BlocksRead.Load() - read; n > 0 {
		t.Errorf("%s: %d data blocks read for keys of the list", c.description, n)
	}
	checkGetMany(t, c.description, r, slices.Concat(keys, c.never), nil)
}

// If a list has no exceptions, the table has an empty block of them. A table without keys has no such block.
func TestNeverLeavesABlock(t *testing.T) {
	t.Parallel()
	some := []workload.Pair{{Key: []byte("a")}, {Key: []byte("zz")}}
	for _, tt := range []struct {
		name  string
		pairs []workload.Pair
		never iter.Seq2[[]byte, error]
		want  bool
	}{
		{"no list", some, nil, false},
		{"an empty list", some, neverOf(), true},
		{"a key that the filter rules out", some, neverOf([]byte("zebra")), true},
		{"no keys in the table", nil, neverOf([]byte("zebra")), false},
	} {
		o := &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(40), Never: tt.never}
		r := open(t, build(t, o, tt.pairs), nil)
		l, err := r.Layout()
		noError(t, err)
		meta, err := l.Meta()
		noError(t, err)
		got := slices.ContainsFunc(meta, func(e layout.MetaindexEntry) bool { return e.Name == "sievetable.never" })
		if f := r.Filters(); got != tt.want || f.Never != nil || (f.NeverEntry.Name != "") != tt.want {
			t.Errorf("%s: there is a block: %v, want %v; Filters returns %d exceptions at %v", tt.name, got, tt.want, f.Never.Len(), f.NeverEntry)
		}
		checkSound(t, tt.name, r)
	}
}

// If a Writer cannot use the list, it returns an error, and never writes a table without it.
func TestNeverErrors(t *testing.T) {
	t.Parallel()
	bloom := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}
	internal := bloom
	internal.Comparer = internalOrder
	failing := func(yield func([]byte, error) bool) { yield(nil, errBroken) }
	calls := 0
	changing := func(yield func([]byte, error) bool) {
		if calls++; yield([]byte{'a' + byte(calls)}, nil) {
			yield([]byte("z"), nil)
		}
	}
	shrinking := func(yield func([]byte, error) bool) {
		if calls++; calls == 1 {
			_ = yield([]byte("aa"), nil) && yield([]byte("m"), nil) && yield([]byte("z"), nil)
		}
	}
	growing := func(yield func([]byte, error) bool) {
		last := "z"
		if calls++; calls == 2 {
			last = "x"
		}
		_ = yield([]byte("aa"), nil) && yield([]byte(last), nil)
	}
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		never iter.Seq2[[]byte, error]
		keys  []string
		want  string
	}{
		{"without a table filter", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, neverOf(), nil, "Never needs a TableFilterPolicy"},
		{"a policy without a generator", table.WriterOptions{TableFilterPolicy: noGenerator{}}, neverOf(), nil, "returns no TableGenerator"},
		{"any order", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), Comparer: table.AnyOrder}, neverOf(), nil, "use a Comparer"},
		{"the first key", bloom, neverOf([]byte("a"), []byte("z")), []string{"a", "b", "c"}, `key cannot be an exception: "a" is appended, and Never has it as "a"`},
		{"a key in the middle", bloom, neverOf([]byte("aa"), []byte("b"), []byte("z")), []string{"a", "b", "c"}, `"b" is appended`},
		{"the last key", bloom, neverOf([]byte("aa"), []byte("bb"), []byte("c")), []string{"a", "b", "c"}, `"c" is appended`},
		{"the empty key", bloom, neverOf(nil), []string{"", "b"}, `"" is appended`},
		{"an older version", internal, neverOf(internalKey("a", 2, internalkey.Set)), []string{string(internalKey("a", 5, internalkey.Set)), string(internalKey("b", 1, internalkey.Set))}, "is appended, and Never has it as"},
		{"a newer version", internal, neverOf(internalKey("b", 2, internalkey.Set)), []string{string(internalKey("a", 5, internalkey.Set)), string(internalKey("b", 1, internalkey.Set))}, "is appended, and Never has it as"},
		{"no filter key", internal, neverOf([]byte("short")), []string{string(internalKey("a", 5, internalkey.Set))}, `Never has key "short", which has no filter key`},
		{"no filter", internal, neverOf(internalKey("z", 1, internalkey.Set)), []string{"short"}, "no key of the table has a filter key"},
		{"out of order", bloom, neverOf([]byte("d"), []byte("b")), []string{"a", "e"}, `Never has "b" after "d"`},
		{"out of order behind all keys", bloom, neverOf([]byte("d"), []byte("b")), []string{"a"}, `Never has "b" after "d"`},
		{"an error", bloom, failing, []string{"a"}, errBroken.Error()},
		{"other keys the second time", bloom, changing, []string{"a", "x"}, "yielded other keys the second time"},
		{"a key of the table the second time", bloom, growing, []string{"a", "x"}, "yielded other keys the second time"},
		{"no keys the second time", bloom, shrinking, []string{"a", "x"}, "yielded other keys the second time"},
	} {
		calls = 0
		tt.o.Never = tt.never
		w, err := table.NewWriter(io.Discard, &tt.o)
		if err == nil {
			err = cmp.Or(appendAll(w, pairsOf(tt.keys...)), w.Close())
		}
		checkError(t, tt.name, err, nil, tt.want)
	}
}

// The list's iterator is stopped however the Writer ends, and not started without keys.
func TestNeverEndsWithTheWriter(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*table.Writer) error{"Close": (*table.Writer).Close, "Abort": (*table.Writer).Abort} {
		for _, keys := range []int{0, 1} {
			begun, ended := 0, 0
			o := &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), Never: func(yield func([]byte, error) bool) {
				begun++
				defer func() { ended++ }()
				_ = yield([]byte("m"), nil) && yield([]byte("n"), nil)
			}}
			w := newWriter(t, io.Discard, o)
			noError(t, appendAll(w, pairsOf("a")[:keys]))
			if err := end(w); err != nil || begun != ended || (begun > 0) != (keys > 0) {
				t.Errorf("%s after %d keys: %v; begun %d times, and ended %d times", name, keys, err, begun, ended)
			}
		}
	}
}
