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

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/theme"
)

// A chart is a file beside the page, in two forms.
type chart struct {
	Title, File, Narrow string
}

// Widths are a README's on GitHub and on a phone, in pixels: texts are as large there as they are here.
const (
	width       = 880
	narrowWidth = 340
)

// A drawing is what a chart shows.
type drawing struct {
	title, note string // what it finds, and of what
	alt         string // title and findings for those who do not see it
	body        body
}

// A body is what a chart has below its headings, in any width.
type body interface {
	height(width vg.Length) vg.Length
	draw(c draw.Canvas) error
}

// The charts, by the names of their files.
const (
	savedFile     = "saved.svg"
	byEngineFile  = "lookup-by-engine.svg"
	byEntriesFile = "lookup-by-entries.svg"
	byBitsFile    = "lookup-by-bits.svg"
	byKeysFile    = "membership.svg"
)

// draw draws the charts whose figures are there.
func (r *Report) draw(dir string) ([]chart, error) {
	var drawn []chart
	for _, c := range []struct {
		file string
		draw func() *drawing // nil if there are no figures
	}{
		{byEngineFile, r.byEngine}, {savedFile, r.saved}, {byEntriesFile, r.byEntries}, {byBitsFile, r.byBits}, {byKeysFile, r.byKeys},
	} {
		d := c.draw()
		if d == nil {
			continue
		}
		for file, w := range map[string]vg.Length{c.file: width, narrow(c.file): narrowWidth} {
			if err := d.save(filepath.Join(dir, file), w); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
		drawn = append(drawn, chart{d.alt, c.file, narrow(c.file)})
	}
	return drawn, nil
}

// narrow is the name of a chart's form for phones.
func narrow(file string) string { return strings.TrimSuffix(file, ".svg") + "-narrow.svg" }

// save draws into the file.
func (d *drawing) save(file string, w vg.Length) error {
	h := headings{d.title, d.note}
	svg := vgsvg.New(w, h.height(w)+d.body.height(w))
	if err := d.body.draw(h.draw(draw.New(svg))); err != nil {
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

// finding is the subject with how the ratios compare; the subject alone if there are none.
func finding(subject string, w words, name string, ratios []float64) string {
	if len(ratios) == 0 {
		return strings.TrimSuffix(subject, ":")
	}
	return strings.TrimSpace(subject + " " + w.compare(ratios...) + " " + name)
}

// entriesNote says what the entries of W1 are.
func (r *Report) entriesNote() string {
	return sentence(spoken(r.Entries)) + " entries in memory, compressed with Snappy."
}

// barsNote says the same, and what bars are.
func (r *Report) barsNote() string {
	return "Thin lines are from the least to the most. " + r.entriesNote() + " Hollow: asks no filter."
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

// sentence returns the text with a capital letter, if it has any.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
