package report

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

// engineNames are those of the columns that are measured.
var engineNames = []string{"sievetable", "sievetable, table filter", "goleveldb", "goleveldb with cache", "Pebble iterator"}

// row has a figure for each column, and none where it is 0.
func row(id, section string, x float64, figures ...float64) measure.Row {
	r := measure.Row{ID: id, Section: section, Title: id, X: x}
	for _, v := range figures {
		c := measure.Cell{Missing: "—"}
		if v > 0 {
			c = measure.Cell{Values: []float64{v, 0.9 * v, 1.2 * v}, Allocs: []float64{1}}
		}
		r.Cells = append(r.Cells, c)
	}
	return r
}

// sample returns a report with every chart. Ours takes a hundred nanoseconds, or as many times
// that as slower says.
func sample(slower float64) *Report {
	r := &Report{Command: "go run ./bench/peers", Rounds: 3, Time: "1ms", Entries: 1_000_000, Machine: [][2]string{{"cores", "2"}}}
	for _, name := range engineNames {
		r.Engines.Columns = append(r.Engines.Columns, Column{Name: name, Version: "1.0"})
	}
	r.Engines.Columns[4] = Column{Name: "Pebble iterator", Missing: "not built"}
	ours := 100 * slower
	r.Engines.Rows = []measure.Row{
		row("W1-snappy/"+measure.GetAbsentWarm, measure.SectionSnappy, 0, ours, ours/2, 500, 600, 0),
		row("W1-snappy/"+measure.GetPresentWarm, measure.SectionSnappy, 0, ours, ours, 300, 250, 0),
		row("W1-snappy/"+measure.GetPresentCold, measure.SectionSnappy, 0, ours, ours, 200, 0, 0),
		row("bits-4/"+measure.GetAbsentCold, measure.SectionBits, 4, ours, ours, 300, 0, 0),
		row("bits-20/"+measure.GetAbsentCold, measure.SectionBits, 20, ours, ours/3, 600, 0, 0),
		row(measure.SavedID(0)+"/"+measure.GetAbsentCold, measure.SectionSaved, 0, 800, 0, 900, 0, 0),
		row(measure.SavedID(0)+"/"+measure.ReadsAbsent, measure.SectionSaved, 0, 1, 0, 1, 0, 0),
		row(measure.SavedID(10)+"/"+measure.GetAbsentCold, measure.SectionSaved, 0, ours, 0, 500, 0, 0),
		row(measure.SavedID(10)+"/"+measure.ReadsAbsent, measure.SectionSaved, 0, 0.01*slower, 0, 0.01, 0, 0),
		row("W3-10000/"+measure.GetAbsentWarm, measure.SectionURLs, 10_000, ours, ours/2, 200, 0, 0),
		row("W3-10000000/"+measure.GetAbsentWarm, measure.SectionURLs, 10_000_000, ours, ours/2, 400, 0, 0),
	}
	for _, name := range []string{"Bloom filter", "sorted slice", "list"} {
		r.Membership.Columns = append(r.Membership.Columns, Column{Name: name})
	}
	r.Membership.Rows = []measure.Row{
		row("membership-10/"+measure.AskAbsent, measure.SectionMembership, 10, ours, 300, 1000),
		row("membership-1000/"+measure.AskAbsent, measure.SectionMembership, 1000, ours, 900, 0),
	}
	return r
}

// drawn writes the report's page and charts, and returns their directory.
func drawn(t *testing.T, r *Report) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(r.Save(dir), Draw(dir)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A label is a text of a chart, with its point and size.
type label struct {
	text       string
	x, y, size float64
}

// labels reads a chart to its end, and returns its texts.
func labels(t *testing.T, svg string) (all []label) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "text" {
			continue
		}
		var l label
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "x":
				l.x, err = strconv.ParseFloat(a.Value, 64)
			case "y":
				l.y, err = strconv.ParseFloat(a.Value, 64)
			case "style":
				_, size, _ := strings.Cut(a.Value, "font-size:")
				size, _, _ = strings.Cut(size, "px")
				l.size, err = strconv.ParseFloat(size, 64)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := d.DecodeElement(&l.text, &start); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
}

var chartFiles = []string{"saved.svg", "lookup-by-engine.svg", "lookup-by-entries.svg", "lookup-by-bits.svg", "membership.svg"}

// The page shows all charts. They have colors for light and dark pages, no background, and texts
// that can be read.
func TestCharts(t *testing.T) {
	t.Parallel()
	dir := drawn(t, sample(1))
	page := read(t, dir, File)
	for _, file := range chartFiles {
		if !strings.Contains(page, "("+file+")") {
			t.Errorf("%s does not show %s", File, file)
		}
		svg := read(t, dir, file)
		for _, want := range []string{`<svg width="880" `, "@media (prefers-color-scheme:dark)", "fill:var(--ours)", "fill:var(--peer-", "text-anchor=\"end\""} {
			if !strings.Contains(svg, want) {
				t.Errorf("%s has no %s", file, want)
			}
		}
		if low := strings.ToLower(svg); strings.Contains(low, "#fff") || strings.Contains(low, "white") {
			t.Errorf("%s has something white", file)
		}
		texts := labels(t, svg)
		for _, l := range texts {
			if l.size < 12 || l.x < 0 || l.x > width || strings.Contains(l.text, "—") || strings.Contains(l.text, "W1") {
				t.Errorf("%s: text %q at %v of size %v", file, l.text, l.x, l.size)
			}
		}
		if len(texts) < 8 {
			t.Errorf("%s: %d texts", file, len(texts))
		}
	}
}

// What titles say is computed.
func TestChartTitles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slower float64
		want   map[string][]string
	}{
		{1, map[string][]string{
			"saved.svg":             {"Data blocks read: 100 × fewer", "Time: 8 × less"},
			"lookup-by-engine.svg":  {"Absent keys: 5 × faster than goleveldb", "Present keys, from a full block cache: 2.5 × faster than goleveldb"},
			"lookup-by-entries.svg": {"Absent keys among 10,000 to ten million URLs: 2 to 4 × faster than goleveldb"},
			"lookup-by-bits.svg":    {"Absent keys with 4 to 20 bits of filter per key: 3 to 6 × faster than goleveldb"},
			"membership.svg":        {"Is a key in the set? A Bloom filter is 3 to 9 × faster than a sorted slice"},
		}},
		{2, map[string][]string{
			"lookup-by-engine.svg":  {"Present keys, without a block cache: as fast as goleveldb"},
			"lookup-by-entries.svg": {"Absent keys among 10,000 to ten million URLs: 1 to 2 × faster than goleveldb"},
		}},
		{5, map[string][]string{
			"lookup-by-engine.svg": {"Absent keys: as fast as goleveldb", "Present keys, without a block cache: 2.5 × slower than goleveldb"},
			"lookup-by-bits.svg":   {"from 1.7 × slower to 1.2 × faster than goleveldb"},
		}},
		{8, map[string][]string{"saved.svg": {"Data blocks read: 13 × fewer", "Time: the same"}}},
	} {
		dir := drawn(t, sample(c.slower))
		page := read(t, dir, File)
		for file, titles := range c.want {
			for _, title := range titles {
				if !strings.Contains(read(t, dir, file), title) || !strings.Contains(page, title) {
					t.Errorf("ours %v × slower: %s and its alternative text do not both say %q", c.slower, file, title)
				}
			}
		}
	}
}

// Engines without a figure are named with the reason, and those with one have it at their bar.
func TestByEngine(t *testing.T) {
	t.Parallel()
	svg := read(t, drawn(t, sample(20)), "lookup-by-engine.svg")
	var got []string
	for _, l := range labels(t, svg) {
		got = append(got, l.text)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		"goleveldb with cache\n600 ns", "sievetable\n2,000 ns",
		"Not shown: goleveldb with cache, which always reads through its cache; Pebble iterator, not built",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q among the texts:\n%s", want, all)
		}
	}
}
