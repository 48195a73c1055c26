package table_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
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
