package report

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/internalkey"
)

var (
	flipAt    = filetest.Flip
	noError   = errtest.NoError
	writeFile = filetest.Write
)

// writeTable writes a table, and returns its path.
func writeTable(t testing.TB, name string, o table.WriterOptions, pairs []workload.Pair) string {
	t.Helper()
	return writeFile(t, name, tabletest.Build(t, &o, pairs))
}

// openTable opens a table, and closes it at the end of the test.
func openTable(t testing.TB, path string) *dbfile.File {
	t.Helper()
	f, err := dbfile.Open(path, dbfile.Options{})
	noError(t, err)
	t.Cleanup(func() { noError(t, f.Close()) })
	return f
}

// writePage writes the page about a table that may be damaged, and returns its path.
func writePage(t testing.TB, f *dbfile.File, o Options) string {
	t.Helper()
	if o.Source == "" {
		o.Source = "t.ldb"
	}
	m, _ := New(f, o)
	return save(t, m.Write)
}

// openPage writes a table and the page about it, and opens the page in a window of that width.
func openPage(t *testing.T, o table.WriterOptions, pairs []workload.Pair, shown Options, width int64) *pagetest.Tab {
	t.Helper()
	return pagetest.Open(t, writePage(t, openTable(t, writeTable(t, "t.ldb", o, pairs)), shown), width)
}

// checkText compares the text of an element.
func checkText(t *testing.T, page *pagetest.Tab, element, want string) {
	t.Helper()
	if got := page.Text(element); got != want {
		t.Errorf("%s is %q, want %q", element, got, want)
	}
}

// checkStarts checks the start of an element's text.
func checkStarts(t *testing.T, page *pagetest.Tab, element, want string) {
	t.Helper()
	if got := page.Text(element); !strings.HasPrefix(got, want) {
		t.Errorf("%s is %q, want %q at its start", element, got, want)
	}
}

// checkContains checks that an element's text contains another text.
func checkContains(t *testing.T, page *pagetest.Tab, element, want string) {
	t.Helper()
	if got := page.Text(element); !strings.Contains(got, want) {
		t.Errorf("%s is %q, want %q in it", element, got, want)
	}
}

// save writes a page, and returns its path.
func save(t testing.TB, page func(io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	noError(t, page(&out))
	return writeFile(t, "page.html", out.Bytes())
}

// plainPairs returns n pairs of keys that can be typed.
func plainPairs(n int) []workload.Pair {
	var pairs []workload.Pair
	for i := range n {
		pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "key%06d", i), Value: fmt.Appendf(nil, "value of %d, and some more of it", i)})
	}
	return pairs
}

// bytePairs returns up to n pairs whose keys are up to 24 arbitrary bytes.
func bytePairs(n int) []workload.Pair {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for range n {
		key := make([]byte, rng.IntN(25))
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		seen[string(key)] = true
	}
	var pairs []workload.Pair
	for key := range seen {
		pairs = append(pairs, workload.Pair{Key: []byte(key), Value: []byte{1}})
	}
	slices.SortFunc(pairs, func(a, b workload.Pair) int { return slices.Compare(a.Key, b.Key) })
	return pairs
}

// internalOptions are the options for tables of a database.
func internalOptions(o table.WriterOptions) table.WriterOptions {
	o.Comparer, o.FilterKey = table.InternalComparer(table.BytewiseComparer), internalkey.UserKey
	return o
}

// reserved makes filters with a k that LevelDB reserves. They contain every key.
type reserved struct{ filter.Bloom }

func (r reserved) NewGenerator() filter.Generator { return reservedGenerator{r.Bloom.NewGenerator()} }

type reservedGenerator struct{ filter.Generator }

func (g reservedGenerator) Generate(b filter.Buffer) {
	var made filter.Bytes
	g.Generator.Generate(&made)
	made[len(made)-1] = 31
	_, _ = b.Write(made) // a Buffer's Write never fails
}

// questions returns n keys to look up: present keys, and keys that differ from one in a byte, are longer, shorter,
// or quite different.
func questions(present [][]byte, n int) [][]byte {
	rng := rand.New(rand.NewPCG(3, 4))
	var keys [][]byte
	for i := range n {
		key := make([]byte, rng.IntN(24))
		for j := range key {
			key[j] = byte(rng.Uint32())
		}
		if len(present) > 0 && i%5 != 0 {
			key = slices.Clone(present[rng.IntN(len(present))])
		}
		switch {
		case i%5 == 1:
			key = append(key, byte(rng.Uint32()))
		case i%5 == 2 && len(key) > 0:
			key[rng.IntN(len(key))]++
		case i%5 == 3 && len(key) > 0 && i%10 == 3:
			key = key[:len(key)-1]
		}
		keys = append(keys, key)
	}
	return keys
}
