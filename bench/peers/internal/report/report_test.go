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
		row(measure.Usual+"/"+measure.GetAbsentWarm, measure.SectionSnappy, 0, ours, ours/2, 0, 600, 0),
		row(measure.Usual+"/"+measure.GetAbsentCold, measure.SectionSnappy, 10, ours, ours/2, 500, 0, 0),
		row(measure.Usual+"/"+measure.GetPresentWarm, measure.SectionSnappy, 0, ours, ours, 300, 250, 0),
		row(measure.Usual+"/"+measure.GetPresentCold, measure.SectionSnappy, 0, ours, ours, 200, 0, 0),
		row(measure.Usual+"/"+measure.ReadsAbsent, measure.SectionSnappy, 0, 0.01*slower, 0, 0.01, 0, 0),
		row("bits-4/"+measure.GetAbsentCold, measure.SectionBits, 4, ours, ours, 300, 0, 0),
		row("bits-20/"+measure.GetAbsentCold, measure.SectionBits, 20, ours, ours/3, 600, 0, 0),
		row(measure.NoFilter+"/"+measure.GetAbsentCold, measure.SectionBits, 0, 800, 0, 900, 0, 0),
		row(measure.NoFilter+"/"+measure.ReadsAbsent, measure.SectionBits, 0, 1, 0, 1, 0, 0),
		row("W3-10000/"+measure.GetAbsentWarm, measure.SectionURLs, 10_000, ours, ours/2, 0, 200, 0),
		row("W3-10000000/"+measure.GetAbsentWarm, measure.SectionURLs, 10_000_000, ours, ours/2, 0, 400, 0),
	}
	for _, name := range []string{"Bloom filter", "sorted slice", "Go map", "list"} {
		r.Membership.Columns = append(r.Membership.Columns, Column{Name: name})
	}
	r.Membership.Rows = []measure.Row{
		row("membership-10/"+measure.AskAbsent, measure.SectionMembership, 10, ours, 300, 50, 1000),
		row("membership-1000/"+measure.AskAbsent, measure.SectionMembership, 1000, ours, 900, 500, 0),
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
