package report

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
