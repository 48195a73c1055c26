package rates

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
)

// WriteCSV writes all points, after a header with the column names.
func WriteCSV(w io.Writer, points []Point) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"shape", "policy", "bits", "k", "m", "keys", "load", "runs", "lookups", "mean", "stddev", "low", "high", "theory"}}
	for _, p := range points {
		rows = append(rows, []string{
			p.Shape, p.Policy, strconv.Itoa(p.Bits), strconv.Itoa(p.K), strconv.Itoa(p.M), strconv.Itoa(p.Keys), figure(p.Load),
			strconv.Itoa(len(p.Rates)), strconv.Itoa(p.Lookups), figure(p.Mean), figure(p.StdDev), figure(p.Low), figure(p.High), figure(p.Theory),
		})
	}
	return out.WriteAll(rows)
}

// figure formats a number with six digits. More digits could differ between processors.
func figure(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// WriteSummary writes a table of the points with load 1. In a sweep, it marks the k with the lowest rates. c is
// the Config of the measurement.
func WriteSummary(w io.Writer, c Config, points []Point) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "keys\tfilter\tk\tmeasured\t95 % interval\tformula\t")
	for of := range slices.Chunk(points, len(c.steps())) {
		measured, formulas := lowest(of, measuredRate), lowest(of, formulasRate)
		for _, p := range of {
			if p.Load != 1 {
				continue
			}
			mark := lowestMarks[[2]bool{p.K == measured, p.K == formulas}]
			if c.K.isNone() {
				mark = ""
			}
			fmt.Fprintf(out, "%s\t%s:%d\t%d\t%.4f %%\t%.4f to %.4f %%\t%.4f %%\t%s\n",
				p.Shape, p.Policy, p.Bits, p.K, 100*p.Mean, 100*p.Low, 100*p.High, 100*p.Theory, mark)
		}
	}
	return out.Flush()
}

// lowestMarks mark the k with the lowest rate, as measured and by the formula.
var lowestMarks = map[[2]bool]string{
	{true, true}: "  ← lowest of both", {true, false}: "  ← lowest measured", {false, true}: "  ← lowest by formula",
}
