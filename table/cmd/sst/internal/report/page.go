package report

import (
	"embed"
	"html/template"
	"io"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/page"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

//go:embed parts
var files embed.FS

// Limits of a page, since a MANIFEST can list a million tables.
const (
	maxRows     = 500
	maxMessages = 100
)

// A Page is about a table, a database or a set.
type Page struct {
	About         string // "table", "database", "directory" or "set"
	Name, Title   string
	Tiles, Facts  facts
	Damage, Notes messages
	Sections      []section
	Model         template.JS // the Model of a table as JSON
}

// newPage returns the page about a database or a set at path. Its title is the name of dir.
func newPage(about, path, dir string, damage, notes []string) *Page {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole // "." is no title
	}
	return &Page{About: about, Name: path, Title: filepath.Base(dir), Damage: firstOf(damage), Notes: firstOf(notes)}
}

// Facts are figures with their names.
type facts []struct{ Name, Value string }

// when adds a figure if show is true.
func (f *facts) when(show bool, name, value string) {
	if show {
		*f = append(*f, struct{ Name, Value string }{name, value})
	}
}

// Messages are the first ones of a list, and the number of others.
type messages struct {
	Shown []string
	Left  int
}

func firstOf(all []string) messages {
	n := min(len(all), maxMessages)
	return messages{all[:n], len(all) - n}
}

// A section of a page has a text, a picture or rows of a table. Empty sections are not shown.
type section struct {
	ID, Title, Text string
	Picture         *picture
	Columns         []string
	Rows            []tableRow
	Left            int // number of rows that the page leaves out
}

// A tableRow describes the file or level that its first cell names. A note spans the columns without cells.
type tableRow struct {
	Problem string
	Cells   []string
	Note    string
}

// first returns the elements of a list for which a section has rows.
func first[T any](s *section, all []T) []T {
	n := min(len(all), maxRows)
	s.Left = len(all) - n
	return all[:n]
}

func (s *section) add(problem string, cells ...string) {
	s.Rows = append(s.Rows, tableRow{Problem: problem, Cells: cells})
}

// listTables lists tables with their names, the given columns, and their key ranges.
func listTables(bars []bar, text string, columns ...string) section {
	columns = slices.Concat([]string{"File"}, columns, []string{"Smallest key", "Largest key"})
	s := section{ID: "tables", Title: "Tables", Text: text, Columns: columns}
	for _, b := range first(&s, bars) {
		s.add(b.Problem, slices.Concat([]string{b.Name}, b.Cells, []string{format.Quote(b.Smallest), format.Quote(b.Largest)})...)
	}
	return s
}

func number[T int | uint64](n T) string {
	return humanize.BigComma(new(big.Int).SetUint64(uint64(n)))
}

var funcs = template.FuncMap{
	"quote":     func(key []byte) string { return format.Quote(key) },
	"printable": printable.String,
	"names":     names,
	"count":     text.Count,
	"number":    number[int],
	"size":      text.Bytes,
	"isKey":     func(column string) bool { return strings.HasSuffix(column, " key") },
	"top":       func(line int) int { return 18*line + 2 }, // of bars in a line
	"span":      func(columns, cells []string) int { return len(columns) - len(cells) },
}

var extension = regexp.MustCompile(`[\w-]{0,4}\.(ldb|sst|log|filter|jsonl)\b`)

// names returns text as HTML in which lines do not break within the extension of a file name.
func names(text string) template.HTML {
	escaped := template.HTMLEscapeString(printable.String(text))
	return template.HTML(extension.ReplaceAllString(escaped, `<span class="ext">$0</span>`))
}

// Write writes the page. It contains bytes of files only as printable text and, in the Model, as JSON.
func (p *Page) Write(w io.Writer) error {
	t := template.Must(template.New("page").Funcs(funcs).Parse(page.Read(files, "parts/page.html")))
	var body strings.Builder
	if err := t.Execute(&body, p); err != nil {
		return err
	}
	out := page.Page{Title: printable.String(p.Title), Style: page.Style(files, "parts/report.css", "parts/ranges.css")}
	if p.Model != "" {
		out.Style, out.Script = page.Style(files, "parts/report.css"), page.Script(files)
	}
	return out.Write(w, body.String())
}
