package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// A table filter rules keys out before the index is searched, with or without block filters.
func TestTableFilterRulesKeysOutBeforeTheIndex(t *testing.T) {
	t.Parallel()
	pairs := numbered(2000)
	for _, tt := range []struct {
		name string
		o    table.WriterOptions
	}{
		{"alone", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}},
		{"with one by blocks", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterPolicy: filter.NewBloom(10)}},
		{"by two goroutines", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), Concurrency: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m table.Metrics
			r := open(t, build(t, &tt.o, pairs), &table.ReaderOptions{Metrics: &m})
			noError(t, errors.Join(r.FilterErr(), r.Verify()))
			checkLookups(t, r, pairs)
			absent := m.Lookups.Load() - uint64(len(pairs))
			negatives, wrong := m.TableFilterNegatives.Load(), m.FilterFalsePositives.Load()
			if negatives < absent*97/100 || m.FilterNegatives.Load()+wrong != absent {
				t.Errorf("%d of %d absent keys ruled out, %d of them by the table's filter, and %d not", m.FilterNegatives.Load(), absent, negatives, wrong)
			}
			if reads := m.BlocksRead.Load(); reads != uint64(len(pairs))+wrong {
				t.Errorf("%d blocks read for %d present keys and %d false positives", reads, len(pairs), wrong)
			}
		})
	}
}

// A corrupt filter does not change results, and the other filter remains in use.
func TestDamagedTableFilter(t *testing.T) {
	t.Parallel()
	pairs := numbered(10)
	for _, tt := range []struct {
		name, k, lines, want string
	}{
		{"sound", "\x06", "\x01\x00\x00\x00", ""},
		{"of another encoding", "\xff", "\x01\x00\x00\x00", "filter: table filter with k = -1"},
		{"of more lines than bytes", "\x06", "\x02\x00\x00\x00", "filter: table filter of 2 lines in 64 bytes"},
		{"of no lines", "\x06", "\x00\x00\x00\x00", "filter: table filter of 0 lines in 64 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Compression: table.NoCompression}, pairs)
			at := bytes.Index(contents, []byte("\x06\x01\x00\x00\x00"))
			copy(contents[at:], tt.k+tt.lines)
			rawtable.Repair(contents)
			var m table.Metrics
			r := open(t, contents, &table.ReaderOptions{Metrics: &m})
			if tt.want != "" {
				checkNames(t, tt.name, fmt.Sprintf("table filter block at %d: %s", at-64, tt.want), r.FilterErr(), r.Verify())
			} else {
				noError(t, errors.Join(r.FilterErr(), r.Verify()))
			}
			checkLookups(t, r, pairs)
			if asked, reads := m.FilterChecks.Load(), m.BlocksRead.Load(); asked == 0 || reads > 20 {
				t.Errorf("%d questions and %d reads, want the filter by data blocks in use", asked, reads)
			}
		})
	}
}

// A filter without keys is not written.
func TestTableFilterWithoutKeys(t *testing.T) {
	t.Parallel()
	o := &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterKey: func([]byte) []byte { return nil }}
	if bytes.Contains(build(t, o, numbered(10)), []byte("fullfilter")) {
		t.Error("a filter of no keys was written")
	}
}

// A Reader finds a table filter by the name or alias of a policy in its options. It uses the first policy that
// matches.
func TestTableFilterPolicies(t *testing.T) {
	pairs := numbered(100)
	contents := build(t, &table.WriterOptions{TableFilterPolicy: recorder{name: "test.List"}}, pairs)
	for _, tt := range []struct {
		name     string
		policies string
		opened   []string
		err      string
	}{
		{"none", "", nil, `table: filter "test.List": no policy of that name in the options`},
		{"by name", "test.List", []string{"test.List"}, "<nil>"},
		{"by alias", "test.NewList", []string{"test.NewList"}, "<nil>"},
		{"the first that matches", "test.NewList test.List", []string{"test.NewList"}, "<nil>"},
	} {
		var opened []string
		policies := []filter.TablePolicy{nil, filter.NewTableBloom(10)}
		for _, name := range strings.Fields(tt.policies) {
			policies = append(policies, recorder{name, &opened})
		}
		var m table.Metrics
		r := open(t, contents, &table.ReaderOptions{TableFilterPolicies: policies, Metrics: &m})
		checkDiff(t, tt.name+": opened", tt.opened, opened)
		checkDiff(t, tt.name+": FilterErr", tt.err, textOf(r.FilterErr()))
		checkLookups(t, r, pairs)
		if used := m.TableFilterNegatives.Load() > 0; used != (tt.err == "<nil>") {
			t.Errorf("%s: the filter ruled keys out: %v", tt.name, used)
		}
		noError(t, r.Verify())
	}
}

// emptyPolicy builds filters of 0 bytes.
type emptyPolicy struct{ filter.TablePolicy }

func (emptyPolicy) NewTableGenerator() filter.TableGenerator { return emptyGenerator{} }

type emptyGenerator struct{}

func (emptyGenerator) Add([]byte)                {}
func (emptyGenerator) Generate() ([]byte, error) { return nil, nil }

// If the requested table filter cannot be built, Close returns an error.
func TestCloseReportsThatThereIsNoTableFilter(t *testing.T) {
	for _, tt := range []struct {
		policy filter.TablePolicy
		want   string
	}{
		{recorder{name: "test.List"}, `table: filter policy "test.List": the empty key has no list`},
		{emptyPolicy{recorder{name: "test.Empty"}}, `table: policy "test.Empty" wrote a filter of no bytes`},
	} {
		w := newWriter(t, io.Discard, &table.WriterOptions{TableFilterPolicy: tt.policy})
		noError(t, w.Append([]byte(""), nil))
		if got := textOf(w.Close()); got != tt.want {
			t.Errorf("Close = %q, want %q", got, tt.want)
		}
	}
}

// No key of LevelDB 1.17's table is ruled out, whichever policy of that name reads its filters.
func TestHashOfOlderTables(t *testing.T) {
	t.Parallel()
	contents, err := os.ReadFile(goldenDir + "/leveldb-1.17/byte-edges.ldb")
	noError(t, err)
	for name, policies := range map[string][]filter.Policy{
		"none":         nil,
		"Bloom":        {filter.NewBloom(3)},
		"renamed":      {filter.Rename(filter.NewBloom(10), "leveldb.BuiltinBloomFilter")},
		"not this one": {filter.Rename(filter.NewBloom(10), "another"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, contents, &table.ReaderOptions{FilterPolicies: policies})
			checkLookups(t, r, dataset(t, "byte-edges"))
			if err := r.Verify(); err != nil || r.Filters().Blocks == nil {
				t.Errorf("Verify = %v, with a filter: %t", err, r.Filters().Blocks != nil)
			}
		})
	}
}

// otherHash is a policy with another name, whose filters use another 32-bit hash.
type otherHash struct{ filter.TableBloom }

func (otherHash) Name() string { return "test.OtherHash" }

func (p otherHash) Open(contents []byte) (filter.TableFilter, error) {
	f, err := p.TableBloom.Open(contents)
	return hashedOtherwise{f}, err
}

type hashedOtherwise struct{ filter.TableFilter }

func (hashedOtherwise) ContainsHash(uint32) bool { return false }

// MayContainHashed agrees with MayContain, and counts the same, for any filters, with whole keys or a FilterKey, and
// whether or not the filters can be trusted.
func TestMayContainHashedIsMayContain(t *testing.T) {
	t.Parallel()
	firstBytes := func(key []byte) []byte { return key[:min(len(key), 6)] }
	denying := func(key []byte) []byte { return append([]byte("no"), key...) }
	bloom, whole := filter.NewBloom(10), filter.NewTableBloom(4)
	other := otherHash{filter.NewTableBloom(10)}
	pairs := numbered(2000)
	for name, o := range map[string]struct {
		w    table.WriterOptions
		read func(key []byte) []byte // FilterKey
	}{
		"no filter":               {},
		"by blocks":               {w: table.WriterOptions{FilterPolicy: bloom}},
		"of the table":            {w: table.WriterOptions{TableFilterPolicy: whole}},
		"both":                    {w: table.WriterOptions{FilterPolicy: bloom, TableFilterPolicy: whole}},
		"with exceptions":         {w: table.WriterOptions{TableFilterPolicy: whole, Never: absentKeys(500)}},
		"of parts of keys":        {w: table.WriterOptions{TableFilterPolicy: whole, FilterKey: firstBytes}, read: firstBytes},
		"of another FilterKey":    {w: table.WriterOptions{TableFilterPolicy: whole}, read: denying},
		"of another hash":         {w: table.WriterOptions{TableFilterPolicy: other}},
		"that rules out its keys": {w: table.WriterOptions{TableFilterPolicy: whole, FilterKey: denying}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contents := build(t, &o.w, pairs)
			var ms [2]table.Metrics
			var rs [2]*table.Reader
			for i := range rs {
				rs[i] = open(t, contents, &table.ReaderOptions{FilterKey: o.read, Metrics: &ms[i], TableFilterPolicies: []filter.TablePolicy{other}})
			}
			rng := rand.New(rand.NewPCG(7, 7))
			for i := range 5000 {
				key := fmt.Appendf(nil, "key%0*d%s", 1+rng.IntN(6), rng.IntN(4000), []string{"", "", "x", "\xff\xfe"}[rng.IntN(4)])
				if i == 0 {
					key = nil
				} else if rng.IntN(2) == 0 {
					key = pairs[rng.IntN(len(pairs))].Key
				}
				k := table.HashKey(key)
				for range 2 { // the second time, the hash is known
					want, wantErr := rs[0].MayContain(key)
					if got, err := rs[1].MayContainHashed(&k); got != want || err != nil || wantErr != nil {
						t.Fatalf("%q: %v, %v; want %v, %v", key, got, err, want, wantErr)
					}
				}
			}
			checkDiff(t, "counts of MayContainHashed", ms[0].String(), ms[1].String())
		})
	}
}
