package report

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
)

// NewSet returns the page about the set at path. f is the table whose filters the page names, with
// its number of entries; nil: it names none.
func NewSet(s *summary.SetSummary, path string, f *dbfile.File, entries uint64) *Page {
	what := "entries"
	if f != nil && f.Reader.FilterOnly() {
		what = "keys"
	}
	p := newPage("set", path, filepath.Dir(s.Manifest), s.Damage, s.Notes)
	p.Tiles.when(true, "tables", number(s.Tables))
	p.Tiles.when(true, "in tables", text.Bytes(uint64(s.Bytes)))
	p.Tiles.when(true, what, number(s.Entries))
	p.Tiles.when(true, "filters and indexes", text.Bytes(uint64(s.TailBytes)))
	p.Tiles.when(s.Layers > 0, "layers", number(s.Layers))
	p.Tiles.when(s.Layers > 0, "entries in layers", number(s.Added))
	p.Tiles.when(s.Layers > 0, "removals in layers", number(s.Removals))
	p.Facts.when(true, "manifest", s.Manifest)
	p.Facts.when(s.InBase > 0, what+" of the largest table", number(s.MostEntries))
	if f != nil {
		p.addFilters(f.Reader.Filters(), float64(max(1, entries)))
	}
	p.addSetTables(s)
	return p
}

// addFilters names the filters of a table with so many entries, as sieve plan and sst build do.
func (p *Page) addFilters(f table.Filters, entries float64) {
	bits := func(kind string, entry table.MetaindexEntry) string {
		return fmt.Sprintf("%s, %.1f bits a key", kind, 8*float64(entry.Length)/entries)
	}
	kind := "table-bloom"
	if tablefilter.IsFuse(strings.TrimPrefix(f.TableEntry.Name, format.TableFilterPrefix)) {
		kind = "fuse"
	}
	p.Facts.when(f.Blocks != nil, "filters of blocks", bits("bloom", f.BlocksEntry))
	p.Facts.when(f.Table != nil, "filters of tables", bits(kind, f.TableEntry))
}

// addSetTables draws and lists the tables of the layers, the newest first, and then all others.
func (p *Page) addSetTables(set *summary.SetSummary) {
	var bars []bar
	for _, t := range set.Files {
		b := bar{
			Name: t.Name, Row: "base", Kind: "table", Problem: t.Problem,
			Bytes: uint64(t.Size), Entries: t.Entries, Smallest: t.Smallest, Largest: t.Largest,
			Cells: []string{number(t.Entries), text.Bytes(uint64(t.Size)), text.Bytes(uint64(t.TailSize))},
		}
		if t.Layer > 0 {
			b.Row = fmt.Sprint("layer ", t.Layer)
		}
		layer := b.Row
		if t.Removals {
			b.Kind, layer = "removal", layer+", removals"
		}
		if set.Layers > 0 {
			b.Cells = append([]string{layer}, b.Cells...)
		}
		bars = append(bars, b)
	}
	ranges := section{ID: "picture", Title: "Tables over the range of keys", Text: "The set has no keys."}
	if bars != nil {
		ranges.Text, ranges.Picture = "", draw(bars, table.BytewiseComparer, "manifest of the set")
	}
	columns, text := []string{"Entries", "Size", "Filters and index"}, ""
	switch {
	case set.Layers > 0:
		columns = append([]string{"Layer"}, columns...)
		text = "A lookup asks the layers from the newest to the oldest, and then the base. Of each it asks at most one table with entries, and at most one with removals."
	case set.Tables > 0:
		text = "A lookup asks the one table whose range has the key."
	}
	p.Sections = []section{ranges, listTables(bars, text, columns...)}
}
