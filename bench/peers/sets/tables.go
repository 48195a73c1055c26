package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/figures"
)

// A column is a figure in all rows. A figure < 0 is unknown.
type column struct {
	title  string
	figure func(r row) float64
}

// written lists the figures for building and updating.
var written = []column{
	{"build, µs per key", func(r row) float64 { return r.Build }},
	{"from unsorted, µs per key", func(r row) float64 { return r.Unsorted }},
	{"disk, bytes per key", func(r row) float64 { return r.perKey(r.Disk) }},
	{"update, MB written", func(r row) float64 { return float64(r.Update) / 1e6 }},
}

// queryColumns lists the figures for opening and querying.
var queryColumns = []column{
	{"open, ms", func(r row) float64 { return r.Open }},
	{"read to open, MB", func(r row) float64 { return float64(r.Read) / 1e6 }},
	{"memory, bytes per key", func(r row) float64 { return r.perKey(r.Opened.Anon) }},
	{"after lookups, bytes per key", func(r row) float64 { return r.perKey(r.After.Anon) }},
	{"mapped, bytes per key", func(r row) float64 { return r.perKey(r.After.Mapped) }},
	{"absent key, ns", func(r row) float64 { return r.Absent }},
	{"false positives, %", func(r row) float64 { return 100 * r.FalsePositives }},
	{"present key, ns", func(r row) float64 { return r.Present }},
}

// many is the number of keys in the last table.
const many = 10_000_000_000

// scaled lists the figures for many keys, if each key costs as much as in the row.
var scaled = []column{
	{"build, core-hours", func(r row) float64 { return r.Build * many / 3600e6 }},
	{"from unsorted, core-hours", func(r row) float64 { return r.Unsorted * many / 3600e6 }},
	{"disk, GB", func(r row) float64 { return r.times(float64(r.Disk) / 1e9) }},
	{"open, CPU s", func(r row) float64 { return r.times(r.Open / 1e3) }},
	{"read to open, GB", func(r row) float64 { return r.times(float64(r.Read) / 1e9) }},
	{"memory, GB", func(r row) float64 { return r.times(float64(r.Opened.Anon) / 1e9) }},
	{"after lookups, GB", func(r row) float64 { return r.times(float64(r.After.Anon) / 1e9) }},
	{"update, GB written", func(r row) float64 { return r.times(float64(r.Update) / 1e9) }},
}

func (r row) perKey(bytes int64) float64 { return float64(bytes) / float64(r.N) }

// times scales a figure of the row to many keys.
func (r row) times(v float64) float64 { return v * many / float64(r.N) }

// tables returns all tables in Markdown, with the command and the machine.
func (r *results) tables() string {
	var out strings.Builder
	fmt.Fprintf(&out, "`%s` on %s, with %s.\n", r.Command, list(r.Machine), list(r.Peers))
	last := r.Rows[len(r.Rows)-1].N
	for rest := r.Rows; len(rest) > 0; {
		n := 0
		for n < len(rest) && rest[n].N == rest[0].N {
			n++
		}
		keys := figures.Grouped(rest[0].N) + " keys"
		printTable(&out, keys+", built and updated", written, ofEngines(rest[:n]))
		printTable(&out, keys+", queried", queryColumns, rest[:n])
		if rest[0].N == last {
			printTable(&out, figures.Grouped(many)+" keys, scaled from "+figures.Grouped(last), scaled, rest[:n])
		}
		rest = rest[n:]
	}
	r.Curve.print(&out)
	return out.String()
}

// choice returns a table in Markdown that helps to choose filters: the sets with the most keys, not mapped.
func (r *results) choice() string {
	var sets []row
	last := r.Rows[len(r.Rows)-1].N
	for _, row := range r.Rows {
		name, isSet := strings.CutPrefix(row.Name, "set, ")
		name, isRead := strings.CutSuffix(name, ", read")
		if row.N == last && isSet && isRead {
			row.Name = name
			sets = append(sets, row)
		}
	}
	var out strings.Builder
	printTable(&out, "filters", choiceColumns, sets)
	return strings.TrimPrefix(out.String(), "\n")
}

// choiceColumns lists the figures in choice.
var choiceColumns = []column{
	{"memory, bytes", func(r row) float64 { return r.perKey(r.Opened.Anon) }},
	{"disk, bytes", func(r row) float64 { return r.perKey(r.Disk) }},
	{"absent key, ns", func(r row) float64 { return r.Absent }},
	{"present key, ns", func(r row) float64 { return r.Present }},
	{"false positives, %", func(r row) float64 { return 100 * r.FalsePositives }},
}

// ofEngines returns a row for each engine that has rows, with the engine's name. The figures for writing a set do
// not depend on the way to open it.
func ofEngines(rows []row) (all []row) {
	for _, e := range engines() {
		i := slices.IndexFunc(rows, func(r row) bool { return r.Name == e.row(e.ways[0]) })
		if i >= 0 {
			r := rows[i]
			r.Name = e.name
			all = append(all, r)
		}
	}
	return all
}

// list formats names and values.
func list(pairs [][2]string) string {
	var all []string
	for _, p := range pairs {
		all = append(all, p[0]+" "+p[1])
	}
	return strings.Join(all, ", ")
}

// printTable prints a table of the columns, with a title in its corner.
func printTable(out *strings.Builder, title string, columns []column, rows []row) {
	fmt.Fprintf(out, "\n| %s |", title)
	for _, c := range columns {
		fmt.Fprintf(out, " %s |", c.title)
	}
	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("--:|", len(columns)))
	for _, r := range rows {
		fmt.Fprintf(out, "| %s |", r.Name)
		for _, c := range columns {
			fmt.Fprintf(out, " %s |", cell(c.figure(r)))
		}
		fmt.Fprintln(out)
	}
}

// cell formats a figure with three digits. For an unknown figure, it returns a dash.
func cell(v float64) string {
	switch {
	case v < 0:
		return "–"
	case v < 0.001:
		return "0"
	case v >= 1000:
		return figures.Grouped(int(math.Round(v)))
	}
	return figures.Digits(v)
}

// print prints the times of lookups by MemorySize, in the order of the points.
func (c curve) print(out *strings.Builder) {
	var titles, cells strings.Builder
	for _, p := range c.Points {
		fmt.Fprintf(&titles, " %d %% |", p.Percent)
		fmt.Fprintf(&cells, " %s |", figures.Digits(p.Lookup/1e3))
	}
	fmt.Fprintf(out, "\n| `MemorySize`, as a share of the memory of %d tables of %s keys |%s\n|---|%s\n| absent key, µs |%s\n",
		c.Tables, figures.Grouped(c.Keys), &titles, strings.Repeat("--:|", len(c.Points)), &cells)
}
