package table_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// The order is not stored in a table. With a wrong Comparer, the table reads as corrupt, or keys are not found.
// Found entries are in the table.
func TestWrongComparer(t *testing.T) {
	pairs := numbered(300)
	falling := slices.Clone(pairs)
	slices.Reverse(falling)
	rng := rand.New(rand.NewPCG(1, 1))
	orders := map[string]table.Comparer{
		"bytewise":      table.BytewiseComparer,
		"descending":    descendingComparer{},
		"all equal":     orderOf(func() int { return 0 }),
		"never above":   orderOf(func() int { return -1 }),
		"always above":  orderOf(func() int { return 1 }),
		"as it happens": orderOf(func() int { return rng.IntN(3) - 1 }),
	}
	for written, in := range map[string][]workload.Pair{"bytewise": pairs, "descending": falling} {
		contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), BlockSize: 200, Comparer: orders[written]}, in)
		for read, c := range orders {
			if read == written {
				continue
			}
			name := "written " + written + ", read " + read
			i := inspect(t, name, contents, &table.ReaderOptions{Comparer: c}, truthOf(pairs...))
			if (read == "bytewise" || read == "descending") && i.verified == nil {
				t.Errorf("%s: Verify reports nothing", name)
			}
		}
	}
}

// orderOf returns a Comparer that is not an order.
func orderOf(compare func() int) table.Comparer {
	return noOrder{Comparer: table.BytewiseComparer, Func: func(a, b []byte) int { return compare() }}
}

// The filter's name decides which policy reads it, and whether it can have either hash.
func TestFilterNameDecidesThePolicy(t *testing.T) {
	t.Parallel()
	bloom := filter.NewBloom(10)
	for _, tt := range []struct {
		name     string
		written  filter.Policy
		policies []filter.Policy
		err      string // in FilterErr; "" for none
		either   bool
	}{
		{"both names", bloom, nil, "", false},
		{"goleveldb's name, which LevelDB < 1.18 has too", filter.Rename(bloom, "leveldb.BuiltinBloomFilter"), nil, "", true},
		{"LevelDB's name since 1.18", filter.Rename(bloom, "leveldb.BuiltinBloomFilter2"), nil, "", false},
		{"no filter", nil, nil, "", false},
		{"a name that nobody knows", filter.Rename(bloom, "my.Bloom"), nil, `filter "my.Bloom": no policy of that name in the options`, false},
		{"a name that the options know", filter.Rename(bloom, "my.Bloom"), []filter.Policy{nil, filter.Rename(bloom, "my.Bloom")}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m table.Metrics
			r := open(t, build(t, &table.WriterOptions{FilterPolicy: tt.written}, numbered(100)),
				&table.ReaderOptions{FilterPolicies: tt.policies, Metrics: &m})
			err := r.FilterErr()
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(textOf(err), tt.err) {
				t.Errorf("FilterErr = %v, want %q", err, tt.err)
			}
			checkLookups(t, r, numbered(100))
			if asked := m.FilterChecks.Load() > 0; asked != (tt.written != nil && tt.err == "") {
				t.Errorf("filter asked: %v", asked)
			}
			if blocks := r.Filters().Blocks; blocks != nil && blocks.EitherHash() != tt.either {
				t.Errorf("EitherHash = %t", !tt.either)
			}
			noError(t, r.Verify())
		})
	}
}

// The first policy in the options that has a filter in the table is used, whatever the order in the table.
func TestFilterPolicyOrder(t *testing.T) {
	t.Parallel()
	contents := build(t, withBloom, numbered(10))
	for _, tt := range []struct {
		names string
		asked string
	}{
		{"leveldb.BuiltinBloomFilter2 leveldb.BuiltinBloomFilter", "leveldb.BuiltinBloomFilter2"},
		{"leveldb.BuiltinBloomFilter leveldb.BuiltinBloomFilter2", "leveldb.BuiltinBloomFilter"},
		{"other leveldb.BuiltinBloomFilter2", "leveldb.BuiltinBloomFilter2"},
	} {
		asked := map[string]bool{}
		var policies []filter.Policy
		for _, name := range strings.Fields(tt.names) {
			policies = append(policies, askedPolicy{filter.Rename(filter.NewBloom(10), name), asked})
		}
		_, err := open(t, contents, &table.ReaderOptions{FilterPolicies: policies}).Get([]byte("key000002"))
		noError(t, err)
		checkDiff(t, "asked of "+tt.names, map[string]bool{tt.asked: true}, asked)
	}
}

// askedPolicy records its lookups.
type askedPolicy struct {
	filter.Policy
	asked map[string]bool
}

func (p askedPolicy) Contains(filter, key []byte) bool {
	p.asked[p.Name()] = true
	return p.Policy.Contains(filter, key)
}

// Filters hold the filter keys, here the part of each key before a slash. Keys without a slash are in no filter.
func TestFiltersHoldFilterKeys(t *testing.T) {
	t.Parallel()
	prefix := func(key []byte) []byte {
		if i := bytes.IndexByte(key, '/'); i >= 0 {
			return key[:i]
		}
		return nil
	}
	pairs := pairsOf("a", "b/1", "b/2", "c/1", "d")
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(20), FilterKey: prefix}, pairs)
	var m table.Metrics
	r := open(t, contents, &table.ReaderOptions{FilterKey: prefix, Metrics: &m})
	checkTable(t, r, pairs)
	for _, tt := range []struct {
		key             string
		asked, negative uint64
	}{
		{"b/3", 1, 0},  // the filter has b
		{"bb/1", 1, 1}, // but not bb
		{"bb", 0, 0},   // not checked: it has no slash
	} {
		before := countsOf(&m)
		checkError(t, "Get of "+tt.key, errorOf(r.Get([]byte(tt.key))), table.ErrNotFound, "")
		after := countsOf(&m)
		if after.Questions-before.Questions != tt.asked || after.Negatives-before.Negatives != tt.negative {
			t.Errorf("Get(%q): counts went from %+v to %+v", tt.key, before, after)
		}
	}
	checkError(t, "Verify without FilterKey", open(t, contents, nil).Verify(), table.ErrCorrupt, `rules out 4 of 5 keys of the data block at 0: "b/1", "b/2", "c/1", …`)
}

func TestFilterKeyOfUserKeys(t *testing.T) {
	t.Parallel()
	pairs := []workload.Pair{{Key: internalKey("", 1, internalkey.Set)}, {Key: internalKey("aa", 2, internalkey.Set)}, {Key: internalKey("bb", 3, internalkey.Set)}}
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterKey: internalkey.UserKey}, pairs)
	checkLookups(t, open(t, contents, &table.ReaderOptions{FilterKey: internalkey.UserKey}), pairs)

	without := open(t, contents, nil)
	checkError(t, "Get without FilterKey, of a filter with user keys", errorOf(without.Get(pairs[1].Key)), table.ErrNotFound, "")
	err := without.Verify()
	if err == nil || errors.Is(err, table.ErrCorrupt) || !strings.Contains(textOf(err), "internalkey.UserKey") {
		t.Errorf("Verify without FilterKey = %v, want a hint at internalkey.UserKey", err)
	}
}

// shortNames is a Bloom filter with n aliases, which are as short as possible.
type shortNames struct {
	filter.Bloom
	n int
}

func (s shortNames) Aliases() (names []string) {
	for i := range s.n {
		name := []byte{byte(i)}
		if i >= 256 {
			name = append(name, byte(i>>8))
		}
		names = append(names, string(name))
	}
	return names
}

// A Reader reads the metaindex of a table with as many filter names as a Writer accepts.
func TestManyShortFilterNames(t *testing.T) {
	t.Parallel()
	o := &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), Properties: true}
	n := 1000
	for ; ; n-- {
		o.FilterPolicy = shortNames{filter.NewBloom(10), n}
		if _, err := table.NewWriter(io.Discard, o); err == nil {
			break
		}
	}
	if n < 900 {
		t.Errorf("a Writer accepts %d names, want at least 900", n)
	}
	r := open(t, build(t, o, []workload.Pair{{Key: []byte("key"), Value: []byte("value")}}), nil)
	noError(t, errors.Join(r.FilterErr(), r.Verify()))
}

// The caller may change its slices as soon as the table or the layout is open.
func TestCallerChangesItsSlices(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{
		Compression: runCodec{9}, FilterPolicy: filter.Rename(filter.NewBloom(10), "own"), TableFilterPolicy: filter.NewTableBloom(10),
	}, []workload.Pair{{Key: []byte("k"), Value: bytes.Repeat([]byte{'z'}, 300)}})
	o := &table.ReaderOptions{
		Codecs:         []table.Codec{runCodec{9}},
		FilterPolicies: []filter.Policy{filter.Rename(filter.NewBloom(10), "own")},
	}
	r := open(t, contents, o)
	l, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), o)
	noError(t, err)
	clear(o.Codecs)
	clear(o.FilterPolicies)
	noError(t, r.Verify())
	filters, err := l.Filters()
	if noError(t, err); filters.Blocks == nil {
		t.Error("Filters of the Layout does not return the filter block")
	}
}
