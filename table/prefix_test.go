package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// A Reader that does not know the function, or is told not to use filters, hides nothing.
func TestUnknownPrefixer(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("a/1/x", "a/2/x", "b/1/x")
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterPrefix: twoParts{}}, pairs)
	absent := &table.IterOptions{Prefix: []byte("c/1/")}
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
		r := open(t, contents, &tt.o)
		want := pairs
		if tt.known {
			want = nil
		}
		if diff := diffPairs(want, forward(t, r.NewIter(absent))); diff != "" {
			t.Errorf("%s: with an absent prefix (-want +got):\n%s", tt.name, diff)
		}
		if got := r.Filters().Prefix; (got != nil) != tt.known {
			t.Errorf("%s: Filters().Prefix = %v", tt.name, got)
		}
		if err := errors.Join(r.Verify(), r.FilterErr()); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A table that names another function than that which it was written with: Verify says so, and a
// Reader from Open uses no filter.
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
		if err := open(t, changed, nil).Verify(); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(fmt.Sprint(err), "rules out the prefixes of 3 of 3 keys") {
			t.Errorf("%s: Verify = %v", name, err)
		}
		path := filepath.Join(t.TempDir(), "a.ldb")
		if err := os.WriteFile(path, changed, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := table.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := diffPairs(pairs[:1], forward(t, r.NewIter(&table.IterOptions{Prefix: []byte("aaa"), Upper: []byte("b")}))); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
		if err := r.FilterErr(); !strings.Contains(fmt.Sprint(err), `rules out "aaa" and is not used: it is the prefix of the table's key "aaaa"`) || r.Close() != nil {
			t.Errorf("%s: FilterErr = %v", name, err)
		}
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
		if _, err := table.NewWriter(new(bytes.Buffer), &o); err == nil {
			t.Errorf("NewWriter of FilterPrefix %.40q: no error", o.FilterPrefix.Name())
		}
	}
}

// A namedPrefixer has a name, and gives keys no prefix.
type namedPrefixer string

func (p namedPrefixer) Name() string       { return string(p) }
func (namedPrefixer) PrefixLen([]byte) int { return 0 }

var boundKeys = []string{"", "\x00", "a", "a\x00", "a\xff", "a\xff\xff", "a\xff\xffb", "b", "\xfe\xff", "\xff", "\xff\x00", "\xff\xff", "\xff\xff\xff"}

// Keys are within the bounds if they have the prefix, and only then.
func TestPrefixBounds(t *testing.T) {
	t.Parallel()
	for _, prefix := range append(boundKeys, "none") {
		lower, upper := table.PrefixBounds([]byte(prefix))
		for _, key := range boundKeys {
			within := key >= string(lower) && (upper == nil || key < string(upper))
			if within != strings.HasPrefix(key, prefix) {
				t.Errorf("PrefixBounds(%q) = %q, %q: key %q is within them: %v", prefix, lower, upper, key, within)
			}
		}
	}
}

// So are internal keys, of whatever version.
func TestInternalPrefixBounds(t *testing.T) {
	t.Parallel()
	compare := table.InternalComparer(table.BytewiseComparer).Compare
	for _, prefix := range append(boundKeys, "none") {
		own := []byte(prefix)
		lower, upper := table.InternalPrefixBounds(own)
		for _, user := range boundKeys {
			for _, version := range []table.InternalKey{
				{Sequence: 0, Kind: table.KindDelete}, {Sequence: 7, Kind: table.KindSet}, {Sequence: table.MaxSequence, Kind: table.KindSet},
			} {
				version.UserKey = []byte(user)
				key := version.Append(nil)
				within := compare(key, lower) >= 0 && (upper == nil || compare(key, upper) < 0)
				if within != strings.HasPrefix(user, prefix) {
					t.Errorf("InternalPrefixBounds(%q) = %q, %q: key %q is within them: %v", prefix, lower, upper, key, within)
				}
			}
		}
		if !bytes.Equal(own, []byte(prefix)) {
			t.Errorf("InternalPrefixBounds changed its prefix %q to %q", prefix, own)
		}
	}
}

// tableOf returns a Reader of a table that has the keys, all with the same value.
func tableOf(c table.Comparer, value string, keys ...[]byte) *table.Reader {
	var out bytes.Buffer
	w, err := table.NewWriter(&out, &table.WriterOptions{Comparer: c})
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range keys {
		if err := w.Append(k, []byte(value)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	r, err := table.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()), &table.ReaderOptions{Comparer: c})
	if err != nil {
		log.Fatal(err)
	}
	return r
}

func ExamplePrefixBounds() {
	r := tableOf(table.BytewiseComparer, "", []byte("page/1"), []byte("user/1"), []byte("user/2"), []byte("view/1"))
	defer r.Close()
	lower, upper := table.PrefixBounds([]byte("user/"))
	for e, err := range r.All(&table.IterOptions{Lower: lower, Upper: upper}) {
		fmt.Println(string(e.Key), err)
	}
	// Output:
	// user/1 <nil>
	// user/2 <nil>
}

func ExampleInternalPrefixBounds() {
	page := table.InternalKey{UserKey: []byte("page/1"), Sequence: 1, Kind: table.KindSet}
	user := table.InternalKey{UserKey: []byte("user/1"), Sequence: 2, Kind: table.KindSet}
	r := tableOf(table.InternalComparer(table.BytewiseComparer), "", page.Append(nil), user.Append(nil))
	defer r.Close()
	lower, upper := table.InternalPrefixBounds([]byte("user/"))
	for e, err := range r.All(&table.IterOptions{Lower: lower, Upper: upper}) {
		key, _ := table.ParseInternalKey(e.Key)
		fmt.Println(string(key.UserKey), key.Sequence, err)
	}
	// Output:
	// user/1 2 <nil>
}
