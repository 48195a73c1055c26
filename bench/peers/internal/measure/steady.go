package measure

import (
	"math"
	"slices"
	"time"
)

const (
	// steady is the Spread of rows that are not measured again.
	steady = 0.3

	// mostTries are how often a row is measured at most.
	mostTries = 3

	// mostAgain is what measuring again takes in a whole run at most, in measurements.
	mostAgain = 900
)

// Ratios returns, for each round, how many times as good ours, the first column, was as column i: twice
// is half the time or memory, or twice as much a second. It is nil where there is nothing to compare.
func (row *Row) Ratios(i int) (all []float64) {
	if row.Unit == Times {
		return nil
	}
	ours, peers := row.Cells[0].Values, row.Cells[i].Values
	for round := range min(len(ours), len(peers)) {
		ratio := peers[round] / ours[round]
		if row.Unit.MoreBetter() {
			ratio = 1 / ratio
		}
		if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
			return nil
		}
		all = append(all, ratio)
	}
	return all
}

// Spread returns how far the ratios of a column are apart, as a part of their median, for the column
// where that is most.
func (row *Row) Spread() (most float64) {
	for i := range row.Cells {
		all := slices.Sorted(slices.Values(row.Ratios(i)))
		if len(all) > 0 && all[len(all)/2] > 0 {
			most = max(most, (all[len(all)-1]-all[0])/all[len(all)/2])
		}
	}
	return most
}

// again is how long rows may still be measured again.
type again time.Duration

func newAgain(o Options) again { return again(mostAgain * o.Time) }

// measure measures the row's tasks in turns. While its Spread is more than steady, it does so again, if
// there is time. The row keeps the figures of the try with the least Spread.
func (left *again) measure(rounds int, row *Row, tasks []task, measure func(i int, c *Cell) error) error {
	first, best := row.Cells, math.Inf(1)
	for row.Tries = 1; ; row.Tries++ {
		start := time.Now()
		try := *row
		try.Cells = slices.Clone(first)
		err := inTurns(rounds, tasks, func(i int) error { return measure(i, &try.Cells[i]) })
		if err != nil {
			return err
		}
		if spread := try.Spread(); spread < best {
			best, row.Cells = spread, try.Cells
		}
		if row.Tries > 1 {
			*left -= again(time.Since(start))
		}
		if best <= steady || row.Tries == mostTries || *left <= 0 {
			return nil
		}
	}
}
