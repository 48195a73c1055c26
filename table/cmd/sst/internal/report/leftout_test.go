package report

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/codecs"
)

// writeSmall writes the page with at most held bytes of index and filters, and all entries of the blocks in this
// index.
func writeSmall(t *testing.T, f *dbfile.File, held int64) string {
	t.Helper()
	m, err := newModel(f, Options{Embed: 1 << 20, Source: "t.ldb"}, held)
	noError(t, err)
	return save(t, m.Write)
}

// The page lists the parts that it leaves out, with numbers. Lookups that need them show a command to run.
func TestPageLeavesOut(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Compression: table.NoCompression}
	f := openTable(t, writeTable(t, "t.ldb", o, plainPairs(3000)))
	const explain = "For all steps, run: sst get t.ldb --explain %s"
	both, blocks := "This page leaves out the table filter and the block filters. ", "This page leaves out the block filters. "
	for _, tt := range []struct {
		name          string
		held          int64
		says          string
		key           string
		answer, steps string
	}{
		{"block filters", 5000, "the block filters (4.0 kB).", "key002500",
			"✓ Found “key002500” It has a value of 34 bytes, “value of 2500, and some more of …”. " + blocks + fmt.Sprintf(explain, "key002500"),
			"Block filter ? not in the page policy"},
		{"both filters", 1000, "the table filter (3.8 kB) and the block filters (4.0 kB).", "key0025000",
			"✗ Absent “key0025000” The data block does not contain the key. " + both + fmt.Sprintf(explain, "key0025000"),
			"Table filter ? not in the page policy"},
		{"not all of the index", 500, "the last 3 of 29 data blocks, the table filter (3.8 kB) and the block filters (4.0 kB).", "key002999",
			"? Not in the page “key002999” The key may be in the last 3 data blocks, which this page leaves out. " + both + fmt.Sprintf(explain, "key002999"),
			"Index ? not in the page"},
	} {
		page := pagetest.Open(t, writeSmall(t, f, tt.held), 390)
		checkText(t, page, "#held", "This page leaves out "+tt.says)
		page.Submit("#key", tt.key)
		checkText(t, page, "#answer", tt.answer)
		checkContains(t, page, "#way", tt.steps)
		page.CheckWidth(tt.name)
	}
}

// Blocks that the page leaves out may contain keys of a marked range, and the map shows where they are.
func TestMarkedWithBlocksLeftOut(t *testing.T) {
	t.Parallel()
	f := openTable(t, writeTable(t, "t.ldb", table.WriterOptions{Compression: table.NoCompression}, plainPairs(3000)))
	page := pagetest.Open(t, writeSmall(t, f, 500), 1200)
	got := pagetest.Call[[]string](page, mark, escapedRanges([]keyRange{{Prefix: "key00050"}, {From: "key0024"}, {From: "z"}}))
	const beyond = " The 3 blocks not in this page may contain more."
	want := []string{
		"1 of 29 data blocks, 4.1 kB, contains such keys.", "4 of 29 data blocks, 17 kB, may contain such keys." + beyond, "No data block in this page contains such keys." + beyond,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	checkContains(t, page, "#parts", "data, not in this page")
}

// The page cannot check keys in a paged filter, and says so.
func TestPagedFilterLeftOut(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: paged.Policy{}, FilterPolicy: filter.NewBloom(10)}
	page := openPage(t, o, plainPairs(3000), Options{Embed: 1 << 20}, 1000)
	checkText(t, page, "#held", "This page leaves out the table filter (8.2 kB).")
	checkContains(t, page, "#filters", "This page does not show the bits of the filter")
	for key, want := range map[string]string{"key000500": "✓ Found", "key000500~": "✗ Absent"} {
		page.Submit("#key", key)
		checkStarts(t, page, "#answer", want)
	}
}

// If the filter of a filter-only table is left out of the page, lookups have no result.
func TestFilterOnlyLeftOut(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: fusePolicy(t, 8), FilterOnly: true}
	f := openTable(t, writeTable(t, "t.ldb", o, withoutValues(plainPairs(3000))))
	page := pagetest.Open(t, writeSmall(t, f, 1000), 390)
	page.Submit("#key", "key000500")
	want := "? Not in the page “key000500” There are no entries to check. This page leaves out the table filter. For all steps, run: sst get t.ldb --explain key000500"
	checkText(t, page, "#answer", want)
}

// Damage of very many blocks is counted, and listed up to a limit.
func TestDamageIsBounded(t *testing.T) {
	t.Parallel()
	path := writeTable(t, "t.ldb", table.WriterOptions{Compression: table.NoCompression, BlockSize: 1}, plainPairs(2500))
	f := openTable(t, path)
	contents, err := os.ReadFile(path)
	noError(t, err)
	for _, b := range f.Layout.Data {
		contents[b.Offset] ^= 0xff
	}
	noError(t, os.WriteFile(path, contents, 0o666))
	m, _ := newModel(f, Options{}, 100_000)
	named := len(m.Damage.Shown)
	if named+m.Damage.Left != 2500 || named != maxMessages || m.Blocks.Left == 0 || m.Blocks.Left != 2500-len(m.Blocks.Errors) {
		t.Errorf("%d damaged, of which %d are named; %d blocks have an error and %d are left out", named+m.Damage.Left, named, len(m.Blocks.Errors), m.Blocks.Left)
	}
}

// The page of a table with millions of keys stays under 30 MB, and loads.
func TestPageIsBounded(t *testing.T) {
	long.Test(t)
	t.Parallel()
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(24), TableFilterPolicy: filter.NewTableBloom(60)}
	path := writeTable(t, "t.ldb", o, numbered(2_000_000))
	page := writePage(t, openTable(t, path), Options{Embed: 8_000_000})
	info, err := os.Stat(page)
	noError(t, err)
	if info.Size() >= 30_000_000 {
		t.Errorf("the page has %d bytes, want < 30 MB", info.Size())
	}
	tab := pagetest.Open(t, page, 390)
	if got := tab.Text("#held"); !strings.Contains(got, "the block filters (") || !strings.Contains(got, "data blocks") {
		t.Errorf("the page says %q, want what it leaves out", got)
	}
	checkStarts(t, tab, "#answer", "✓ Found")
}

// The page is at most twice as large as the table.
func TestPageIsAsLargeAsTheTable(t *testing.T) {
	t.Parallel()
	for _, codec := range []table.Codec{table.Snappy, codecs.Zstd} {
		f := openTable(t, writeTable(t, "t.ldb", table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec}, plainPairs(200_000)))
		info, err := os.Stat(writePage(t, f, Options{Embed: 8_000_000}))
		noError(t, err)
		if info.Size() > 2*f.Size {
			t.Errorf("%v: the page of a table of %d bytes has %d bytes, want at most twice as many", codec, f.Size, info.Size())
		}
	}
}

// numbered returns n pairs whose keys look like addresses.
func numbered(n int) []workload.Pair {
	pairs := make([]workload.Pair, n)
	for i := range pairs {
		pairs[i] = workload.Pair{Key: fmt.Appendf(nil, "https://www.example.org/%08d/reviews", i), Value: []byte{byte(i)}}
	}
	return pairs
}

// The page reports the parts that it lacks because of damage. Blocks of zstd and zlib, which have the same
// compression id, are told apart.
func TestPageOfDamagedTable(t *testing.T) {
	t.Parallel()
	for _, codec := range []table.Codec{codecs.Zstd, codecs.Zlib} {
		path := writeTable(t, "t.ldb", table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: codec}, plainPairs(1000))
		l := openTable(t, path).Layout
		flipAt(t, path, int64(l.Data[1].Offset))
		flipAt(t, path, int64(l.Data[3].Offset))
		flipAt(t, path, int64(l.Metaindex.Offset)-10) // in the filter block
		page := pagetest.Open(t, writePage(t, openTable(t, path), Options{Embed: 1 << 20}), 390)
		want := "This page contains all of the index, filters and keys that can be read. The keys of 2 damaged data blocks are missing. Another 1 damaged part is missing."
		checkText(t, page, "#held", want)
		page.TabTo("input[name=by]")
		page.Do(chromedp.KeyEvent(kb.ArrowRight))
		name := map[table.Codec]string{codecs.Zstd: "zstd", codecs.Zlib: "zlib"}[codec]
		if got := page.Text("#parts"); !strings.Contains(got, name+" 9 ") || strings.Contains(got, "or zlib") {
			t.Errorf("the parts are %q, want %s", got, name)
		}
		page.CheckWidth("a damaged table")
	}
}
