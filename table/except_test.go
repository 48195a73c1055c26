package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// except returns the table with the keys as exceptions.
func except(r *table.Reader, keys ...[]byte) (contents []byte, added int, err error) {
	var out bytes.Buffer
	added, err = r.Except(&out, neverOf(keys...))
	return out.Bytes(), added, err
}

// Exceptions that come after the fact, in any order and in several steps, make the table that a Writer makes with the
// same list: whatever its options, keys and order are.
func TestExceptIsNever(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	exceptions := 0
	for seed := range uint64(300) {
		c := randomNever(seed)
		rng := rand.New(rand.NewPCG(23, seed))
		plain := build(t, &c.o, c.pairs)
		c.o.Never = neverOf(c.never...)
		want := build(t, &c.o, c.pairs)
		keys := slices.Concat(c.never, c.never[:len(c.never)/2])
		rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		steps := [][][]byte{keys[:len(keys)/3], keys[len(keys)/3:], keys}
		got, sum := plain, 0
		for _, step := range steps {
			r := open(t, got, &c.r)
			contents, added, err := except(r, step...)
			if err != nil {
				t.Fatalf("%s: %v", c.description, err)
			}
			got, sum = contents, sum+added
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%s: another table than with Never", c.description)
		}
		r := open(t, got, &c.r)
		if n := r.Filters().Never.Len(); n != sum {
			t.Errorf("%s: %d exceptions, and %d were added", c.description, n, sum)
		}
		exceptions += sum
		checkNeverLookups(t, &c, r, open(t, plain, &c.r))
	}
	if exceptions < 500 {
		t.Errorf("%d exceptions in all tables, want many: the test shows nothing", exceptions)
	}
}

// No key and no stored prefix becomes an exception, and every other key of a random list that the filter reports does.
// All else stays.
func TestExceptRefusesKeysAndPrefixes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	refused, added := 0, 0
	for seed := range uint64(400) {
		c := randomPrefixes(seed)
		c.o.TableFilterPolicy = filter.NewTableBloom(1)
		rng := rand.New(rand.NewPCG(24, seed))
		contents := build(t, &c.o, c.pairs)
		stored, users := map[string]bool{}, map[string]bool{}
		for _, p := range c.pairs {
			users[string(c.user(p.Key))] = true
			if n := c.o.FilterPrefix.PrefixLen(c.user(p.Key)); n > 0 {
				stored[string(c.user(p.Key)[:n])] = true
			}
		}
		var good [][]byte
		for range 40 {
			user := pathKey(rng)
			key := c.searchKey(user)
			r := open(t, contents, &c.r)
			_, n, err := except(r, key)
			wrong := users[string(user)] || stored[string(user)]
			couldBePrefix := len(user) > 0 && c.o.FilterPrefix.PrefixLen(user) == len(user)
			switch {
			case wrong && !errors.Is(err, table.ErrNever):
				t.Errorf("%s: %q: %v, want ErrNever: a key %v, a prefix %v", c.name, user, err, users[string(user)], stored[string(user)])
			case !wrong && err != nil && !(couldBePrefix && errors.Is(err, table.ErrNever) && c.o.Comparer.Name() == "reverse"):
				t.Errorf("%s: %q: %v, want no error", c.name, user, err)
			case err == nil:
				good, added = append(good, user), added+n
			default:
				refused++
			}
		}
		c.checkExcept(t, contents, good, users, stored)
	}
	if refused < 1000 || added < 1000 {
		t.Errorf("%d keys were refused, and %d added, want many of both", refused, added)
	}
}

// searchKey is the key to look up a user key by.
func (c *prefixCase) searchKey(user []byte) []byte {
	if c.o.Comparer.Name() == internalOrder.Name() {
		return table.SearchKey(nil, user, table.MaxSequence)
	}
	return user
}

// checkExcept checks what lookups in the table with the exceptions say.
func (c *prefixCase) checkExcept(t *testing.T, contents []byte, good [][]byte, users, stored map[string]bool) {
	t.Helper()
	var keys [][]byte
	isGood := map[string]bool{}
	for _, user := range good {
		keys, isGood[string(user)] = append(keys, c.searchKey(user)), true
	}
	before := open(t, contents, &c.r)
	excepted, _, err := except(before, keys...)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	r := open(t, excepted, &c.r)
	if err := errors.Join(r.Verify(), r.FilterErr()); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	if diff := diffPairs(c.pairs, forward(t, r.NewIter(nil))); diff != "" {
		t.Errorf("%s: other entries (-want +got):\n%s", c.name, diff)
	}
	filters := r.Filters()
	for _, user := range allPaths() {
		want := mayContain(before, c.searchKey(user)) && !isGood[string(user)]
		if got := mayContain(r, c.searchKey(user)); got != want {
			t.Errorf("%s: MayContain(%q) = %v, want %v; good: %v", c.name, user, got, want, isGood[string(user)])
		}
		if reported := filters.Table.Contains(user) && !filters.Never.Contains(user); (users[string(user)] || stored[string(user)]) && !reported {
			t.Errorf("%s: the filter rules out %q, a key or a prefix", c.name, user)
		}
	}
}

// allPaths are the keys of up to 4 bytes of pathKey.
func allPaths() (all [][]byte) {
	all = [][]byte{{}}
	for first, length := 0, 0; length < 4; length++ {
		for end := len(all); first < end; first++ {
			for _, b := range []byte("ab/\xff") {
				all = append(all, append(bytes.Clone(all[first]), b))
			}
		}
	}
	return all
}

// Where the keys cannot be seen, the caller knows that none is on the list. What can be a prefix is refused.
func TestExceptOfAFilter(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(1), FilterPrefix: filter.PrefixUntil("/")}
	var pairs []workload.Pair
	for i := range 500 {
		pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "dir%04d/key", i)})
	}
	r := open(t, build(t, &o, pairs), nil)
	var good [][]byte
	for i := range 100 {
		good = append(good, fmt.Appendf(nil, "dir%04d/other", i))
	}
	contents, added, err := except(r, good...)
	if err != nil || added == 0 {
		t.Fatalf("%d added, %v", added, err)
	}
	excepted := open(t, contents, nil)
	for _, p := range pairs {
		if !mayContain(excepted, p.Key) || !mayContain(excepted, p.Key[:8]) {
			t.Errorf("%s or its prefix is denied", p.Key)
		}
	}
	if contents, _, err := except(excepted, good[0], []byte("dir0007/")); !errors.Is(err, table.ErrNever) || !strings.Contains(err.Error(), `"dir0007/" may be a prefix`) || len(contents) > 0 {
		t.Errorf("%d bytes, %v, want an error that names the prefix", len(contents), err)
	}
	none := open(t, build(t, &o, nil), nil)
	if contents, added, err := except(none, []byte("a")); added != 0 || err != nil || !bytes.Equal(contents, build(t, &o, nil)) {
		t.Errorf("a filter without keys: %d added, %v", added, err)
	}
}

// Any version of a user key is a key of the table.
func TestExceptWithInternalKeys(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), Comparer: internalOrder}
	contents := build(t, &o, []workload.Pair{{Key: internalKey("a", 5, table.KindDelete)}, {Key: internalKey("b", 5, table.KindSet)}})
	r := open(t, contents, &table.ReaderOptions{Comparer: internalOrder})
	for _, user := range []string{"a", "b"} {
		for _, sequence := range []uint64{0, 5, 9} {
			if _, _, err := except(r, internalKey(user, sequence, table.KindSet)); !errors.Is(err, table.ErrNever) {
				t.Errorf("%s at %d: %v, want ErrNever", user, sequence, err)
			}
		}
	}
}

// What Except needs is said.
func TestExceptErrors(t *testing.T) {
	t.Parallel()
	whole := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}
	prefixes := whole
	prefixes.FilterPrefix = twoParts{}
	renamedFilter := table.WriterOptions{TableFilterPolicy: renamedPolicy{filter.NewTableBloom(10)}}
	internal := whole
	internal.Comparer = internalOrder
	for name, tt := range map[string]struct {
		o    table.WriterOptions
		r    table.ReaderOptions
		keys iter.Seq2[[]byte, error]
		want string
	}{
		"a key":               {o: whole, keys: neverOf([]byte("a"), []byte("key")), want: `key is in Never: "key" is in the table`},
		"no filter":           {o: table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, keys: neverOf([]byte("a")), want: "there is no filter of the whole table"},
		"an unknown filter":   {o: renamedFilter, keys: neverOf(), want: "no policy of that name in the options"},
		"an ignored filter":   {o: whole, r: table.ReaderOptions{IgnoreFilter: true}, keys: neverOf(), want: "there is no filter of the whole table"},
		"an unknown Prefixer": {o: prefixes, keys: neverOf(), want: `the filters hold prefixes by "test.twoParts"`},
		"a list that fails":   {o: whole, keys: func(yield func([]byte, error) bool) { yield(nil, errBroken) }, want: errBroken.Error()},
		"no filter key":       {o: internal, r: table.ReaderOptions{Comparer: internalOrder}, keys: neverOf([]byte("short")), want: `key "short" has no filter key`},
		"an own FilterKey":    {o: whole, r: table.ReaderOptions{FilterKey: bytes.ToUpper}, keys: neverOf(), want: "a FilterKey of your own cannot be checked"},
		"any order":           {o: whole, r: table.ReaderOptions{Comparer: table.AnyOrder}, keys: neverOf(), want: "AnyOrder"},
	} {
		pairs := pairsOf("key", "other")
		if tt.o.Comparer != nil {
			pairs = []workload.Pair{{Key: internalKey("key", 1, table.KindSet)}}
		}
		var out bytes.Buffer
		added, err := open(t, build(t, &tt.o, pairs), &tt.r).Except(&out, tt.keys)
		if err == nil || !strings.Contains(err.Error(), tt.want) || added != 0 || out.Len() > 0 {
			t.Errorf("%s: %d added, %d bytes, %v, want %q in the error", name, added, out.Len(), err, tt.want)
		}
	}
}

// A renamedPolicy has a name that no Reader knows.
type renamedPolicy struct{ filter.TablePolicy }

func (renamedPolicy) Name() string { return "renamed" }

// Whatever fails is an error: the output, a source that has become shorter, or a closed one.
func TestExceptThatFails(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, numbered(5000))
	if _, err := open(t, contents, nil).Except(&failingWriter{len(contents) / 2, errBroken}, neverOf()); !errors.Is(err, errBroken) {
		t.Errorf("a full disk: %v", err)
	}
	short := len(contents)
	r, err := table.NewReader(readAtFunc(func(p []byte, off int64) (int, error) {
		return bytes.NewReader(contents[:short]).ReadAt(p, off)
	}), int64(len(contents)), nil)
	noError(t, err)
	for _, short = range []int{len(contents) - 60, len(contents) / 2} {
		if _, err := r.Except(io.Discard, neverOf()); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a source of %d bytes: %v, want io.ErrUnexpectedEOF", short, err)
		}
	}
	r.Close()
	if _, err := r.Except(io.Discard, neverOf()); !errors.Is(err, table.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A mapped file is read like any other.
func TestExceptOfAMappedFile(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(2)}
	name := filepath.Join(t.TempDir(), "mapped.ldb")
	noError(t, os.WriteFile(name, build(t, &o, numbered(100)), 0o666))
	r, err := table.Open(name, &table.ReaderOptions{Mapped: true})
	noError(t, err)
	var good [][]byte
	for i := range 100 {
		good = append(good, fmt.Appendf(nil, "other%03d", i))
	}
	o.Never = neverOf(good...)
	got, _, err := except(r, good...)
	if err != nil || !bytes.Equal(got, build(t, &o, numbered(100))) {
		t.Errorf("%v, or another table than with Never", err)
	}
	r.Close()
	if _, _, err := except(r, good...); !errors.Is(err, table.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// In tables of other engines the index can lie before meta blocks.
func TestExceptOfOtherLayouts(t *testing.T) {
	t.Parallel()
	var f rawtable.File
	data := f.Block(rawtable.Entries("a", "1", "b", "2"))
	index := f.Block(rawtable.Entries("c", data))
	old := f.Block(rawtable.Entries("x", ""))
	whole := f.Block(strings.Repeat("\xff", 64) + "\x01\x01\x00\x00\x00") // has every key
	meta := f.Block(rawtable.Entries("fullfilter.rocksdb.BuiltinBloomFilter", whole, "other.engine", f.Block("other"), "sievetable.never", old))
	contents := f.Footer(meta, index)
	got, added, err := except(open(t, contents, nil), []byte("y"), []byte("x"))
	if err != nil || added != 1 {
		t.Fatalf("%d added, %v", added, err)
	}
	r := open(t, got, nil)
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	if diff := gocmp.Diff(map[string]bool{"a": true, "b": true, "bb": true, "x": false, "y": false}, map[string]bool{
		"a": mayContain(r, []byte("a")), "b": mayContain(r, []byte("b")), "bb": mayContain(r, []byte("bb")),
		"x": mayContain(r, []byte("x")), "y": mayContain(r, []byte("y")),
	}); diff != "" {
		t.Errorf("MayContain (-want +got):\n%s", diff)
	}
	l, err := r.Layout()
	noError(t, err)
	m, err := l.Meta()
	if err != nil || len(m) != 3 || m[1].Name != "other.engine" {
		t.Errorf("%v, %v", m, err)
	}
}

// Exceptions of a forged block, which share nearly all of their bytes, do not fill the memory.
func TestExceptWithLongExceptions(t *testing.T) {
	t.Parallel()
	var f rawtable.File
	data := f.Block(rawtable.Entries("a", "value"))
	whole := f.Block(strings.Repeat("\xff", 64) + "\x01\x01\x00\x00\x00")
	const shared, n = 1 << 16, 1 << 12
	never := []byte(rawtable.Entry(0, strings.Repeat("k", shared), ""))
	for i := range n {
		never = append(never, rawtable.Entry(shared, fmt.Sprintf("%04d", i), "")...)
	}
	meta := f.Block(rawtable.Entries("fullfilter.rocksdb.BuiltinBloomFilter", whole, "sievetable.never", f.Block(string(never)+rawtable.Restarts(0))))
	_, _, err := except(open(t, f.Footer(meta, f.Block(rawtable.Entries("a", data))), nil), []byte("0"))
	if err == nil || !strings.Contains(err.Error(), "over 320 times as long as their block") {
		t.Errorf("%v, want an error", err)
	}
}

// Except looks keys up with the context of its Reader, and fills the Cache only if its Reader does.
func TestExceptLooksUpAsItsReader(t *testing.T) {
	t.Parallel()
	data := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(1)}, numbered(1000))
	c := table.NewCache(1 << 20)
	r, _ := openStore(t, data, &table.ReaderOptions{Cache: c})
	absent := func(yield func([]byte, error) bool) {
		for i := range 100 {
			if !yield(fmt.Appendf(nil, "key%06dx", i), nil) {
				return
			}
		}
	}
	if n, err := r.DontFillCache(true).Except(io.Discard, absent); n == 0 || err != nil || c.Size() > 0 {
		t.Errorf("Except = %d, %v, with %d bytes in the Cache; want some, nil and 0", n, err, c.Size())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.With(ctx).Except(io.Discard, absent); !errors.Is(err, context.Canceled) {
		t.Errorf("Except with a context that is done: %v", err)
	}
}
