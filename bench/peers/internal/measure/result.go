package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// A Unit is what a row's figures are in.
type Unit int

const (
	Nanoseconds Unit = iota // per operation
	MBPerSecond             // more is better
	Bytes                   // per entry
	PerLookup               // a count
	Times                   // throughput, as a multiple of one goroutine's
)

var unitNames = [...]string{"ns", "MB/s", "bytes", "count", "× one goroutine’s"}

// String returns the unit as it stands behind a row's title.
func (u Unit) String() string { return unitNames[u] }

// MoreBetter returns whether the greater of two figures is the better.
func (u Unit) MoreBetter() bool { return u == MBPerSecond || u == Times }

// MarshalText returns String.
func (u Unit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads what MarshalText wrote. Another text is an error.
func (u *Unit) UnmarshalText(text []byte) error {
	i := slices.Index(unitNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unit %q, want one of %q", text, unitNames)
	}
	*u = Unit(i)
	return nil
}

// A Column is an engine, or the reason why there is none.
type Column struct {
	Name   string
	Engine engine.Engine
	Err    error
}

// A Row is one work done by all engines.
type Row struct {
	ID      string  `json:"id"` // group and work, such as "W1-snappy/get-absent-warm"
	Section string  `json:"section"`
	Title   string  `json:"title"`
	X       float64 `json:"x,omitempty"` // what the section's rows differ in, if it is a number
	Unit    Unit    `json:"unit"`
	Allocs  bool    `json:"showAllocs,omitempty"` // the cells' allocations are worth telling
	Tries   int     `json:"tries,omitempty"`      // measured so often: the cells are of the one with the least Spread
	Cells   []Cell  `json:"cells"`                // of the columns, in their order
}

// A Cell is what one engine took, in each round.
type Cell struct {
	Values  []float64 `json:"values,omitempty"`
	Allocs  []float64 `json:"allocs,omitempty"`  // per operation; none if they are not Go's
	Missing string    `json:"missing,omitempty"` // why there are no values
}

// sample is one measurement.
type sample struct {
	value  float64
	allocs float64 // NaN: unknown
}

func (c *Cell) add(s sample) {
	c.Values = append(c.Values, s.value)
	if !math.IsNaN(s.allocs) {
		c.Allocs = append(c.Allocs, s.allocs)
	}
}
