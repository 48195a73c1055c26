package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
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
	p := &Page{About: "set", Name: path, Path: filepath.Dir(s.Manifest), Damage: firstOf(s.Damage), Notes: firstOf(s.Notes)}
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
	p.Sections = []section{setRanges(s), setTables(s)}
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

// setRanges draws the layers, the newest first, and then all other tables.
func setRanges(set *summary.SetSummary) section {
	s := section{ID: "picture", Title: "Tables over the range of keys", Text: "The set has no keys."}
	var rows []row
	for i, t := range set.Files {
		if i == 0 || t.Layer != set.Files[i-1].Layer || t.Removals != set.Files[i-1].Removals {
			rows = append(rows, row{Name: layerName(t.Layer), Kind: "table"})
		}
		last := &rows[len(rows)-1]
		if t.Removals {
			last.Kind = "removal"
		}
		last.bars = append(last.bars, bar{
			Name: t.Name, Bytes: uint64(t.Size), Entries: t.Entries, Smallest: t.Smallest, Largest: t.Largest, Problem: t.Problem,
		})
	}
	if rows != nil {
		s.Text, s.Picture = "", draw(rows, table.BytewiseComparer, "manifest of the set")
	}
	return s
}

// layerName names a layer, or what is in none.
func layerName(layer int) string {
	if layer == 0 {
		return "base"
	}
	return fmt.Sprint("layer ", layer)
}

func setTables(set *summary.SetSummary) section {
	s := section{ID: "tables", Title: "Tables", Columns: []string{"File", "Entries", "Size", "Filters and index", "Smallest key", "Largest key"}}
	switch {
	case set.Layers > 0:
		s.Columns = slices.Insert(s.Columns, 1, "Layer")
		s.Text = "A lookup asks the layers from the newest to the oldest, and then the base. Of each it asks at most one table with entries, and at most one with removals."
	case set.Tables > 0:
		s.Text = "A lookup asks the one table whose range has the key."
	}
	for _, t := range first(&s, set.Files) {
		cells := []string{t.Name, number(t.Entries), text.Bytes(uint64(t.Size)), text.Bytes(uint64(t.TailSize)), wire.Quote(t.Smallest), wire.Quote(t.Largest)}
		layer := layerName(t.Layer)
		if t.Removals {
			layer += ", removals"
		}
		if set.Layers > 0 {
			cells = slices.Insert(cells, 1, layer)
		}
		s.add(t.Problem, cells...)
	}
	return s
}
