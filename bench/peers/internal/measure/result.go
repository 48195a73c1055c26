package measure

import (
	"math"

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

// A Column is an engine, or the reason why there is none.
type Column struct {
	Name   string
	Engine engine.Engine
	Err    error
}

// A Row is one work done by all engines.
type Row struct {
	ID      string // group and work, such as "W1-snappy/get-absent-warm"
	Section string
	Title   string
	X       float64 // what the section's rows differ in, if it is a number
	Unit    Unit
	Allocs  bool // the cells' allocations are worth telling
	Cells   []Cell
}

// A Cell is what one engine took, in each round.
type Cell struct {
	Values  []float64
	Allocs  []float64 // per operation; none if they are not Go's
	Missing string    // why there are no values
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
