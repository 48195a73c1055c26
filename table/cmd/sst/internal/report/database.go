package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
)

// A database has the parts of the page about one.
type database struct {
	*summary.Summary
	noLogs bool // logs are not shown
}

// NewDatabase returns the page about a database.
func NewDatabase(s *summary.Summary, noLogs bool) *Page {
	d := database{s, noLogs}
	if noLogs {
		s.Logs = nil
	}
	p := &Page{About: "directory", Name: s.Path, Path: s.Path, Damage: firstOf(s.Damage), Notes: firstOf(s.Notes)}
	d.addFacts(p)
	p.Sections = []section{d.ranges(), d.levels(), d.tables(), d.others(), d.logs()}
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
		p.Facts.when(true, "comparator", wire.Quote([]byte(d.Comparer)))
		p.Facts.when(true, "last sequence, without the writes in live logs", number(*d.LastSequence))
	}
	p.Tiles.when(listed, "tables", number(len(d.Tables)))
	p.Tiles.when(listed, "in tables", text.Bytes(inTables))
	p.Tiles.when(listed, "levels with tables", number(len(d.Levels)))
	p.Tiles.when(!d.noLogs, logs, number(live))
	p.Tiles.when(!d.noLogs, "in "+logs, text.Bytes(inLogs))
	p.Tiles.when(!d.noLogs, "writes in them", number(writes))
}

func (d database) ranges() section {
	s := section{ID: "picture", Title: "Levels over the range of keys"}
	switch rows := d.rows(); {
	case d.Manifest == nil:
		s.Text = "There is no readable MANIFEST, so the levels and the key ranges of the tables are unknown."
	case d.Order == table.AnyOrder:
		s.Text = fmt.Sprintf("sst does not know the order of %s. It can draw key ranges only in a known order.", wire.Quote([]byte(d.Comparer)))
	case rows == nil:
		s.Text = "The database has no keys."
	default:
		s.Picture = draw(rows, d.Order, "MANIFEST")
	}
	return s
}

// rows returns the rows of the picture: the logs, then the levels.
func (d database) rows() (rows []row) {
	logs := row{Name: "logs", Kind: "log"}
	for _, f := range d.Logs {
		if l := f.Log; l != nil && l.Smallest != nil {
			logs.bars = append(logs.bars, bar{Name: f.Name, Bytes: uint64(f.Bytes), Smallest: l.Smallest, Largest: l.Largest})
		}
	}
	if logs.bars != nil {
		rows = append(rows, logs)
	}
	tables := d.Tables
	for _, l := range d.Levels {
		level := row{Name: fmt.Sprint("level ", l.Level), Kind: "table"}
		for _, t := range tables[:l.Tables] {
			level.bars = append(level.bars, d.bar(t))
		}
		rows, tables = append(rows, level), tables[l.Tables:]
	}
	return rows
}

// bar returns the bar of a table.
func (d database) bar(t versions.Table) bar {
	f, ok := d.Found[t.Number]
	b := bar{
		Name: cmp.Or(f.Name, fmt.Sprintf("%06d", t.Number)), Bytes: t.Size,
		Smallest: table.InternalFilterKey(t.Smallest), Largest: table.InternalFilterKey(t.Largest),
	}
	switch {
	case !ok:
		b.Problem = "does not exist"
	case uint64(f.Bytes) != t.Size:
		b.Problem = "the file has " + text.Bytes(uint64(f.Bytes))
	}
	return b
}

func (d database) levels() section {
	s := section{ID: "levels", Title: "Levels", Columns: []string{"Level", "Tables", "Overlap", "Size", "Smallest key", "Largest key"}}
	if d.Manifest != nil && len(d.Levels) == 0 {
		s.Text = "No level has tables."
	}
	for _, l := range d.Levels {
		overlap, smallest, largest := "unknown", "unknown", "unknown"
		if l.Overlap != nil {
			overlap = number(*l.Overlap)
		}
		if l.Smallest != nil {
			smallest, largest = wire.Quote(table.InternalFilterKey(l.Smallest.Stored)), wire.Quote(table.InternalFilterKey(l.Largest.Stored))
		}
		s.add("", fmt.Sprint("level ", l.Level), number(l.Tables), overlap, text.Bytes(l.Bytes), smallest, largest)
	}
	return s
}

func (d database) tables() section {
	s := section{ID: "tables", Title: "Tables", Columns: []string{"File", "Level", "Size", "Smallest key", "Largest key"}}
	for _, t := range first(&s, d.Tables) {
		b := d.bar(t)
		s.add(b.Problem, b.Name, number(t.Level), text.Bytes(b.Bytes), wire.Quote(b.Smallest), wire.Quote(b.Largest))
	}
	return s
}

func (d database) others() section {
	s := section{ID: "others", Title: "Tables", Columns: []string{"File", "Size"}}
	if d.Manifest != nil {
		s.Title = "Tables that the MANIFEST does not list"
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
		s.Text = "--no-log is set: the page does not show logs, nor their writes."
	case len(d.Logs) == 0:
		s.Text = "There are no logs."
	default:
		s.Text = "The writes of a live log may not be in a table yet. Those of an obsolete log are in tables. sst does not read obsolete logs for this page."
	}
	for _, f := range first(&s, d.Logs) {
		r := tableRow{Cells: []string{f.Name, stateOf(f), text.Bytes(uint64(f.Bytes))}, Note: "not read"}
		if f.Log != nil {
			r.Note, r.Cells = "", append(r.Cells, logCells(f.Log)...)
		}
		s.Rows = append(s.Rows, r)
	}
	return s
}

// logCells says what a log has. Its keys are unknown in an unknown order.
func logCells(l *summary.LogStats) []string {
	first, last, smallest, largest := "", "", "", ""
	if l.Writes > 0 {
		first, last = number(l.First), number(l.Last)
	}
	if l.Smallest != nil {
		smallest, largest = wire.Quote(l.Smallest), wire.Quote(l.Largest)
	}
	return []string{number(l.Writes), number(l.Deletions), first, last, skippedText(l), smallest, largest}
}

// stateOf says whether the writes of a log count.
func stateOf(f summary.File) string {
	switch {
	case f.Live == nil:
		return "unknown"
	case *f.Live:
		return "live"
	}
	return "obsolete"
}

// skippedText says which parts of a log are ignored.
func skippedText(l *summary.LogStats) string {
	var all []string
	if l.Skipped > 0 {
		all = append(all, "⚠ "+text.Count(uint64(l.Skipped), "damaged part"))
	}
	if l.TruncatedTail > 0 {
		all = append(all, text.Bytes(uint64(l.TruncatedTail))+" cut short at its end")
	}
	return cmp.Or(strings.Join(all, ", "), "nothing")
}
