package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// except returns the table with the keys as exceptions.
func except(r *table.Reader, keys ...[]byte) (contents []byte, added int, err error) {
	var out bytes.Buffer
	added, err = r.Except(&out, neverOf(keys...))
	return out.Bytes(), added, err
}

// Except, with keys in any order and in several steps, writes the same table as a Writer with the same list in
// Never, for any options, keys and order. A mapped file is read like any other.
func TestExceptIsNever(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	exceptions := 0
	for seed := range uint64(300) {
		c := randomNever(seed)
		c.r.Mapped = c.bySlices
		rng := rand.New(rand.NewPCG(23, seed))
		plain := build(t, &c.o, c.pairs)
		c.o.Never = neverOf(c.never...)
		want := build(t, &c.o, c.pairs)
		keys := slices.Concat(c.never, c.never[:len(c.never)/2])
		for i, key := range keys {
			keys[i] = c.user(key)
		}
		rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		steps := [][][]byte{keys[:len(keys)/3], keys[len(keys)/3:], keys}
		got, sum := plain, 0
		for _, step := range steps {
			r := openFile(t, got, &c.r)
			contents, added, err := except(r, step...)
			if err = errors.Join(err, r.Close()); err != nil {
				t.Fatalf("%s: %v", c.description, err)
			}
			got, sum = contents, sum+added
			checkError(t, "after Close", errorOf(r.Except(io.Discard, neverOf(step...))), table.ErrClosed, "")
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

// No key and no stored prefix becomes an exception, but every other key of a random list that passes the filter
// does. The rest of the table is unchanged.
func TestExceptRefusesKeysAndPrefixes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	refused, added := 0, 0
	for seed := range uint64(400) {
		c := randomPrefixes(seed)
		c.o.TableFilterPolicy = filter.NewTableBloom(1)
		rng := rand.New(rand.NewPCG(24, seed))
		contents := build(t, &c.o, c.pairs)
		stored := map[string]bool{} // keys and prefixes
		for _, p := range c.pairs {
			user := c.user(p.Key)
			stored[string(user)] = true
			if n := c.o.FilterPrefix.PrefixLen(user); n > 0 {
				stored[string(user[:n])] = true
			}
		}
		var good [][]byte
		for range 40 {
			user := pathKey(rng)
			r := open(t, contents, &c.r)
			n, err := r.Except(io.Discard, neverOf(user))
			couldBePrefix := len(user) > 0 && c.o.FilterPrefix.PrefixLen(user) == len(user)
			switch {
			case stored[string(user)] && !errors.Is(err, table.ErrNever):
				t.Errorf("%s: %q: %v, want ErrNever of a key or prefix", c.name, user, err)
			case !stored[string(user)] && err != nil &&
				!(couldBePrefix && errors.Is(err, table.ErrNever) && c.o.Comparer == (descendingComparer{})):
				t.Errorf("%s: %q: %v, want no error", c.name, user, err)
			case err == nil:
				good, added = append(good, user), added+n
			default:
				refused++
			}
		}
		c.checkExcept(t, contents, good, stored)
	}
	if refused < 1000 || added < 1000 {
		t.Errorf("%d keys were refused, and %d added, want many of both", refused, added)
	}
}

// searchKey returns the key with which to look up a user key.
func (c *prefixCase) searchKey(user []byte) []byte {
	if c.o.Comparer.Name() == internalOrder.Name() {
		return internalkey.SearchKey(nil, user, internalkey.MaxSequence)
	}
	return user
}

// checkExcept checks lookups in the table with the exceptions.
func (c *prefixCase) checkExcept(t *testing.T, contents []byte, good [][]byte, stored map[string]bool) {
	t.Helper()
	before := open(t, contents, &c.r)
	excepted, _, err := except(before, good...)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	r := open(t, excepted, &c.r)
	checkSound(t, c.name, r)
	checkPairs(t, c.name, c.pairs, forward(t, r.NewIter(nil)))
	filters := r.Filters()
	for _, user := range allPaths() {
		isGood := slices.ContainsFunc(good, func(k []byte) bool { return bytes.Equal(k, user) })
		want := mayContain(before, c.searchKey(user)) && !isGood
		if got := mayContain(r, c.searchKey(user)); got != want {
			t.Errorf("%s: MayContain(%q) = %v, want %v; an exception: %v", c.name, user, got, want, isGood)
		}
		if reported := filters.Table.Contains(user) && !filters.Never.Contains(user); stored[string(user)] && !reported {
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

// In a filter-only table, the caller must know that no key is on the list. A key that may be a prefix is refused.
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
	contents, _, err = except(excepted, good[0], []byte("dir0007/"))
	checkError(t, "a prefix", err, table.ErrNever, `"dir0007/" may be a prefix`)
	if len(contents) > 0 {
		t.Errorf("%d bytes, though a key is a prefix", len(contents))
	}
	none := open(t, build(t, &o, nil), nil)
	if contents, added, err := except(none, []byte("a")); added != 0 || err != nil || !bytes.Equal(contents, build(t, &o, nil)) {
		t.Errorf("a filter without keys: %d added, %v", added, err)
	}
	_, _, err = except(open(t, build(t, &o, pairs), &table.ReaderOptions{IgnoreFilter: true}), good[0])
	checkError(t, "an ignored filter", err, nil, "exceptions belong to a table filter, and there is none")
}

// Errors of Except say what is missing.
func TestExceptErrors(t *testing.T) {
	t.Parallel()
	whole := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}
	prefixes := whole
	prefixes.FilterPrefix = twoParts{}
	renamedFilter := table.WriterOptions{TableFilterPolicy: renamed{filter.NewTableBloom(10)}}
	internal := whole
	internal.Comparer = internalOrder
	for name, tt := range map[string]struct {
		o    table.WriterOptions
		r    table.ReaderOptions
		keys iter.Seq2[[]byte, error]
		want string
	}{
		"a key":               {o: whole, keys: neverOf([]byte("a"), []byte("key")), want: `key cannot be an exception: "key" is in the table`},
		"no filter":           {o: table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, keys: neverOf([]byte("a")), want: "exceptions belong to a table filter, and there is none"},
		"an unknown filter":   {o: renamedFilter, keys: neverOf(), want: "no policy of that name in the options"},
		"an ignored filter":   {o: whole, r: table.ReaderOptions{IgnoreFilter: true}, keys: neverOf(), want: "do not set IgnoreFilter"},
		"an unknown Prefixer": {o: prefixes, keys: neverOf(), want: `the filters hold prefixes by "test.twoParts"`},
		"a list that fails":   {o: whole, keys: func(yield func([]byte, error) bool) { yield(nil, errBroken) }, want: errBroken.Error()},
		"a user key":          {o: internal, r: table.ReaderOptions{Comparer: internalOrder}, keys: neverOf([]byte("key")), want: `"key" is in the table`},
		"an own FilterKey":    {o: whole, r: table.ReaderOptions{FilterKey: bytes.ToUpper}, keys: neverOf(), want: "a FilterKey of your own cannot be checked"},
		"any order":           {o: whole, r: table.ReaderOptions{Comparer: table.AnyOrder}, keys: neverOf(), want: "AnyOrder"},
	} {
		pairs := pairsOf("key", "other")
		if tt.o.Comparer != nil {
			pairs = []workload.Pair{{Key: internalKey("key", 1, internalkey.Set)}}
		}
		var out bytes.Buffer
		added, err := open(t, build(t, &tt.o, pairs), &tt.r).Except(&out, tt.keys)
		checkError(t, name, err, nil, tt.want)
		if added != 0 || out.Len() > 0 {
			t.Errorf("%s: %d added, %d bytes, though it fails", name, added, out.Len())
		}
	}
}

// Except returns errors of the output, and of a source that has become shorter or was closed.
func TestExceptThatFails(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, numbered(5000))
	full := &failingWriter{len(contents) / 2, errBroken}
	checkError(t, "a full disk", errorOf(open(t, contents, nil).Except(full, neverOf())), errBroken, "")
	short := len(contents)
	r := newReader(t, readAtFunc(func(p []byte, off int64) (int, error) {
		return bytes.NewReader(contents[:short]).ReadAt(p, off)
	}), len(contents), nil)
	for _, short = range []int{len(contents) - 60, len(contents) / 2} {
		checkError(t, "a shorter source", errorOf(r.Except(io.Discard, neverOf())), io.ErrUnexpectedEOF, "")
	}
	r.Close()
	checkError(t, "after Close", errorOf(r.Except(io.Discard, neverOf())), table.ErrClosed, "")
}

// In tables of other engines the index can lie before meta blocks.
func TestExceptOfOtherLayouts(t *testing.T) {
	t.Parallel()
	var f rawtable.File
	data := f.Block(rawtable.Entries("a", "1", "b", "2"))
	index := f.Block(rawtable.Entries("c", data))
	old := f.Block(rawtable.Entries("x", ""))
	whole := f.Block(strings.Repeat("\xff", 64) + "\x01\x01\x00\x00\x00") // contains every key
	meta := f.Block(rawtable.Entries("fullfilter.rocksdb.BuiltinBloomFilter", whole, "other.engine", f.Block("other"), "sievetable.never", old))
	contents := f.Footer(meta, index)
	got, added, err := except(open(t, contents, nil), []byte("y"), []byte("x"))
	if err != nil || added != 1 {
		t.Fatalf("%d added, %v", added, err)
	}
	r := open(t, got, nil)
	noError(t, r.Verify())
	for key, want := range map[string]bool{"a": true, "b": true, "bb": true, "x": false, "y": false} {
		if mayContain(r, []byte(key)) != want {
			t.Errorf("MayContain(%s) is not %v", key, want)
		}
	}
	m, err := layoutOf(t, got).Meta()
	if err != nil || len(m) != 3 || m[1].Name != "other.engine" {
		t.Errorf("%v, %v", m, err)
	}
}

// A forged block of exceptions that share nearly all of their bytes does not exhaust memory.
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
	r := open(t, f.Footer(meta, f.Block(rawtable.Entries("a", data))), nil)
	checkError(t, "Except", errorOf(r.Except(io.Discard, neverOf([]byte("0")))), nil, "over 320 times as long as their block")
}

// Except looks up keys with its Reader's context, and fills the Cache only if its Reader does.
func TestExceptLooksUpAsItsReader(t *testing.T) {
	t.Parallel()
	data := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(1)}, numbered(1000))
	c := table.NewCache(1 << 20)
	r, _ := openStore(t, data, &table.ReaderOptions{Cache: c})
	if n, err := r.DontFillCache(true).Except(io.Discard, absentKeys(100)); n == 0 || err != nil || c.Size() > 0 {
		t.Errorf("Except = %d, %v, with %d bytes in the Cache; want some, nil and 0", n, err, c.Size())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	checkError(t, "Except with a context that is done", errorOf(r.With(ctx).Except(io.Discard, absentKeys(100))), context.Canceled, "")
}
