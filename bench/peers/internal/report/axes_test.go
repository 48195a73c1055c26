package report

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

func TestRounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high float64
		want      []float64
	}{
		{87, 4833, []float64{50, 100, 200, 500, 1000, 2000, 5000}},
		{100, 1000, []float64{100, 200, 500, 1000}},
		{26, 85775, []float64{10, 100, 1000, 10_000, 100_000}},
		{3, 3, []float64{2, 5}},
		{10, 10, []float64{10, 20}},
		{0.3, 0.4, []float64{0.2, 0.5}},
	} {
		if diff := cmp.Diff(c.want, rounds(c.low, c.high), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("rounds(%v, %v) (-want +got):\n%s", c.low, c.high, diff)
		}
	}
	for _, end := range []float64{least, most} { // what a file may have
		steps := rounds(end, end)
		if len(steps) > 3 || math.IsInf(steps[len(steps)-1], 0) {
			t.Errorf("rounds(%v, %v) = %v", end, end, steps)
		}
	}
}

// A logarithmic axis has no place for 0, which rows in another unit than time may have.
func TestExtentRefusesZero(t *testing.T) {
	t.Parallel()
	p := linePlot{
		lines: lines{rows: []measure.Row{{ID: "W3-10/work", X: 10}}},
		drawn: []drawnLine{{name: "ours", points: []point{{10, span{0, 1, 2}}}}},
	}
	if _, _, err := p.extent(); err == nil || !strings.Contains(err.Error(), "ours at 10 has a figure of 0, want > 0") {
		t.Errorf("error %v, want one that names the line and its figure", err)
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{4: "4", 100: "100", 1000: "1k", 10_000: "10k", 2_500_000: "2.5M", 1e7: "10M"} {
		if got := short(v); got != want {
			t.Errorf("short(%v) = %q, want %q", v, got, want)
		}
	}
}
