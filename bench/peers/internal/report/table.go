package report

import (
	"strings"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/internal/figures"
)

// table writes the rows' medians.
func (r *Results) table(rows []measure.Row) string {
	columns := r.used(rows, func(c measure.Cell) bool { return len(c.Values) > 0 || c.Missing != "—" })
	var lines [][]string
	for _, row := range rows {
		line := []string{row.Title + ", " + row.Unit.String()}
		for _, i := range columns {
			line = append(line, cell(row, i))
		}
		lines = append(lines, line)
	}
	return r.markdown(columns, lines)
}

// allocs writes the rows' allocations, "" if none is worth telling.
func (r *Results) allocs(rows []measure.Row) string {
	columns := r.used(rows, func(c measure.Cell) bool { return len(c.Allocs) > 0 })
	var lines [][]string
	for _, row := range rows {
		if !row.Allocs {
			continue
		}
		line := []string{row.Title}
		for _, i := range columns {
			line = append(line, allocsOf(row.Cells[i]))
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return ""
	}
	return r.markdown(columns, lines)
}

// allocsOf leaves out the thousandths that the runtime itself allocates.
func allocsOf(c measure.Cell) string {
	if len(c.Allocs) == 0 {
		return "—"
	}
	m := median(c.Allocs)
	if m < 0.005 {
		m = 0
	}
	return figures.Digits(m)
}

// used returns the columns that have something to show in some row.
func (r *Results) used(rows []measure.Row, shows func(measure.Cell) bool) []int {
	var columns []int
	for i := range r.Columns {
		for _, row := range rows {
			if shows(row.Cells[i]) {
				columns = append(columns, i)
				break
			}
		}
	}
	return columns
}

// markdown writes a table with the columns' names above.
func (r *Results) markdown(columns []int, lines [][]string) string {
	head := []string{""}
	rule := []string{"---"}
	for _, i := range columns {
		head = append(head, r.Columns[i].Name)
		rule = append(rule, "---")
	}
	var b strings.Builder
	for _, line := range append([][]string{head, rule}, lines...) {
		b.WriteString("| " + strings.Join(line, " | ") + " |\n")
	}
	return b.String()
}
