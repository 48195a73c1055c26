package report

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
)

// hostileKey is one whose 64 bytes are longest in a page.
func hostileKey(n int) []byte {
	return table.InternalKey{UserKey: fmt.Appendf(nil, "%08d%s", n, strings.Repeat("\"<\"", 50)), Kind: table.KindSet}.Append(nil)
}

// hugeSummary is of a database that is said to have very many tables, none of which is
// there, and of as many logs.
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

// However many tables and logs there are said to be, the page stays small, and says how many
// it leaves out.
func TestDatabasePageIsBounded(t *testing.T) {
	var page bytes.Buffer
	if err := NewDatabase(hugeSummary(20_000), false).Write(&page); err != nil {
		t.Fatal(err)
	}
	if n := page.Len(); n > 4<<20 {
		t.Errorf("the page has %d bytes, want at most 4 MiB", n)
	}
	for text, want := range map[string]int{"and 19,500 more, not shown": 3, "and 19,900 more, not shown": 1, "and 9,984 more that overlap": 1} {
		if n := strings.Count(page.String(), text); n != want {
			t.Errorf("%q is there %d times, want %d", text, n, want)
		}
	}
	t.Logf("%d bytes", page.Len())
}

// An unknown order has no picture.
func TestDatabaseWithoutPicture(t *testing.T) {
	s := hugeSummary(2)
	s.Order, s.Comparer = table.AnyOrder, "<b>test</b>"
	if d := NewDatabase(s, false).Sections[0]; d.Picture != nil || !strings.Contains(d.Text, `does not know the order of "<b>test</b>"`) {
		t.Errorf("picture %v, %q", d.Picture, d.Text)
	}
	s.Manifest = nil
	if d := NewDatabase(s, false).Sections[0]; d.Picture != nil || !strings.Contains(d.Text, "no readable MANIFEST") {
		t.Errorf("picture %v, %q", d.Picture, d.Text)
	}
	if d := NewDatabase(&summary.Summary{Manifest: new(summary.File), LastSequence: new(uint64), Order: table.BytewiseComparer}, false).Sections[0]; d.Picture != nil || d.Text == "" {
		t.Errorf("picture %v, %q", d.Picture, d.Text)
	}
}

// The page fits a phone, and what comes from the database is text in it.
func TestDatabasePageOnPhone(t *testing.T) {
	const script = `</title></style><script>window.fooled=1</script><img src=x onerror=fooled=1>`
	s := hugeSummary(60)
	s.Path, s.Comparer = strings.Repeat("directory", 20)+script, script
	s.Notes, s.Damage = []string{script}, []string{script}
	s.Logs[0].Name = script
	page := pagetest.Open(t, save(t, NewDatabase(s, false).Write), 360)
	page.CheckWidth("360 pixels")
	names := pagetest.Evaluate[[]string](page, `[...document.querySelectorAll("#tables-title + div tbody tr:first-child td")].map((e) => getComputedStyle(e, "::before").content)`)
	if diff := cmp.Diff([]string{`"Level"`, `"Size"`, `"Smallest key"`, `"Largest key"`}, names); diff != "" {
		t.Errorf("names of cells (-want +got):\n%s", diff)
	}
	if got := page.Text("h1"); got != s.Path {
		t.Errorf("the heading is %q, want %q", got, s.Path)
	}
	if pagetest.Evaluate[bool](page, `"fooled" in window || document.images.length > 0 || document.scripts.length > 0`) {
		t.Error("the database's text became elements of the page")
	}
	// The page's policy lets its style in.
	if got := pagetest.Evaluate[string](page, `getComputedStyle(document.querySelector(".levels > li")).display`); got != "grid" {
		t.Errorf("rows of the picture are displayed as %q, want grid", got)
	}
}

// The keyboard comes to the tables of the page, to scroll them, and to nothing else.
func TestDatabaseControls(t *testing.T) {
	t.Parallel()
	path := save(t, NewDatabase(hugeSummary(60), false).Write)
	for _, width := range pagetest.Widths {
		page := pagetest.Open(t, path, width)
		page.Operate([]pagetest.Control{
			{Element: ".scroll[aria-labelledby=levels-title]", Name: "region Levels"},
			{Element: ".scroll[aria-labelledby=tables-title]", Name: "region Tables"},
			{Element: ".scroll[aria-labelledby=others-title]", Name: "region Tables not listed in the MANIFEST"},
			{Element: ".scroll[aria-labelledby=logs-title]", Name: "region Logs"},
		})
		page.CheckWidth("a database")
	}
}

// The colours of the bars that there are have a legend, and large numbers have commas.
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
		if err := NewDatabase(s, tt.noLogs).Write(&out); err != nil {
			t.Fatal(err)
		}
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
