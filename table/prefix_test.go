package table_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// A Reader without the Prefixer, or with IgnoreFilter, misses no entries.
func TestUnknownPrefixer(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("a/1/x", "a/2/x", "b/1/x")
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterPrefix: twoParts{}}, pairs)
	for _, tt := range []struct {
		name  string
		o     table.ReaderOptions
		known bool
	}{
		{"unknown", table.ReaderOptions{}, false},
		{"another one", table.ReaderOptions{FilterPrefixes: []filter.Prefixer{nil, filter.PrefixUntil("/")}}, false},
		{"no filters", table.ReaderOptions{IgnoreFilter: true, FilterPrefixes: []filter.Prefixer{twoParts{}}}, false},
		{"known", table.ReaderOptions{FilterPrefixes: []filter.Prefixer{nil, twoParts{}}}, true},
	} {
		var m table.Metrics
		tt.o.Metrics = &m
		r := open(t, contents, &tt.o)
		if absent := forward(t, r.NewIter(&table.IterOptions{Prefix: []byte("b/0/")})); absent != nil || (m.BlocksRead.Load() == 0) != tt.known {
			t.Errorf("%s: an absent prefix has %v and reads %d blocks", tt.name, absent, m.BlocksRead.Load())
		}
		checkPairs(t, tt.name+": with a prefix", pairs[:1], forward(t, r.NewIter(&table.IterOptions{Prefix: []byte("a/1/")})))
		if got := r.Filters().Prefix; (got != nil) != tt.known {
			t.Errorf("%s: Filters().Prefix = %v", tt.name, got)
		}
		checkSound(t, tt.name, r)
	}
}

// If a table names another Prefixer than it was written with, Verify reports it, and a Reader from Open uses no
// filter.
func TestWrongPrefixer(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("aaaa", "bbbb", "cccc")
	for name, o := range map[string]table.WriterOptions{
		"filters of blocks": {FilterPolicy: filter.NewBloom(20)}, "table filter": {TableFilterPolicy: filter.NewTableBloom(20)},
	} {
		o.FilterPrefix = filter.PrefixOfLength(2)
		contents := build(t, &o, pairs)
		changed := bytes.Replace(contents, []byte("prefix.length:2"), []byte("prefix.length:3"), 1)
		rawtable.Repair(changed)
		checkError(t, name+": Verify", open(t, changed, nil).Verify(), table.ErrCorrupt, "rules out the prefixes of 3 of 3 keys")
		r := openFile(t, changed, nil)
		checkPairs(t, name, pairs[:1], forward(t, r.NewIter(&table.IterOptions{Prefix: []byte("aaa"), Upper: []byte("b")})))
		checkError(t, name+": FilterErr", r.FilterErr(), nil, `rules out "aaa" and is not used: it is the prefix of the table's key "aaaa"`)
	}
}

// A Reader finds the Prefixers of package filter by the name that a table stores.
func TestPrefixerByName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]filter.Prefixer{
		"sievetable.prefix.delimiter:/":  filter.PrefixUntil("/"),
		"sievetable.prefix.delimiter:::": filter.PrefixUntil("::"),
		"sievetable.prefix.length:8":     filter.PrefixOfLength(8),
		"sievetable.prefix.length:08":    nil,
		"sievetable.prefix.length:":      nil,
		"sievetable.prefix.length:x":     nil,
		"test.twoParts":                  nil,
		"":                               nil,
	} {
		o := &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterPrefix: namedPrefixer(name)}
		if got := open(t, build(t, o, pairsOf("a")), nil).Filters().Prefix; got != want {
			t.Errorf("Filters().Prefix of a table with %q = %v, want %v", name, got, want)
		}
	}
	for _, o := range []table.WriterOptions{
		{FilterPrefix: filter.PrefixUntil("/")},
		{FilterPrefix: filter.PrefixUntil(strings.Repeat("/", 1025)), FilterPolicy: filter.NewBloom(10)},
	} {
		checkError(t, "NewWriter", errorOf(table.NewWriter(io.Discard, &o)), nil, "")
	}
}

// A namedPrefixer has a name, but keys have no prefixes.
type namedPrefixer string

func (p namedPrefixer) Name() string       { return string(p) }
func (namedPrefixer) PrefixLen([]byte) int { return 0 }

// prefixBounds returns bounds at or near a prefix's bounds, or anywhere, or nil.
func prefixBounds(rng *rand.Rand, internal bool) (lower, upper []byte) {
	lower, upper = format.WithinPrefix(nil, nil, pathKey(rng))
	return prefixBound(rng, lower, internal), prefixBound(rng, upper, internal)
}

func prefixBound(rng *rand.Rand, bound []byte, internal bool) []byte {
	switch rng.IntN(8) {
	case 0:
		bound = nil
	case 1:
		bound = pathKey(rng)
	case 2, 3:
		bound = append(bound, pathKey(rng)...)
	}
	if !internal || bound == nil {
		return bound
	}
	return internalkey.SearchKey(nil, bound, []uint64{0, 1, 2, 3, internalkey.MaxSequence}[rng.IntN(5)])
}

// snapshotPairs returns the newest versions within bounds that a snapshot of sequence sees.
func snapshotPairs(t *testing.T, r *table.Reader, o *table.IterOptions, sequence uint64) []workload.Pair {
	t.Helper()
	it := merge.NewSnapshotIter(nil, r.NewIter(o), sequence)
	defer it.Close()
	return pairsFrom(t, it, it.First, it.Next)
}

// For any bounds and any table, an Iter returns the same entries with the filters as without, in both directions,
// and so does a snapshot.
func TestBoundsHideNothing(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	denied := uint64(0)
	for seed := range uint64(400) {
		c := randomPrefixes(seed)
		contents := build(t, &c.o, c.pairs)
		without := c.r
		without.IgnoreFilter, without.Metrics = true, nil
		r, plain := open(t, contents, &c.r), open(t, contents, &without)
		internal := c.o.Comparer.Name() == internalOrder.Name()
		rng := rand.New(rand.NewPCG(24, seed))
		for range 60 {
			var o table.IterOptions
			o.Lower, o.Upper = prefixBounds(rng, internal)
			for way, walk := range ways {
				if diff := diffPairs(walk(t, plain.NewIter(&o)), walk(t, r.NewIter(&o))); diff != "" {
					t.Fatalf("%s: %s from %q to %q (-want +got):\n%s", c.name, way, o.Lower, o.Upper, diff)
				}
			}
			if n := uint64(rng.IntN(4)); internal {
				if diff := diffPairs(snapshotPairs(t, plain, &o, n), snapshotPairs(t, r, &o, n)); diff != "" {
					t.Fatalf("%s: snapshot %d from %q to %q (-want +got):\n%s", c.name, n, o.Lower, o.Upper, diff)
				}
			}
		}
		denied += c.r.Metrics.FilterNegatives.Load()
	}
	if denied < 1000 {
		t.Errorf("filters ruled out %d blocks, want often: the test shows nothing", denied)
	}
}

// With a FilterKey or a Prefix that filters hold, filters are checked for it, not for the prefix of the bounds.
func TestPrefixOrFilterKeyBeforeBounds(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(20), FilterPrefix: filter.PrefixUntil("/")}, pairsOf("a/1", "b/1"))
	for name, tt := range map[string]struct {
		o    table.IterOptions
		want uint64
	}{
		"bounds":    {table.IterOptions{}, 0},
		"Prefix":    {table.IterOptions{Prefix: []byte("b/")}, 1},
		"no prefix": {table.IterOptions{Prefix: []byte("b")}, 1},
		"shorter":   {table.IterOptions{Prefix: []byte("a")}, 0},
		"empty":     {table.IterOptions{Prefix: []byte{}}, 0},
		"FilterKey": {table.IterOptions{FilterKey: []byte("b/1")}, 1},
		"no entry":  {table.IterOptions{FilterKey: []byte("b/2")}, 0},
	} {
		var m table.Metrics
		r := open(t, contents, &table.ReaderOptions{Metrics: &m})
		tt.o.Lower, tt.o.Upper = format.WithinPrefix(nil, nil, []byte("aa/"))
		forward(t, r.NewIter(&tt.o))
		if got := m.BlocksRead.Load(); got != tt.want {
			t.Errorf("%s: %d blocks read, want %d", name, got, tt.want)
		}
	}
}

// firstPart is a Prefixer that breaks the contract: the prefix of a/b/ is a/, but a/b is its own prefix.
type firstPart struct{}

func (firstPart) Name() string { return "test.firstPart" }

func (firstPart) PrefixLen(key []byte) int {
	if bytes.Count(key, []byte("/")) == 2 {
		return bytes.IndexByte(key, '/') + 1
	}
	return len(key)
}

// A Writer refuses a Prefixer that returns different prefixes for a key and its start, and a Reader from Open uses
// no filter with it: scans would miss entries.
func TestPrefixerThatBreaksTheLaw(t *testing.T) {
	t.Parallel()
	w := newWriter(t, io.Discard, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterPrefix: firstPart{}})
	noError(t, w.Append([]byte("a/b/"), nil))
	checkError(t, "Close", w.Close(), nil,
		`table: the Prefixer "test.firstPart" is wrong: the prefix of "a/b/" is "a/", but its start "a" is a prefix too`)
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterPrefix: asFirstPart{filter.PrefixUntil("/")}}, pairsOf("a/b/", "a/c"))
	r := openFile(t, contents, &table.ReaderOptions{FilterPrefixes: []filter.Prefixer{firstPart{}}})
	bounds := &table.IterOptions{Lower: []byte("a/b"), Upper: []byte("a/c")}
	checkPairs(t, "within bounds", pairsOf("a/b/"), forward(t, r.NewIter(bounds)))
	checkError(t, "FilterErr", r.FilterErr(), nil, `the Prefixer "test.firstPart" is wrong`)
}

// asFirstPart has the name of firstPart.
type asFirstPart struct{ filter.Prefixer }

func (asFirstPart) Name() string { return firstPart{}.Name() }
