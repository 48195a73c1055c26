package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
)

// A Set is the page about a set.
type Set struct {
	*summary.SetSummary
	Path       string
	FilterOnly bool        // of one table, as all others are
	Filters    []SetFilter // of the same one
	Picture    *picture    // nil: there are no tables
}

// A SetFilter is a kind of filter that a table of the set has.
type SetFilter struct {
	Of         string  // what it is a filter of
	Name       string  // of its kind, as sieve plan and sst build have it
	BitsPerKey float64 // as stored
}

// NewSet returns the page about the set at path. f is the table whose filters the page names, with
// its number of entries; nil: it names none.
func NewSet(s *summary.SetSummary, path string, f *dbfile.File, entries uint64) *Set {
	d := &Set{SetSummary: s, Path: path}
	if f != nil {
		d.FilterOnly = f.Reader.FilterOnly()
		d.Filters = filtersOf(f.Reader.Filters(), float64(max(1, entries)))
	}
	if rows := d.rows(); rows != nil {
		d.Picture = draw(rows, table.BytewiseComparer, "manifest of the set")
	}
	return d
}

// filtersOf returns the filters of a table with so many entries.
func filtersOf(f table.Filters, entries float64) (all []SetFilter) {
	if f.Blocks != nil {
		all = append(all, SetFilter{"filters of blocks", "bloom", 8 * float64(f.BlocksEntry.Length) / entries})
	}
	if f.Table != nil {
		kind := "table-bloom"
		if tablefilter.IsFuse(strings.TrimPrefix(f.TableEntry.Name, format.TableFilterPrefix)) {
			kind = "fuse"
		}
		all = append(all, SetFilter{"filters of tables", kind, 8 * float64(f.TableEntry.Length) / entries})
	}
	return all
}

// rows returns the rows of the picture: the layers, the newest first, and then all other tables.
func (d *Set) rows() (rows []row) {
	for i, t := range d.Files {
		if i == 0 || t.Layer != d.Files[i-1].Layer || t.Removals != d.Files[i-1].Removals {
			rows = append(rows, row{Name: layerName(t.Layer)})
		}
		last := &rows[len(rows)-1]
		last.bars = append(last.bars, barOf(t))
		last.About = text.Count(uint64(len(last.bars)), "table")
		if t.Removals {
			last.About += " of removals"
		}
	}
	return rows
}

// layerName names a layer, or what is in none.
func layerName(layer int) string {
	if layer == 0 {
		return "base"
	}
	return fmt.Sprint("layer ", layer)
}

// barOf returns the bar of a table.
func barOf(t summary.SetTable) bar {
	b := bar{Name: t.Name, Files: 1, Bytes: uint64(t.Size), Smallest: t.Smallest, Largest: t.Largest, Problem: t.Problem}
	if t.Problem != "" {
		b.Problems = 1
	}
	return b
}

// A setRow is a row of the table of tables.
type setRow struct {
	summary.SetTable
	Row string // that it is in, in the picture
}

// TableRows returns the rows of the first maxRows tables.
func (d *Set) TableRows() firsts[setRow] {
	shown := firstOf(d.Files, maxRows)
	rows := firsts[setRow]{Left: shown.Left}
	for _, t := range shown.Shown {
		name := layerName(t.Layer)
		if t.Removals {
			name += ", removals"
		}
		rows.Shown = append(rows.Shown, setRow{t, name})
	}
	return rows
}

// Write writes the page. Bytes of the set are in it as printable text only.
func (d *Set) Write(w io.Writer) error {
	return writeRanges(w, filepath.Dir(d.Manifest), "parts/set.html", d)
}
