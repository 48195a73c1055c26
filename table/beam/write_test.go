package setio_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	setio "github.com/sievetable/sievetable/table/beam"
	"github.com/sievetable/sievetable/table/set"
)

// writers are options for tables.
var writers = map[string]*table.WriterOptions{
	"12 bits":       {FilterPolicy: filter.NewBloom(12)},
	"table filters": {TableFilterPolicy: filter.NewTableBloom(10), Compression: table.NoCompression},
	"filters only":  {TableFilterPolicy: filter.NewTableBloom(10), FilterOnly: true},
	"never c":       {TableFilterPolicy: filter.NewTableBloom(10), Never: onlyC},
	"defaults":      nil,
	"bad":           {BlockSize: -1},
}

func init() {
	for name, o := range writers {
		setio.RegisterWriter(name, func() *table.WriterOptions { return o })
	}
}

// onlyC yields the key "c".
func onlyC(yield func([]byte, error) bool) { yield([]byte("c"), nil) }

// shuffledURLs returns n URLs in random order, every tenth of them three times.
func shuffledURLs(n int) [][]byte {
	keys := workload.W3(n).Keys
	for i := 0; i < n; i += 10 {
		keys = append(keys, keys[i], keys[i])
	}
	rand.New(rand.NewPCG(17, 17)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// sortUnique returns the output of sort -u.
func sortUnique(keys [][]byte) []string {
	var sorted []string
	for _, key := range keys {
		sorted = append(sorted, string(key))
	}
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// A scan of the set returns the output of sort -u for the files. The tables have about the same number of keys each.
func TestWriteAsSort(t *testing.T) {
	for name, test := range map[string]struct {
		keys, tables int
		o            setio.Options
	}{
		"10 tables":                 {100_000, 10, setio.Options{EntriesPerTable: 10_000}},
		"one table":                 {10_000, 1, setio.Options{}},
		"filters of whole tables":   {10_000, 5, setio.Options{EntriesPerTable: 2000, Writer: "table filters"}},
		"defaults of package table": {10_000, 5, setio.Options{EntriesPerTable: 2000, Writer: "defaults"}},
	} {
		t.Run(name, func(t *testing.T) {
			keys := shuffledURLs(test.keys)
			m, _ := buildSet(t, writeFiles(t, 7, keys), test.o, sortUnique(keys))
			if n := len(m.Tables); n < test.tables || n > test.tables+1 {
				t.Errorf("%d tables, want %d or %d", n, test.tables, test.tables+1)
			}
			checkEven(t, m)
		})
	}
}

// The same lines produce the same set, even in other files and sorted in other runs.
func TestWriteTwice(t *testing.T) {
	keys := shuffledURLs(10_000)
	want := sortUnique(keys)
	_, first := buildSet(t, writeFiles(t, 1, keys), setio.Options{EntriesPerTable: 200}, want)
	m, second := buildSet(t, writeFiles(t, 7, keys), setio.Options{EntriesPerTable: 200, RunSize: 20_000}, want)
	checkDiff(t, "manifests of two builds", first, second)
	if n := len(m.Tables); n != 50 {
		t.Errorf("%d tables, want 50: all keys are sampled", n)
	}
}

// buildSet builds a set in a new directory, and checks that it contains these keys. It returns the manifest and its
// bytes.
func buildSet(t *testing.T, files []string, o setio.Options, want []string) (*set.Manifest, string) {
	t.Helper()
	dir := t.TempDir()
	noError(t, build(dir, files, o))
	m, file := readSet(t, dir)
	if got := scan(t, dir); !slices.Equal(want, got) { // much faster than cmp.Diff
		t.Errorf("keys (-want +got):\n%s", cmp.Diff(want, got))
	}
	checkDiff(t, "files", namesOf(m), list(t, dir))
	return m, file
}

// checkEven checks that no table is much larger than the others.
func checkEven(t *testing.T, m *set.Manifest) {
	t.Helper()
	entries, largest := countEntries(m)
	if mean := float64(entries) / float64(len(m.Tables)); float64(largest) > 1.3*mean {
		t.Errorf("the largest of %d tables has %d entries, want ≤ 1.3 × the mean of %.0f", len(m.Tables), largest, mean)
	}
}

// Each line is a key, whatever its bytes, even an empty line. Duplicates occur once.
func TestEachLineIsAKeyOnce(t *testing.T) {
	longest := strings.Repeat("k", 256<<10)
	for name, test := range map[string]struct{ files, want []string }{
		"any bytes":        {files: []string{"\nb\na\r\n", "\xff\x00\na\n", "b\nc", ""}, want: []string{"", "a", "a\r", "b", "c", "\xff\x00"}},
		"only empty files": {files: []string{"", ""}, want: nil},
		"the longest key":  {files: []string{longest + "\n" + longest}, want: []string{longest}},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := buildSet(t, writeContents(t, test.files), setio.Options{EntriesPerTable: 1}, test.want)
			if len(m.Tables) != len(test.want) {
				t.Errorf("%d tables, want %d of one key each", len(m.Tables), len(test.want))
			}
		})
	}
}

// Tables can contain only a filter.
func TestFilterOnlyTables(t *testing.T) {
	keys := shuffledURLs(10_000)
	dir := t.TempDir()
	noError(t, build(dir, writeFiles(t, 2, keys), setio.Options{EntriesPerTable: 4000, Writer: "filters only"}))
	m, _ := readSet(t, dir)
	for _, line := range m.Tables {
		if !strings.HasSuffix(line.Name, ".filter") {
			t.Errorf("name %q, want another extension than LevelDB tables have", line.Name)
		}
	}
	if entries, _ := countEntries(m); entries != 10_000 {
		t.Errorf("the filters have %d keys, want 10000", entries)
	}
}
