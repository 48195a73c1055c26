// Package report keeps what was measured in a file, and writes it as a page of tables and charts.
package report

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/template"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

// File is the name of the page.
const File = "RESULTS.md"

//go:embed results.md.tmpl
var page string

// section is a part of the page.
type section struct {
	Title, Table, Allocs string
}

// Draw writes page and charts of the directory's DataFile beside it.
func Draw(dir string) error {
	r, err := load(dir)
	if err != nil {
		return fmt.Errorf("reading what was measured: %w", err)
	}
	charts, err := r.draw(dir)
	if err != nil {
		return fmt.Errorf("drawing charts: %w", err)
	}
	t, err := template.New(File).Parse(page)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, File))
	if err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	defer f.Close()
	err = t.Execute(f, map[string]any{
		"Report": r, "Data": DataFile, "Engines": r.engines(),
		"Sections": append(r.Engines.sections(), r.Membership.sections()...), "Charts": charts,
	})
	if err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return f.Close()
}

// engines names the engines with their versions, each once.
func (r *Report) engines() []string {
	var lines []string
	for _, c := range r.Engines.Columns {
		lines = append(lines, c.Name+": "+c.Version+c.Missing)
	}
	return lines
}

func (r *Results) sections() []section {
	var all []section
	rest := r.Rows
	for len(rest) > 0 {
		end := slices.IndexFunc(rest, func(row measure.Row) bool { return row.Section != rest[0].Section })
		if end < 0 {
			end = len(rest)
		}
		all = append(all, section{
			Title:  rest[0].Section,
			Table:  r.table(rest[:end]),
			Allocs: r.allocs(rest[:end]),
		})
		rest = rest[end:]
	}
	return all
}
