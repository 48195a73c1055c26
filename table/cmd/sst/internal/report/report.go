// Package report writes a web page about a table, a database or a set, as a single file. The page of a database or
// a set draws and lists its files. The page of a table shows a map of its blocks, their sizes and its filters. It
// runs lookups in the page, step by step.
package report

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/layout"
)

// Options are the options for a table's page.
type Options struct {
	// Embed limits the size of the keys and values in the page. Blocks that exceed it are shown without entries.
	// Index and filters are limited by maxHeld instead.
	Embed uint64

	// Source is the table as an argument of sst get and sst scan, with flags, quoted for a shell. The page shows these
	// commands for entries that are not in the page.
	Source string
}

// A Model is the contents of a table's page. The fields that its script shows are in the page as JSON.
type Model struct {
	File     string `json:"-"`
	Source   string `json:"source"`
	Size     int64  `json:"size"`
	Internal bool   `json:"internal"`
	Note     string `json:"note,omitempty"`  // why a filter is not used
	Order    string `json:"order,omitempty"` // the order of keys if it is not bytewise; the page then offers no lookups

	FilterOnly bool   `json:"filter_only"`      // the table has a filter but no entries
	Hidden     string `json:"hidden,omitempty"` // why it is unknown whether a table without data blocks has keys

	Totals       tablestats.Totals `json:"-"`            // of the sound data blocks
	Stored, Raw  int64             `json:"-"`            // their sizes
	Compressions []string          `json:"compressions"` // names of compressions; blocks refer to them by number
	Parts        []Part            `json:"parts"`        // the blocks other than data blocks, and the footer
	Blocks       Blocks            `json:"blocks"`
	Filter       *Filter           `json:"filter,omitempty"` // the block filters; Whole is the table filter
	Whole        *Filter           `json:"whole,omitempty"`
	Histograms   []Histogram       `json:"histograms"`
	Samples      [][]byte          `json:"samples"` // example keys
	Damage       messages          `json:"-"`
}

// maxHeld limits the size of index and filters in a page. Since base64 turns 3 bytes into 4, a page with the
// default Embed stays under 30 MB.
const maxHeld = 16_000_000

// A Filter is the block filters, or the table filter.
type Filter struct {
	tablestats.FilterStats // the name is escaped

	Rates    []float32 `json:"rates,omitempty"`
	Contents packed    `json:"contents"`
	LeftOut  bool      `json:"left_out,omitempty"` // the page lacks Contents, for example because they exceed maxHeld
}

// packed bytes are compressed in the page, as base64 of a DEFLATE stream.
type packed []byte

func (p packed) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer                                    // writing to it cannot fail
	w, _ := flate.NewWriter(&out, flate.DefaultCompression) // it fails only for another level
	w.Write(p)
	w.Close()
	return append(base64.StdEncoding.AppendEncode([]byte{'"'}, out.Bytes()), '"'), nil
}

// New reads the whole table. The error joins all damage. Even then the Model is valid, and shows the damage.
func New(f *dbfile.File, o Options) (*Model, error) { return newModel(f, o, maxHeld) }

// newModel returns a Model with at most held bytes of index and filters. The table filter takes precedence, then
// the index, then the block filters.
func newModel(f *dbfile.File, o Options, held int64) (*Model, error) {
	m := &Model{
		File: filepath.Base(f.Path), Source: o.Source, Size: f.Size, Internal: f.Internal,
		Note: f.FilterNote(), Order: f.OrderNote, Compressions: []string{}, Samples: [][]byte{},
	}
	if m.Order == "" && f.Order != table.BytewiseComparer {
		m.Order = "keys are in the order of comparator " + printable.String(f.Order.Name())
	}
	c := collector{
		Model: m, f: f, damaged: map[int64]bool{},
		budget: int64(min(o.Embed, 1<<60) / 4 * 3), held: held, // base64 makes 4 bytes of 3
	}
	var whole packed
	if filters := f.Filters(); filters.Pages == nil { // the page cannot check paged filters
		whole = c.hold(filters.TableEntry)
	}
	c.damage(f.Layout.FooterErr)
	stats := c.blocks()
	c.parts()
	c.filters(stats, whole)
	err := errors.Join(c.found...)
	m.Damage = firstOf(text.Lines(err))
	return m, err
}

// A collector collects the contents of a Model.
type collector struct {
	*Model
	f       *dbfile.File
	budget  int64          // bytes left for entries
	held    int64          // bytes left for index and filters
	found   []error        // damage, once per block
	damaged map[int64]bool // offsets of damaged blocks
}

// hold returns the contents of a filter, or nil if they exceed the limit or cannot be read.
func (c *collector) hold(filter layout.MetaindexEntry) packed {
	if filter.Length > uint64(c.held) {
		return nil
	}
	c.held -= int64(filter.Length)
	contents, _, err := c.f.Layout.ReadBlock(filter.Handle)
	if err != nil {
		return nil // parts reports the error
	}
	return contents
}

// damage records damage, and returns its text. A block can be read twice, with different errors. Only the first is
// recorded.
func (c *collector) damage(err error) string {
	if err == nil {
		return ""
	}
	offset := int64(-1)
	if corrupt := (*table.CorruptionError)(nil); errors.As(err, &corrupt) {
		offset = corrupt.Offset
	}
	if offset < 0 || !c.damaged[offset] {
		c.found = append(c.found, err)
	}
	c.damaged[offset] = true
	return printable.String(err.Error())
}

// Write writes the page. It contains data of the table only as printable text and as JSON. The JSON has no <, > or
// &, so it cannot end its element.
func (m *Model) Write(w io.Writer) error {
	line, err := printable.AppendJSON(nil, m)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	json.HTMLEscape(&data, line)
	p := Page{About: "table", Name: m.File, Title: m.File + " – table report", Damage: m.Damage, Model: template.JS(data.String())}
	m.addTiles(&p.Tiles)
	return p.Write(w)
}

// addTiles adds the most important figures.
func (m *Model) addTiles(tiles *facts) {
	t := m.Totals
	mean := func(sum int64) string { return humanize.FtoaWithDigits(float64(sum)/float64(t.Entries), 1) + " bytes" }
	tiles.when(true, "file", text.Bytes(uint64(m.Size)))
	if m.FilterOnly {
		tiles.when(true, "entries", "none, a filter only")
		if m.Whole != nil {
			tiles.when(true, "keys in the filter", number(m.Whole.Keys))
		}
		return
	}
	tiles.when(true, "entries", number(t.Entries))
	tiles.when(true, "data blocks", number(m.Blocks.Count+m.Blocks.Left))
	tiles.when(t.Deletions > 0, "deletions", number(t.Deletions))
	tiles.when(m.Stored > 0, "compression", fmt.Sprintf("%.2f to 1", float64(m.Raw)/float64(m.Stored)))
	tiles.when(t.Entries > 0, "mean key", mean(t.KeyBytes))
	tiles.when(t.Entries > 0, "mean value", mean(t.ValueBytes))
	tiles.when(m.Internal, "key format", "internal")
	tiles.when(!m.Internal, "key format", "plain")
	tiles.when(m.Order != "", "order", m.Order)
}
