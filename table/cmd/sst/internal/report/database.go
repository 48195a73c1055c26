package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"math/big"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/summary"
)

// Limits of a page, since a MANIFEST can list a million tables.
const (
	maxRows     = 500
	maxMessages = 100
)

// A Database is the page about a database.
type Database struct {
	*summary.Summary
	NoLogs    bool     // logs are not shown
	Picture   *picture // nil: see NoPicture
	NoPicture string   // why there is none
}

// NewDatabase returns the page about a database.
func NewDatabase(s *summary.Summary, noLogs bool) *Database {
	d := &Database{Summary: s, NoLogs: noLogs}
	if noLogs {
		s.Logs = nil
	}
	switch rows := d.rows(); {
	case s.Manifest == nil:
		d.NoPicture = "There is no readable MANIFEST, so the levels and the key ranges of the tables are unknown."
	case s.Order == table.AnyOrder:
		d.NoPicture = fmt.Sprintf("sst does not know the order of %s. It can draw key ranges only in a known order.", wire.Quote([]byte(s.Comparer)))
	case rows == nil:
		d.NoPicture = "The database has no keys."
	default:
		d.Picture = draw(rows, s.Order, "MANIFEST")
	}
	return d
}

// rows returns the rows of the picture: the logs, then the levels.
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

// bar returns the bar of a table.
func (d *Database) bar(t versions.Table) bar {
	b := bar{
		Name: fmt.Sprintf("%06d", t.Number), Files: 1, Bytes: t.Size,
		Smallest: table.InternalFilterKey(t.Smallest), Largest: table.InternalFilterKey(t.Largest),
	}
	f, ok := d.Found[t.Number]
	switch {
	case !ok:
		b.Problem = "does not exist"
	case uint64(f.Bytes) != t.Size:
		b.Problem = fmt.Sprintf("the file has %s", text.Bytes(uint64(f.Bytes)))
	}
	if b.Name = cmp.Or(f.Name, b.Name); b.Problem != "" {
		b.Problems = 1
	}
	return b
}

// A tableRow is a row of the table of tables.
type tableRow struct {
	bar
	Level int
}

// TableRows returns the rows of the first maxRows tables.
func (d *Database) TableRows() firsts[tableRow] {
	shown := firstOf(d.Tables, maxRows)
	rows := firsts[tableRow]{Left: shown.Left}
	for _, t := range shown.Shown {
		rows.Shown = append(rows.Shown, tableRow{d.bar(t), t.Level})
	}
	return rows
}

// Totals returns the bytes of all tables, and the bytes, number and writes of live logs.
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

// A firsts is the start of a long list, and the number of elements left out.
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
	"printable": printable.String,
	"count":     func(n int, what string) string { return text.Count(uint64(n), what) },
	"sequence":  func(n uint64) string { return humanize.BigComma(new(big.Int).SetUint64(n)) },
	"number":    func(n int) string { return humanize.Comma(int64(n)) },
	"size":      text.Bytes,
	"filesize":  func(n int64) string { return text.Bytes(uint64(n)) },
	"messages":  func(all []string) firsts[string] { return firstOf(all, maxMessages) },
	"files":     func(all []summary.File) firsts[summary.File] { return firstOf(all, maxRows) },
	"state":     stateOf,
	"skipped":   skippedText,
	"height":    func(lines [][]bar) int { return 18 * len(lines) },
	"y":         func(line int) int { return 18*line + 2 },
}

// knownKey formats a key. It is empty if the key is unknown.
func knownKey(key []byte) string {
	if key == nil {
		return ""
	}
	return wire.Quote(key)
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

// Write writes the page. Bytes of the database are in it as printable text only.
func (d *Database) Write(w io.Writer) error {
	return writeRanges(w, d.Path, "parts/database.html", d)
}

// writeRanges writes a page of the template. Its title is the name of what is at path.
func writeRanges(w io.Writer, path, name string, data any) error {
	t, err := template.New("page").Funcs(databaseFuncs).Parse(page.Read(files, "parts/ranges.html") + page.Read(files, name))
	if err != nil {
		return err
	}
	var body strings.Builder
	if err := t.Execute(&body, data); err != nil {
		return err
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole // . is no name
	}
	p := page.Page{
		Title: printable.String(filepath.Base(path)),
		Style: page.Style(files, "parts/report.css", "parts/database.css"),
	}
	return p.Write(w, body.String())
}
