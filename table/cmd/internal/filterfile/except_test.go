package filterfile

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A sieveCase is a random table, and a model of its filter.
type sieveCase struct {
	name           string
	o              table.WriterOptions
	internal       bool
	keys, prefixes map[string]bool // user keys
}

func randomSieve(t *testing.T, seed uint64) *sieveCase {
	t.Helper()
	rng := rand.New(rand.NewPCG(32, seed))
	fuse4, err4 := fuse.New(4)
	fuse8, err8 := fuse.New(8)
	paged2, err2 := paged.New(2)
	noError(t, cmp.Or(err4, err8, err2))
	c := &sieveCase{internal: rng.IntN(3) == 0, keys: map[string]bool{}, prefixes: map[string]bool{}}
	c.o.TableFilterPolicy = []filter.TablePolicy{fuse4, fuse8, filter.NewTableBloom(1), filter.NewTableBloom(5), paged2}[rng.IntN(5)]
	c.o.FilterPrefix = []filter.Prefixer{nil, filter.PrefixUntil("/"), filter.PrefixOfLength(2)}[rng.IntN(3)]
	c.o.FilterOnly, c.o.Properties = rng.IntN(2) == 0, rng.IntN(2) == 0
	if c.internal {
		c.o.Comparer = table.InternalComparer(table.BytewiseComparer)
	}
	for range 20 + rng.IntN(300) {
		key := randomPath(rng)
		c.keys[key] = true
		if p := c.o.FilterPrefix; p != nil && p.PrefixLen([]byte(key)) > 0 {
			c.prefixes[key[:p.PrefixLen([]byte(key))]] = true
		}
	}
	c.name = fmt.Sprintf("seed %d: %s, filter only %v, internal keys %v", seed, c.o.TableFilterPolicy.Name(), c.o.FilterOnly, c.internal)
	return c
}

// randomPath returns one of a few thousand keys.
func randomPath(rng *rand.Rand) string { return fmt.Sprintf("%x/%x", rng.IntN(20), rng.IntN(300)) }

// key returns the stored key of a user key.
func (c *sieveCase) key(user string) []byte {
	if c.internal {
		return internalkey.SearchKey(nil, []byte(user), 7)
	}
	return []byte(user)
}

// open opens a table like the commands.
func (c *sieveCase) open(t *testing.T, contents []byte) *dbfile.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.filter")
	noError(t, os.WriteFile(path, contents, 0o666))
	o := dbfile.Options{InternalKeys: dbfile.No}
	if c.internal {
		o.InternalKeys = dbfile.Yes
	}
	f, err := dbfile.Open(path, o)
	noError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// With exceptions for a random list, any table's filter rules out each key of the list, and none of the table's
// keys and prefixes. Everything else is unchanged. Keys of the table and prefixes are rejected as exceptions.
func TestExceptLaw(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	flags, added := &ExceptFlags{Never: "list.txt", knownAbsent: true}, 0
	for seed := range uint64(150) {
		c := randomSieve(t, seed)
		var keys []string
		for _, user := range slices.Sorted(maps.Keys(c.keys)) {
			keys = append(keys, string(c.key(user)))
		}
		f := c.open(t, build(t, c.o, keys...))
		rng := rand.New(rand.NewPCG(33, seed))
		good := map[string]bool{}
		for range rng.IntN(1000) {
			user := randomPath(rng)
			if !c.keys[user] && !c.prefixes[user] {
				good[user] = true
			}
		}
		list := func(yield func([]byte, error) bool) {
			for user := range good {
				if !yield([]byte(user), nil) {
					return
				}
			}
		}
		var out bytes.Buffer
		if err := flags.Write(&out, f, list); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		added += c.check(t, f, c.open(t, out.Bytes()), good)
		c.checkRefused(t, flags, f)
	}
	if added < 1000 {
		t.Errorf("%d exceptions, want many", added)
	}
}

// check compares a table with the original, and returns the number of its exceptions.
func (c *sieveCase) check(t *testing.T, before, f *dbfile.File, good map[string]bool) int {
	t.Helper()
	if err := f.Reader.Verify(); err != nil {
		t.Errorf("%s: %v", c.name, err)
	}
	for i := range 20 {
		for j := range 300 {
			user := fmt.Sprintf("%x/%x", i, j)
			want := filetest.MayContain(before.Reader, c.key(user)) && !good[user]
			if got := filetest.MayContain(f.Reader, c.key(user)); got != want || c.keys[user] && !got {
				t.Errorf("%s: MayContain(%s) = %v, want %v: on the list %v, a key %v", c.name, user, got, want, good[user], c.keys[user])
			}
		}
	}
	l, err := f.Reader.Layout()
	noError(t, err)
	filters, err := l.Filters() // reads paged filters too
	noError(t, err)
	for prefix := range c.prefixes {
		if !filters.Table.Contains([]byte(prefix)) || filters.Never.Contains([]byte(prefix)) {
			t.Errorf("%s: prefix %s is ruled out", c.name, prefix)
		}
	}
	if !c.o.FilterOnly {
		if diff := gocmp.Diff(entriesOf(t, before), entriesOf(t, f)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", c.name, diff)
		}
	}
	return filters.Never.Len()
}

// entriesOf returns the entries of a table.
func entriesOf(t *testing.T, f *dbfile.File) (all []string) {
	t.Helper()
	for e, err := range f.Reader.All(nil) {
		noError(t, err)
		all = append(all, fmt.Sprintf("%q %q", e.Key, e.Value))
	}
	return all
}

// checkRefused checks that stored keys and prefixes are rejected, and named in the error.
func (c *sieveCase) checkRefused(t *testing.T, flags *ExceptFlags, f *dbfile.File) {
	t.Helper()
	for user := range c.keys {
		if c.o.FilterOnly {
			break
		}
		c.checkRefusedKey(t, flags, f, user, "is in the table")
	}
	for prefix := range c.prefixes {
		if !c.keys[prefix] {
			c.checkRefusedKey(t, flags, f, prefix, "may be a prefix")
		}
	}
}

func (c *sieveCase) checkRefusedKey(t *testing.T, flags *ExceptFlags, f *dbfile.File, user, why string) {
	t.Helper()
	var out bytes.Buffer
	err := flags.Write(&out, f, func(yield func([]byte, error) bool) { yield([]byte(user), nil) })
	if want := fmt.Sprintf("%q %s", user, why); err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), ": remove it from list.txt") || out.Len() > 0 {
		t.Errorf("%s: %v, and %d bytes, want %s", c.name, err, out.Len(), want)
	}
}
