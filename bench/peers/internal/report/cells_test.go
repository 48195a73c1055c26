package report

import (
	"testing"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 100, 2}, 3}, {[]float64{5, 4, 3, 2, 1}, 3},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestCell(t *testing.T) {
	t.Parallel()
	ours := measure.Cell{Values: []float64{100, 90, 110}}
	for _, c := range []struct {
		name string
		cell measure.Cell
		unit measure.Unit
		want string
	}{
		{"slower", measure.Cell{Values: []float64{250, 180, 1100}}, measure.Nanoseconds, "**2.50 ×** (2.00–10.0), 250"},
		{"writes less", measure.Cell{Values: []float64{50}}, measure.MBPerSecond, "**2.00 ×**, 50.0"},
		{"takes nothing", measure.Cell{Values: []float64{0}}, measure.Bytes, "**0 ×**, 0"},
		{"writes nothing", measure.Cell{Values: []float64{0}}, measure.MBPerSecond, "0"},
		{"throughput", measure.Cell{Values: []float64{1.875, 2}}, measure.Times, "1.94 (1.88–2.00)"},
		{"missing", measure.Cell{Missing: "—"}, measure.Nanoseconds, "—"},
	} {
		if got := cell(measure.Row{Unit: c.unit, Cells: []measure.Cell{ours, c.cell}}, 1); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got, want := cell(measure.Row{Cells: []measure.Cell{ours}}, 0), "100 (90.0–110)"; got != want {
		t.Errorf("ours: %q, want %q", got, want)
	}
}
