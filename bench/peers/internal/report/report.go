// Package report writes what was measured as a page of tables and charts.
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

// A Report is what was measured, and how.
type Report struct {
	Command    string
	Options    measure.Options
	Engines    Results
	Membership Results
}

// Results are the rows that all columns were measured at.
type Results struct {
	Columns []measure.Column // the first one is ours
	Rows    []measure.Row
}

// section is a part of the page.
type section struct {
	Title, Table, Allocs string
}

// Write writes page and charts into the directory, which is there.
func (r *Report) Write(dir string) error {
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
		"Command": r.Command, "Options": r.Options, "Machine": machine(), "Engines": r.engines(),
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
		line := c.Name + ": "
		if c.Err != nil {
			line += c.Err.Error()
		} else {
			line += c.Engine.Info().Version
		}
		lines = append(lines, line)
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
