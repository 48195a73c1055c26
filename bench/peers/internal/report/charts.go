package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/theme"
)

// A chart is a file beside the page.
type chart struct {
	Title, File string
}

// width is a README's on GitHub, in pixels: texts are as large there as they are here.
const width = 880

// A drawing is what a chart shows.
type drawing struct {
	title  string // what it finds
	height vg.Length
	draw   func(c draw.Canvas) error
}

// draw draws the charts whose figures are there.
func (r *Report) draw(dir string) ([]chart, error) {
	var drawn []chart
	for _, c := range []struct {
		file string
		draw func() *drawing // nil if there are no figures
	}{
		{"saved.svg", r.saved},
		{"lookup-by-engine.svg", r.byEngine},
		{"lookup-by-entries.svg", r.byEntries},
		{"lookup-by-bits.svg", r.byBits},
		{"membership.svg", r.byKeys},
	} {
		d := c.draw()
		if d == nil {
			continue
		}
		if err := d.save(filepath.Join(dir, c.file)); err != nil {
			return nil, fmt.Errorf("%s: %w", c.file, err)
		}
		drawn = append(drawn, chart{d.title, c.file})
	}
	return drawn, nil
}

// save draws into the file.
func (d *drawing) save(file string) error {
	svg := vgsvg.New(width, d.height)
	if err := d.draw(draw.New(svg)); err != nil {
		return err
	}
	var out bytes.Buffer
	if _, err := svg.WriteTo(&out); err != nil {
		return err
	}
	themed, err := theme.Apply(out.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(file, themed, 0o666)
}

// find returns the rows of a section or with an ID.
func (r *Results) find(sectionOrID string) []measure.Row {
	var rows []measure.Row
	for _, row := range r.Rows {
		if row.Section == sectionOrID || strings.HasSuffix(row.ID, sectionOrID) {
			rows = append(rows, row)
		}
	}
	return rows
}

// rival is the engine that titles compare with, with and without its cache.
const rival = "goleveldb"

// best returns the least median of the row's columns whose names begin like this, and the name of
// that column; 0 if there is none.
func (r *Results) best(row measure.Row, name string) (least float64, column string) {
	for i, c := range row.Cells {
		if !strings.HasPrefix(r.Columns[i].Name, name) || len(c.Values) == 0 {
			continue
		}
		if m := median(c.Values); least == 0 || m < least {
			least, column = m, r.Columns[i].Name
		}
	}
	return least, column
}

// ratios returns, for each row that both have figures in, how many times ours the best of the
// columns is whose names begin like this.
func (r *Results) ratios(rows []measure.Row, name string) []float64 {
	var all []float64
	for _, row := range rows {
		least, _ := r.best(row, name)
		if ours := row.Cells[0].Values; least > 0 && len(ours) > 0 && median(ours) > 0 {
			all = append(all, least/median(ours))
		}
	}
	return all
}

// finding is the subject with how the ratios compare; the subject alone if there are none.
func finding(subject string, w words, name string, ratios []float64) string {
	if len(ratios) == 0 {
		return strings.TrimSuffix(subject, ":")
	}
	return strings.TrimSuffix(subject+" "+w.compare(ratios...)+" "+name, " ")
}

// spoken writes the numbers of entries that are usual here as people say them.
func spoken(n int) string {
	switch n {
	case 1_000_000:
		return "a million"
	case 10_000_000:
		return "ten million"
	}
	return figures.Grouped(n)
}

// sentence returns the text with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
