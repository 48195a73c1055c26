package measure

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRatios(t *testing.T) {
	t.Parallel()
	cell := func(values ...float64) Cell { return Cell{Values: values} }
	for name, c := range map[string]struct {
		unit        Unit
		ours, peers Cell
		want        []float64
	}{
		"times":       {Nanoseconds, cell(100, 50), cell(200, 200), []float64{2, 4}},
		"speeds":      {MBPerSecond, cell(100, 50), cell(50, 50), []float64{2, 1}},
		"nothing":     {Bytes, cell(0), cell(0), nil},
		"one missing": {Nanoseconds, cell(100), Cell{Missing: "—"}, nil},
		"multiples":   {Times, cell(1.9), cell(1.8), nil},
	} {
		row := Row{Unit: c.unit, Cells: []Cell{c.ours, c.peers}}
		if diff := cmp.Diff(c.want, row.Ratios(1)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A row is measured again while its ratios are apart, and keeps the figures of the steadiest try.
func TestMeasureAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		peers []float64 // figures of two rounds for each try; ours are all 1
		left  again
		tries int
		want  []float64
	}{
		"steady":       {[]float64{2, 2.5}, again(time.Hour), 1, []float64{2, 2.5}},
		"steady later": {[]float64{2, 9, 3, 3}, again(time.Hour), 2, []float64{3, 3}},
		"never":        {[]float64{2, 9, 2, 4, 2, 5}, again(time.Hour), 3, []float64{2, 4}},
		"no time":      {[]float64{2, 9, 3, 3}, 0, 1, []float64{2, 9}},
	} {
		row := Row{Cells: make([]Cell, 3)}
		row.Cells[2] = Cell{Values: []float64{7}} // was counted once
		rest := c.peers
		idle := func(time.Duration) (sample, error) { return sample{}, nil }
		err := c.left.measure(2, &row, []task{idle, idle, nil}, func(i int, cell *Cell) error {
			if i == 0 {
				cell.add(counted(1))
				return nil
			}
			cell.add(counted(rest[0]))
			rest = rest[1:]
			return nil
		})
		want := Row{Tries: c.tries, Cells: []Cell{{Values: []float64{1, 1}}, {Values: c.want}, {Values: []float64{7}}}}
		if diff := cmp.Diff(want, row); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestMeasureFails(t *testing.T) {
	t.Parallel()
	left, row, bad := again(time.Hour), Row{Cells: make([]Cell, 1)}, errors.New("bad")
	idle := func(time.Duration) (sample, error) { return sample{}, nil }
	if err := left.measure(1, &row, []task{idle}, func(int, *Cell) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("error %v, want %v", err, bad)
	}
}
