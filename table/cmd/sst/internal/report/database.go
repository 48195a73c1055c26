package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// What a page shows of a database at most: it may be said to have a million tables.
const (
	mostRows     = 500
	mostMessages = 100
)

// A Database is the page about a database.
type Database struct {
	*summary.Summary
	NoLogs    bool     // they are left out
	Picture   *picture // nil: see NoPicture
	NoPicture string   // why there is none
}

// NewDatabase returns the page about what is known of a database.
func NewDatabase(s *summary.Summary, noLogs bool) *Database {
	d := &Database{Summary: s, NoLogs: noLogs}
	if noLogs {
		s.Logs = nil
	}
	switch rows := d.rows(); {
	case s.Manifest == nil:
		d.NoPicture = "There is no MANIFEST that can be read, and so the levels and ranges of the tables are not known."
	case s.Order == table.AnyOrder:
		d.NoPicture = fmt.Sprintf("The keys are in the order of %s, which is not known here. Without it there are no ranges to be drawn.", wire.Quote([]byte(s.Comparer)))
	case rows == nil:
		d.NoPicture = "The database has no keys."
	default:
		d.Picture = draw(rows, s.Order)
	}
	return d
}

// rows returns those of the picture: the logs, and then the levels.
func (d *Database) rows() (rows []row) {
	logs := row{Name: "logs", Logs: true}
	for _, f := range d.Logs {
		if l := f.Log; l != nil && l.Smallest != nil {
			logs.bars = append(logs.bars, bar{Name: f.Name, Files: 1, Bytes: uint64(f.Bytes), Smallest: l.Smallest, Largest: l.Largest})
		}
	}
	if logs.bars != nil {
		logs.About = text.Count(uint64(len(logs.bars)), "log")
		rows = append(rows, logs)
	}
	tables := d.Tables
	for _, l := range d.Levels {
		level := row{Name: fmt.Sprint("level ", l.Level), About: text.Count(uint64(l.Tables), "table")}
		for _, t := range tables[:l.Tables] {
			level.bars = append(level.bars, d.bar(t))
		}
		rows, tables = append(rows, level), tables[l.Tables:]
	}
	return rows
}

func (d *Database) bar(t database.Table) bar {
	b := bar{
		Name: fmt.Sprintf("%06d", t.Number), Files: 1, Bytes: t.Size,
		Smallest: table.InternalFilterKey(t.Smallest), Largest: table.InternalFilterKey(t.Largest),
	}
	f, ok := d.Found[t.Number]
	switch {
	case !ok:
		b.Lacks = "not there"
	case uint64(f.Bytes) != t.Size:
		b.Lacks = fmt.Sprintf("the file has %s", text.Bytes(uint64(f.Bytes)))
	}
	if b.Name = cmp.Or(f.Name, b.Name); b.Lacks != "" {
		b.Lacking = 1
	}
	return b
}

// A tableRow is one of the table of tables.
type tableRow struct {
	bar
	Level int
}

// TableRows returns the tables, as far as they are shown.
func (d *Database) TableRows() firsts[tableRow] {
	shown := firstOf(d.Tables, mostRows)
	rows := firsts[tableRow]{Left: shown.Left}
	for _, t := range shown.Shown {
		rows.Shown = append(rows.Shown, tableRow{d.bar(t), t.Level})
	}
	return rows
}

// Totals returns how many bytes the tables have, and the logs, and how many of these are live.
func (d *Database) Totals() (t struct {
	Tables, Logs uint64
	Live, Writes int
}) {
	for _, l := range d.Levels {
		t.Tables += l.Bytes
	}
	for _, f := range d.Logs {
		if f.Log != nil {
			t.Live++
			t.Logs += uint64(f.Bytes)
			t.Writes += f.Log.Writes
		}
	}
	return t
}

// firsts are the first of what there may be many of.
type firsts[T any] struct {
	Shown []T
	Left  int
}

func firstOf[T any](all []T, most int) firsts[T] {
	n := min(len(all), most)
	return firsts[T]{all[:n], len(all) - n}
}

var databaseFuncs = template.FuncMap{
	"quote":     func(key []byte) string { return wire.Quote(key) },
	"known":     knownKey,
	"user":      func(k *text.Key) string { return wire.Quote(table.InternalFilterKey(k.Stored)) },
	"name":      func(s string) string { return wire.Quote([]byte(s)) },
	"base":      filepath.Base,
	"printable": text.Printable,
	"count":     func(n int, what string) string { return text.Count(uint64(n), what) },
	"number":    func(n int) string { return humanize.Comma(int64(n)) },
	"size":      text.Bytes,
	"filesize":  func(n int64) string { return text.Bytes(uint64(n)) },
	"messages":  func(all []string) firsts[string] { return firstOf(all, mostMessages) },
	"files":     func(all []summary.File) firsts[summary.File] { return firstOf(all, mostRows) },
	"state":     stateOf,
	"skipped":   skippedText,
	"height":    func(lines [][]bar) int { return 18 * len(lines) },
	"y":         func(line int) int { return 18*line + 2 },
}

// knownKey is the key, or nothing if it is not known.
func knownKey(key []byte) string {
	if key == nil {
		return ""
	}
	return wire.Quote(key)
}

// stateOf says of a log whether it counts.
func stateOf(f summary.File) string {
	switch {
	case f.Live == nil:
		return "not known"
	case *f.Live:
		return "live"
	}
	return "done with"
}

// skippedText says what of a log does not count.
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

// Write writes the page. What comes from the database is text in it, and printable.
func (d *Database) Write(w io.Writer) error {
	page, err := template.New("page").Funcs(databaseFuncs).Parse(read("database.html"))
	if err != nil {
		return err
	}
	style := read("page.css") + read("database.css")
	return page.Execute(w, struct {
		*Database
		Style     template.CSS
		StyleHash string
	}{d, template.CSS(style), hashOf(style)})
}
