package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/set"
)

// hostileKey is a key whose 64 bytes take the most space in a page.
func hostileKey(n int) []byte {
	return internalkey.Key{UserKey: fmt.Appendf(nil, "%08d%s", n, strings.Repeat("\"<\"", 50)), Kind: internalkey.Set}.Append(nil)
}

// hugeSummary describes a database that claims to have very many tables, none of which exists, and as many logs.
func hugeSummary(tables int) *summary.Summary {
	live := true
	s := &summary.Summary{
		Path: "db", Manifest: &summary.File{Name: "MANIFEST-000001"}, LastSequence: new(uint64),
		Levels: []summary.Level{{Level: 0, Tables: tables / 2}, {Level: 1, Tables: tables - tables/2}}, Order: table.BytewiseComparer,
	}
	for i := range tables {
		t := versions.Table{Level: 2 * i / tables, Number: uint64(i), Smallest: hostileKey(2 * i), Largest: hostileKey(2*i + 1)}
		if t.Level == 0 {
			t.Largest = hostileKey(tables + i)
		}
		s.Tables = append(s.Tables, t)
		name := fmt.Sprintf("%s%d", strings.Repeat("0", 200), i)
		log := &summary.LogStats{Writes: 1, Smallest: t.Smallest, Largest: t.Largest}
		s.Logs = append(s.Logs, summary.File{Name: name + ".log", Live: &live, Log: log})
		s.Others = append(s.Others, summary.File{Name: name + ".ldb"})
		s.Damage = append(s.Damage, name+" is not there")
	}
	return s
}

// However many tables and logs a database claims to have, or tables a set, the page stays small, and shows how many
// it leaves out.
func TestPagesAreBounded(t *testing.T) {
	counts := map[string]int{"and 19,500 more, not shown": 3, "and 19,900 more, not shown": 1, "and 9,984 more that overlap": 1}
	checkBounded(t, NewDatabase(hugeSummary(20_000), false).Write, counts)
	counts = map[string]int{"and 19,500 more, not shown": 1, "and 19,900 more, not shown": 1, "5,000 tables of removals: listed": 1}
	checkBounded(t, NewSet(hugeSet(20_000), "urls", nil, 0).Write, counts)
}

// checkBounded checks that a page is small, and how often it contains certain texts.
func checkBounded(t *testing.T, write func(io.Writer) error, counts map[string]int) {
	t.Helper()
	var page bytes.Buffer
	noError(t, write(&page))
	if n := page.Len(); n > 4<<20 {
		t.Errorf("the page has %d bytes, want at most 4 MiB", n)
	}
	for text, want := range counts {
		if n := strings.Count(page.String(), text); n != want {
			t.Errorf("%q is there %d times, want %d", text, n, want)
		}
	}
}

// If the order is unknown, there is no picture.
func TestDatabaseWithoutPicture(t *testing.T) {
	unordered, unlisted := hugeSummary(2), hugeSummary(2)
	unordered.Order, unordered.Comparer = table.AnyOrder, "<b>test</b>"
	unlisted.Manifest = nil
	empty := &summary.Summary{Manifest: new(summary.File), LastSequence: new(uint64), Order: table.BytewiseComparer}
	for s, want := range map[*summary.Summary]string{unordered: `does not know the order of "<b>test</b>"`, unlisted: "no readable MANIFEST", empty: " "} {
		if d := NewDatabase(s, false).Sections[0]; d.Picture != nil || !strings.Contains(d.Text, want) {
			t.Errorf("picture %v, %q, want none, and %q", d.Picture, d.Text, want)
		}
	}
}

// The pages of a database and of a set fit phones, need no mouse, allow their own styles, and show data of the
// files as text. The keyboard reaches only their tables, to scroll them.
func TestSummaryPages(t *testing.T) {
	t.Parallel()
	const script = `</title></style><script>window.fooled=1</script><img src=x onerror=fooled=1>`
	db, set := hugeSummary(60), hugeSet(20)
	db.Path, db.Comparer, db.Logs[0].Name = strings.Repeat("directory", 20)+script, script, script
	db.Notes, db.Damage = []string{script}, []string{script}
	set.Damage, set.Notes, set.Manifest = []string{script}, []string{script}, filepath.Join(strings.Repeat("directory", 20)+script, "set.jsonl")
	for _, tt := range []struct {
		name, heading string
		write         func(io.Writer) error
		controls      []pagetest.Control
		firstCells    string // of the list of tables
	}{
		{"a database", db.Path, NewDatabase(db, false).Write, []pagetest.Control{
			{Element: ".scroll[aria-labelledby=levels-title]", Name: "region Levels"},
			{Element: ".scroll[aria-labelledby=tables-title]", Name: "region Tables"},
			{Element: ".scroll[aria-labelledby=others-title]", Name: "region Tables not listed in the MANIFEST"},
			{Element: ".scroll[aria-labelledby=logs-title]", Name: "region Logs"},
		}, `"Level" "Size" "Smallest key" "Largest key"`},
		{"a set", script, NewSet(set, script, nil, 0).Write, []pagetest.Control{{Element: ".scroll[aria-labelledby=tables-title]", Name: "region Tables"}}, ""},
	} {
		path := save(t, tt.write)
		for _, width := range slices.Concat(pagetest.Widths, []int64{360}) {
			page := pagetest.Open(t, path, width)
			page.CheckWidth(tt.name)
			page.Operate(tt.controls)
			checkText(t, page, "h1", tt.heading)
			if pagetest.Evaluate[bool](page, `"fooled" in window || document.images.length > 0 || document.scripts.length > 0`) {
				t.Errorf("%s: its text became elements of the page", tt.name)
			}
			checkGrid(t, page)
			if broken := pagetest.Evaluate[int](page, `[...document.querySelectorAll(".ext")].filter((e) => e.getClientRects().length !== 1).length`); broken > 0 {
				t.Errorf("%s, %d pixels: %d file names have a line break in their extension", tt.name, width, broken)
			}
			cells := pagetest.Evaluate[[]string](page, `[...document.querySelectorAll("#tables-title + div tbody tr:first-child td")].map((e) => getComputedStyle(e, "::before").content)`)
			if got := strings.Join(cells, " "); width == 360 && tt.firstCells != "" && got != tt.firstCells {
				t.Errorf("%s: names of cells are %s, want %s", tt.name, got, tt.firstCells)
			}
		}
	}
}

// checkGrid checks that the page's security policy allows its styles.
func checkGrid(t *testing.T, page *pagetest.Tab) {
	t.Helper()
	if got := pagetest.Evaluate[string](page, `getComputedStyle(document.querySelector(".levels > li")).display`); got != "grid" {
		t.Errorf("rows of the picture are displayed as %q, want grid", got)
	}
}

// The legend explains exactly the colors of bars in the picture. Large numbers have commas.
func TestDatabaseLegend(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		noLogs bool
		want   string
	}{
		{"logs", false, "tables live logs files that are missing, or not of the size in the MANIFEST"},
		{"no logs", true, "tables files that are missing, or not of the size in the MANIFEST"},
	} {
		s := hugeSummary(3)
		*s.LastSequence = math.MaxUint64
		var out bytes.Buffer
		noError(t, NewDatabase(s, tt.noLogs).Write(&out))
		_, legend, _ := strings.Cut(out.String(), `<p class="legend">`)
		legend, _, _ = strings.Cut(legend, "</p>")
		words := regexp.MustCompile("<[^>]*>").ReplaceAllString(legend, " ")
		if got := strings.Join(strings.Fields(words), " "); got != tt.want {
			t.Errorf("%s: the legend is %q, want %q", tt.name, got, tt.want)
		}
		if want := "<dd>18,446,744,073,709,551,615</dd>"; !strings.Contains(out.String(), want) {
			t.Errorf("%s: the page does not have %s", tt.name, want)
		}
	}
}

// hugeSet describes a set that claims to have very many tables, half of them in a layer.
func hugeSet(tables int) *summary.SetSummary {
	s := &summary.SetSummary{Manifest: "urls/set.jsonl", Tables: tables, Layers: 1}
	for i := range tables {
		name := fmt.Sprintf("%06d%s.ldb", i, strings.Repeat("<i>", 70))
		line := &set.Table{Name: name, Size: 1 << 20, Entries: 1000, Smallest: hostileKey(2 * i), Largest: hostileKey(2*i + 1)}
		s.Files = append(s.Files, summary.SetTable{File: dbdir.File{Line: line, Layer: 1 - 2*i/tables, Removals: i < tables/4}, Problem: "does not exist"})
		s.Damage = append(s.Damage, name+" is not there")
	}
	return s
}
