package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// twoParts is a custom Prefixer for prefixes up to the second slash.
type twoParts struct{}

func (twoParts) Name() string { return "test.twoParts" }

func (twoParts) PrefixLen(key []byte) int {
	first := bytes.IndexByte(key, '/')
	second := bytes.IndexByte(key[first+1:], '/')
	if first < 0 || second < 0 {
		return 0
	}
	return first + second + 2
}

var prefixers = []filter.Prefixer{
	filter.PrefixUntil("/"), filter.PrefixUntil("/b"), filter.PrefixUntil(""), filter.PrefixOfLength(1), filter.PrefixOfLength(3), filter.PrefixOfLength(0), twoParts{},
}

// pathKey returns a key of few bytes, many of which are slashes.
func pathKey(rng *rand.Rand) []byte {
	key := make([]byte, rng.IntN(7))
	for i := range key {
		key[i] = "ab/\xff"[rng.IntN(4)]
	}
	return key
}

// A prefixCase is a table whose filters hold prefixes.
type prefixCase struct {
	name  string
	o     table.WriterOptions
	r     table.ReaderOptions
	pairs []workload.Pair
	user  func(key []byte) []byte // the filter key of a key

	neighbors bool // keys with the same prefix are neighbors
}

// randomPrefixes returns a case of random options, orders and keys.
func randomPrefixes(seed uint64) prefixCase {
	rng := rand.New(rand.NewPCG(22, seed))
	order := []table.Comparer{table.BytewiseComparer, descendingComparer{}, internalOrder}[rng.IntN(3)]
	c := prefixCase{user: func(key []byte) []byte { return key }, neighbors: order != (descendingComparer{})}
	if order.Name() == internalOrder.Name() {
		c.user = internalkey.UserKey
	}
	c.o = table.WriterOptions{
		Comparer: order, FilterPrefix: prefixers[rng.IntN(len(prefixers))], BlockSize: 1 + rng.IntN(200), FilterBaseLg: 4 + rng.IntN(9),
		Concurrency: 1 + rng.IntN(2),
	}
	c.r = table.ReaderOptions{Comparer: order, FilterPrefixes: []filter.Prefixer{twoParts{}}, TailSize: rng.IntN(2) * 1000, Metrics: new(table.Metrics)}
	which := rng.IntN(3)
	if which != 0 {
		c.o.FilterPolicy = filter.NewBloom(10)
	}
	if which != 1 {
		c.o.TableFilterPolicy = filter.NewTableBloom(10)
	}
	c.name = fmt.Sprintf("seed %d: %s, %s, filters %d", seed, order.Name(), c.o.FilterPrefix.Name(), which)
	seen := map[string]bool{}
	for range rng.IntN(150) {
		key := pathKey(rng)
		if order.Name() == internalOrder.Name() {
			sequence := pick[uint64](rng, 0, 1, 2, internalkey.MaxSequence)
			key = internalKey(string(key), sequence, pick(rng, internalkey.Set, internalkey.Delete))
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			c.pairs = append(c.pairs, workload.Pair{Key: key, Value: []byte("v")})
		}
	}
	slices.SortFunc(c.pairs, func(a, b workload.Pair) int { return order.Compare(a.Key, b.Key) })
	return c
}

// among returns the pairs whose key starts with prefix.
func (c *prefixCase) among(pairs []workload.Pair, prefix []byte) (all []workload.Pair) {
	for _, p := range pairs {
		if bytes.HasPrefix(c.user(p.Key), prefix) {
			all = append(all, p)
		}
	}
	return all
}

// For any prefix, bounds and table, an Iter returns the entries within the bounds that start with the prefix, in
// both directions, and Verify finds that the filters hold all prefixes.
func TestPrefixHidesNothing(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	denied := uint64(0)
	for seed := range uint64(400) {
		c := randomPrefixes(seed)
		if whole := c.user; seed%4 == 0 { // a FilterKey without the first byte
			c.neighbors, c.user = false, func(key []byte) []byte { return whole(key)[min(1, len(whole(key))):] }
			c.o.FilterKey, c.r.FilterKey = c.user, c.user
		}
		contents := build(t, &c.o, c.pairs)
		if c.o.Concurrency = 3 - c.o.Concurrency; !bytes.Equal(contents, build(t, &c.o, c.pairs)) {
			t.Errorf("%s: other bytes with %d goroutines", c.name, c.o.Concurrency)
		}
		r := open(t, contents, &c.r)
		checkSound(t, c.name, r)
		rng := rand.New(rand.NewPCG(23, seed))
		for range 30 {
			checkPrefix(t, &c, r, rng)
		}
		for _, p := range c.pairs {
			if _, err := r.Get(p.Key); err != nil {
				t.Fatalf("%s: Get(%q) = %v", c.name, p.Key, err)
			}
		}
		denied += c.r.Metrics.FilterNegatives.Load()
	}
	if denied < 1000 {
		t.Errorf("filters denied %d times, want often: the test shows nothing", denied)
	}
}

// ways are the directions of iterating over a table.
var ways = map[string]func(testing.TB, *table.Iter) []workload.Pair{"forward": forward, "backward": backward}

// checkPrefix checks that an Iter with a prefix, and maybe with bounds, returns exactly the pairs that start with it
// and are within the bounds. If these are not neighbors, it may return others too.
func checkPrefix(t *testing.T, c *prefixCase, r *table.Reader, rng *rand.Rand) {
	t.Helper()
	var o table.IterOptions
	if rng.IntN(2) == 0 {
		o.Lower, o.Upper = prefixBounds(rng, c.o.Comparer.Name() == internalOrder.Name())
	}
	prefix := pathKey(rng)
	want := c.among(within(c.pairs, &o, c.o.Comparer.Compare), prefix)
	o.Prefix = bytes.Clone(prefix)
	for way, walk := range ways {
		got := walk(t, r.NewIter(&o))
		if !c.neighbors {
			got = c.among(got, prefix)
		}
		if diff := diffPairs(want, got); diff != "" {
			t.Fatalf("%s: %s from %q to %q with prefix %q (-want +got):\n%s", c.name, way, o.Lower, o.Upper, prefix, diff)
		}
	}
	if !bytes.Equal(o.Prefix, prefix) {
		t.Errorf("%s: prefix %q is now %q", c.name, prefix, o.Prefix)
	}
	if c.neighbors {
		checkSeekOfPrefix(t, c, r.NewIter(&o), prefix, want)
	}
}

// checkSeekOfPrefix checks that SeekGE of its prefix moves to the first pair.
func checkSeekOfPrefix(t *testing.T, c *prefixCase, it *table.Iter, prefix []byte, want []workload.Pair) {
	t.Helper()
	first := prefix
	if c.o.Comparer.Name() == internalOrder.Name() {
		first = internalkey.SearchKey(nil, prefix, internalkey.MaxSequence)
	}
	if it.SeekGE(first) != (want != nil) || want != nil && !bytes.Equal(it.Key(), want[0].Key) {
		t.Fatalf("%s: SeekGE of prefix %q is at %q", c.name, prefix, it.Key())
	}
	noError(t, it.Close())
}

// A scan of an absent prefix mostly reads no data block, and lookups keep their rate.
func TestScanOfAnAbsentPrefixReadsNothing(t *testing.T) {
	t.Parallel()
	var pairs []workload.Pair
	for i := range 10_000 {
		pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "%04d/%06d", i/10*2, i), Value: []byte("some value")})
	}
	for name, o := range map[string]table.WriterOptions{
		"filters of blocks": {FilterPolicy: filter.NewBloom(10)}, "table filter": {TableFilterPolicy: filter.NewTableBloom(10)},
	} {
		o.FilterPrefix = filter.PrefixUntil("/")
		var m table.Metrics
		r := open(t, build(t, &o, pairs), &table.ReaderOptions{Metrics: &m})
		read := map[string]uint64{}
		for i := range 1000 {
			prefix := fmt.Appendf(nil, "%04d/", 2*i+1)
			lower, upper := format.WithinPrefix(nil, nil, prefix)
			for how, io := range map[string]table.IterOptions{
				"prefix":       {Prefix: prefix},
				"bounds":       {Lower: lower, Upper: upper},
				"wider bounds": {Lower: lower, Upper: append(bytes.Clone(upper), 0)},
			} {
				before := m.BlocksRead.Load()
				forward(t, r.NewIter(&io))
				read[how] += m.BlocksRead.Load() - before
			}
		}
		if read["prefix"] > 50 || read["bounds"] != read["prefix"] || read["wider bounds"] < 1000 {
			t.Errorf("%s: blocks read for 1000 absent prefixes: %v; want at most 50, as many, and 1000 or more", name, read)
		}
		absent := 0
		for _, p := range pairs {
			if mayContain(r, append(p.Key, '~')) {
				absent++
			}
		}
		if absent > 200 {
			t.Errorf("%s: %d of 10,000 absent keys may be there, want at most 200", name, absent)
		}
	}
}

// A key of Never that is a prefix of keys is ruled out, but a scan of the prefix finds these keys.
func TestExceptionThatIsAPrefix(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterPrefix: filter.PrefixUntil("/"), Never: neverOf([]byte("a/"))}
	pairs := pairsOf("a/1", "a/2", "b")
	r := open(t, build(t, &o, pairs), nil)
	if mayContain(r, []byte("a/")) || r.Filters().Never.Len() != 1 {
		t.Errorf("MayContain(a/) is true, or there are %d exceptions, want 1", r.Filters().Never.Len())
	}
	checkPairs(t, "with a prefix", pairs[:2], forward(t, r.NewIter(&table.IterOptions{Prefix: []byte("a/")})))
}

// A recorder is a custom Policy and TablePolicy whose filters are the added keys, each followed by "|".
type recorder struct {
	name   string
	opened *[]string // the names of policies whose Open was called; may be nil
}

func (p recorder) Name() string                             { return p.name }
func (recorder) Aliases() []string                          { return []string{"test.OldList"} }
func (p recorder) NewGenerator() filter.Generator           { return new(recording) }
func (recorder) Contains(f, key []byte) bool                { return recorded(f).Contains(key) }
func (p recorder) NewTableGenerator() filter.TableGenerator { return tableRecording{new(recording)} }

func (p recorder) Open(f []byte) (filter.TableFilter, error) {
	if p.opened != nil {
		*p.opened = append(*p.opened, p.name)
	}
	return recorded(f), nil
}

type recorded []byte

func (f recorded) Contains(key []byte) bool {
	return slices.Contains(strings.Split(string(f), "|"), string(key))
}

type recording struct{ keys []byte }

func (r *recording) Add(key []byte) { r.keys = append(append(r.keys, key...), '|') }

func (r *recording) Generate(b filter.Buffer) {
	copy(b.Alloc(len(r.keys)), r.keys)
	r.keys = nil
}

type tableRecording struct{ *recording }

// Generate fails only for the empty key.
func (r tableRecording) Generate() ([]byte, error) {
	if len(r.keys) == 1 {
		return nil, errors.New("the empty key has no list")
	}
	return r.keys, nil
}

// The table filter holds each prefix once, and so does each block filter, even if it has the keys of several data
// blocks.
func TestEachFilterHoldsAPrefixOnce(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("a/1", "a/2", "a/3", "b/", "b/1", "c", "d/1", "d/2")
	for _, tt := range []struct {
		name         string
		size, baseLg int
		want         []string
	}{
		{"a filter for each data block", 1, 1, []string{"a/|a/1|", "a/|a/2|", "a/|a/3|", "b/|b/|", "b/|b/1|", "c|", "d/|d/1|", "d/|d/2|"}},
		{"a filter for all data blocks", 1, 20, []string{"a/|a/1|a/2|a/3|b/|b/|b/1|c|d/|d/1|d/2|"}},
		{"one data block", 4096, 11, []string{"a/|a/1|a/2|a/3|b/|b/|b/1|c|d/|d/1|d/2|"}},
	} {
		for concurrency := 1; concurrency <= 2; concurrency++ {
			p := recorder{name: "recorder"}
			o := table.WriterOptions{
				FilterPolicy: p, TableFilterPolicy: p, FilterPrefix: filter.PrefixUntil("/"), BlockSize: tt.size, FilterBaseLg: tt.baseLg, Concurrency: concurrency,
			}
			r := open(t, build(t, &o, pairs), &table.ReaderOptions{FilterPolicies: []filter.Policy{p}, TableFilterPolicies: []filter.TablePolicy{p}})
			f := r.Filters()
			var got []string
			for i := range f.Blocks.Len() {
				if keys := string(f.Blocks.Filter(i)); keys != "" {
					got = append(got, keys)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s, concurrency %d: filters by blocks have %q, want %q", tt.name, concurrency, got, tt.want)
			}
			if got, want := string(f.Table.(recorded)), "a/|a/1|a/2|a/3|b/|b/|b/1|c|d/|d/1|d/2|"; got != want {
				t.Errorf("%s: the table filter has %q, want %q", tt.name, got, want)
			}
			if p, err := r.Properties(); err != nil || p.FilterEntries != 11 || p.FilterPrefix != "sievetable.prefix.delimiter:/" {
				t.Errorf("%s: Properties = %+v, %v", tt.name, p, err)
			}
		}
	}
}
