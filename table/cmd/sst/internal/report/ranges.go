package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// A database builds the parts of a database's page.
type database struct {
	*summary.Summary
	noLogs bool // do not show logs
}

// NewDatabase returns the page about a database.
func NewDatabase(s *summary.Summary, noLogs bool) *Page {
	if noLogs {
		s.Logs = nil
	}
	d, p := database{s, noLogs}, newPage("directory", s.Path, s.Path, s.Damage, s.Notes)
	d.addFacts(p)
	tables := d.tables()
	p.Sections = []section{d.ranges(tables), d.levels(), listTables(tables, "", "Level", "Size"), d.others(), d.logs()}
	return p
}

func (d database) addFacts(p *Page) {
	var inTables, inLogs uint64
	var live, writes int
	for _, l := range d.Levels {
		inTables += l.Bytes
	}
	for _, f := range d.Logs {
		if f.Log != nil {
			live, inLogs, writes = live+1, inLogs+uint64(f.Bytes), writes+f.Log.Writes
		}
	}
	listed, logs := d.Manifest != nil, "logs"
	if listed {
		p.About, logs = "database", "live logs"
		p.Facts.when(true, "MANIFEST", d.Manifest.Name+", "+text.Bytes(uint64(d.Manifest.Bytes)))
		p.Facts.when(true, "comparator", format.Quote([]byte(d.Comparer)))
		p.Facts.when(true, "last sequence number, without live logs", number(*d.LastSequence))
	}
	p.Tiles.when(listed, "tables", number(len(d.Tables)))
	p.Tiles.when(listed, "size of tables", text.Bytes(inTables))
	p.Tiles.when(listed, "levels", number(len(d.Levels)))
	p.Tiles.when(!d.noLogs, logs, number(live))
	p.Tiles.when(!d.noLogs, "size of "+logs, text.Bytes(inLogs))
	p.Tiles.when(!d.noLogs, "writes in "+logs, number(writes))
}

// ranges draws the logs, and then the tables of the levels.
func (d database) ranges(tables []bar) section {
	s := section{ID: "picture", Title: "Key ranges by level"}
	var bars []bar
	for _, f := range d.Logs {
		if l := f.Log; l != nil && l.Smallest != nil {
			bars = append(bars, bar{Name: f.Name, Row: "logs", Kind: "log", Bytes: uint64(f.Bytes), Smallest: l.Smallest, Largest: l.Largest})
		}
	}
	switch bars = append(bars, tables...); {
	case d.Manifest == nil:
		s.Text = "There is no readable MANIFEST, so levels and key ranges are unknown."
	case d.Order == table.AnyOrder:
		s.Text = fmt.Sprintf("sst does not know the order of %s, so key ranges are not drawn.", format.Quote([]byte(d.Comparer)))
	case bars == nil:
		s.Text = "The database has no keys."
	default:
		s.Picture = draw(bars, d.Order, "MANIFEST")
	}
	return s
}

// tables returns the bars of the tables that the MANIFEST lists.
func (d database) tables() (bars []bar) {
	for _, t := range d.Tables {
		f, ok := d.Found[t.Number]
		b := bar{
			Name: cmp.Or(f.Name, fmt.Sprintf("%06d.ldb", t.Number)), Row: fmt.Sprint("level ", t.Level), Kind: "table",
			Cells: []string{number(t.Level), text.Bytes(t.Size)}, Bytes: t.Size,
			Smallest: internalkey.UserKey(t.Smallest), Largest: internalkey.UserKey(t.Largest),
		}
		switch {
		case !ok:
			b.Problem = "does not exist"
		case f.Bytes < 0:
			b.Problem = "cannot be opened"
		case uint64(f.Bytes) != t.Size:
			b.Problem = "the file has " + text.Bytes(uint64(f.Bytes))
		}
		bars = append(bars, b)
	}
	return bars
}

func (d database) levels() section {
	s := section{ID: "levels", Title: "Levels", Columns: []string{"Level", "Tables", "Overlap", "Size", "Smallest key", "Largest key"}}
	if d.Manifest != nil && len(d.Levels) == 0 {
		s.Text = "All levels are empty."
	}
	for _, l := range d.Levels {
		overlap, smallest, largest := "unknown", "unknown", "unknown"
		if l.Overlap != nil {
			overlap = number(*l.Overlap)
		}
		if l.Smallest != nil {
			smallest, largest = format.Quote(internalkey.UserKey(l.Smallest.Stored)), format.Quote(internalkey.UserKey(l.Largest.Stored))
		}
		s.add("", fmt.Sprint("level ", l.Level), number(l.Tables), overlap, text.Bytes(l.Bytes), smallest, largest)
	}
	return s
}

func (d database) others() section {
	s := section{ID: "others", Title: "Tables", Columns: []string{"File", "Size"}}
	if d.Manifest != nil {
		s.Title = "Tables not listed in the MANIFEST"
	}
	for _, f := range first(&s, d.Others) {
		s.add("", f.Name, text.Bytes(uint64(f.Bytes)))
	}
	return s
}

func (d database) logs() section {
	s := section{ID: "logs", Title: "Logs", Columns: []string{
		"File", "State", "Size", "Writes", "Deletions", "First sequence", "Last sequence", "Skipped", "Smallest key", "Largest key",
	}}
	switch {
	case d.noLogs:
		s.Text = "--no-log is set: logs are not shown."
	case len(d.Logs) == 0:
		s.Text = "No logs."
	default:
		s.Text = "Writes in a live log may not be in a table yet. Obsolete logs are not read, since their writes are in tables."
	}
	for _, f := range first(&s, d.Logs) {
		state := "unknown"
		if f.Live != nil {
			state = map[bool]string{true: "live", false: "obsolete"}[*f.Live]
		}
		s.add("", append([]string{f.Name, state, text.Bytes(uint64(f.Bytes))}, logCells(f.Log)...)...)
		if f.Log == nil {
			s.Rows[len(s.Rows)-1].Note = "not read"
		}
	}
	return s
}

// logCells returns the figures of a log, or nil if it was not read. If the order is unknown, so are its keys.
func logCells(l *summary.LogStats) []string {
	if l == nil {
		return nil
	}
	first, last, smallest, largest := "", "", "", ""
	if l.Writes > 0 {
		first, last = number(l.First), number(l.Last)
	}
	if l.Smallest != nil {
		smallest, largest = format.Quote(l.Smallest), format.Quote(l.Largest)
	}
	var skipped []string
	if l.Skipped > 0 {
		skipped = append(skipped, "⚠ "+text.Count(uint64(l.Skipped), "damaged part"))
	}
	if l.TruncatedTail > 0 {
		skipped = append(skipped, "incomplete write of "+text.Bytes(uint64(l.TruncatedTail))+" at the end")
	}
	return []string{number(l.Writes), number(l.Deletions), first, last, cmp.Or(strings.Join(skipped, ", "), "none"), smallest, largest}
}

// NewSet returns the page about the set at path. The page names the filters of the table f, which has that many
// entries. If f is nil, it names none.
func NewSet(s *summary.SetSummary, path string, f *dbfile.File, entries uint64) *Page {
	what := "entries"
	if f != nil && f.Reader.FilterOnly() {
		what = "keys"
	}
	p := newPage("set", path, filepath.Dir(s.Manifest), s.Damage, s.Notes)
	p.Tiles.when(true, "tables", number(s.Tables))
	p.Tiles.when(true, "size of tables", text.Bytes(uint64(s.Bytes)))
	p.Tiles.when(true, what, number(s.Entries))
	p.Tiles.when(true, "read at opening", text.Bytes(uint64(s.TailBytes)))
	p.Tiles.when(s.Layers > 0, "layers", number(s.Layers))
	p.Tiles.when(s.Layers > 0, "entries in layers", number(s.Added))
	p.Tiles.when(s.Layers > 0, "removals in layers", number(s.Removals))
	p.Facts.when(true, "manifest", s.Manifest)
	p.Facts.when(s.InBase > 0, what+" in the largest table", number(s.MostEntries))
	if f != nil {
		p.addFilters(f.Reader.Filters(), float64(max(1, entries)))
	}
	p.addSetTables(s)
	return p
}

// addFilters names the filters of a table with that many entries, in the words of sieve plan and sst build.
func (p *Page) addFilters(f layout.Filters, entries float64) {
	bits := func(kind string, entry layout.MetaindexEntry) string {
		return fmt.Sprintf("%s, %.1f bits per key on disk", kind, 8*float64(entry.Length)/entries)
	}
	kind, _, _ := strings.Cut(tablefilter.OfPolicy(strings.TrimPrefix(f.TableEntry.Name, format.TableFilterPrefix)), ":")
	p.Facts.when(f.Blocks != nil, "block filters", bits("bloom", f.BlocksEntry))
	p.Facts.when(f.HasTable(), "table filters", bits(kind, f.TableEntry))
}

// addSetTables draws and lists the tables: those of layers, newest first, and then the base.
func (p *Page) addSetTables(set *summary.SetSummary) {
	var bars []bar
	for _, t := range set.Files {
		l := t.Line
		b := bar{
			Name: l.Name, Row: "base", Kind: "table", Problem: t.Problem,
			Bytes: uint64(l.Size), Entries: l.Entries, Smallest: l.Smallest, Largest: l.Largest,
			Cells: []string{number(l.Entries), text.Bytes(uint64(l.Size)), text.Bytes(uint64(l.TailSize))},
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
	ranges := section{ID: "picture", Title: "Key ranges of the tables", Text: "The set has no keys."}
	if bars != nil {
		ranges.Text, ranges.Picture = "", draw(bars, table.BytewiseComparer, "manifest")
	}
	columns, text := []string{"Entries", "Size", "Filters and index"}, ""
	switch {
	case set.Layers > 0:
		columns = append([]string{"Layer"}, columns...)
		text = "A lookup goes through the layers from newest to oldest, then the base. In each, it checks at most one table with entries and one with removals."
	case set.Tables > 0:
		text = "A lookup checks only the table whose range contains the key."
	}
	p.Sections = []section{ranges, listTables(bars, text, columns...)}
}
