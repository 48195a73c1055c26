package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/sievetable/sievetable/bench/peers/e1/internal/work"
)

// A row is a work, and what it took each engine in each round.
type row struct {
	work         string
	theirs, ours []work.Figure
}

// write writes the rows of a cache as a table.
func write(w io.Writer, cacheMB int, rows []row) error {
	_, err := fmt.Fprintf(w, `
Block cache of %d MB:

| work | CPU, goleveldb's tables | ours | ratio | wall | allocs | ours | bytes | ours | ratio |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`, cacheMB)
	for _, r := range rows {
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, r.line())
	}
	return err
}

// line returns the line of the table.
func (r *row) line() string {
	cpu := func(f work.Figure) float64 { return perOp(f, float64(f.CPU)) / float64(time.Microsecond) }
	wall := func(f work.Figure) float64 { return perOp(f, float64(f.Wall)) }
	allocs := func(f work.Figure) float64 { return perOp(f, float64(f.Allocs)) }
	bytes := func(f work.Figure) float64 { return perOp(f, float64(f.Bytes)) }
	a, b := median(r.theirs, cpu), median(r.ours, cpu)
	aBytes, bBytes := median(r.theirs, bytes), median(r.ours, bytes)
	return fmt.Sprintf("| %s | %.2f µs | %.2f µs | **%.2f ×** | %.2f × | %.1f | %.1f | %.0f | %.0f | %.2f × |", r.work, a, b, a/b,
		median(r.theirs, wall)/median(r.ours, wall), median(r.theirs, allocs), median(r.ours, allocs), aBytes, bBytes, aBytes/max(bBytes, 1))
}

// perOp returns x for each operation of f.
func perOp(f work.Figure, x float64) float64 { return x / float64(max(f.Ops, 1)) }

// median returns the median of a figure over the rounds.
func median(rounds []work.Figure, figure func(work.Figure) float64) float64 {
	all := make([]float64, len(rounds))
	for i, f := range rounds {
		all[i] = figure(f)
	}
	slices.Sort(all)
	return all[len(all)/2]
}
