package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A contender does the same work as others.
type contender struct {
	name string
	do   func(i int) error // a part of the work, the i-th
	took []time.Duration
}

// inTurns has all do each of some parts of the work, for each loop of the benchmark. The order is random:
// who comes first finds in the processor's caches what the others have left there. The metrics are
// medians, in ns for a part of that many steps.
func inTurns(b *testing.B, parts, steps int, all ...*contender) {
	b.Helper()
	order, rng := slices.Clone(all), rand.New(rand.NewPCG(29, 29))
	for n := 0; b.Loop(); n++ {
		for i := range parts {
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, c := range order {
				c.time(b, n*parts+i)
			}
		}
	}
	for _, c := range all {
		b.ReportMetric(c.median()/float64(steps), c.name+"-ns")
	}
}

func (c *contender) time(b *testing.B, i int) {
	b.Helper()
	began := time.Now()
	if err := c.do(i); err != nil {
		b.Fatal(c.name, err)
	}
	c.took = append(c.took, time.Since(began))
}

// median returns the median, in ns.
func (c *contender) median() float64 {
	slices.Sort(c.took)
	return float64(c.took[len(c.took)/2])
}

// reportRatio reports how many times as long as ours theirs took.
func reportRatio(b *testing.B, what string, theirs, ours *contender) {
	b.Helper()
	b.ReportMetric(theirs.median()/ours.median(), "x-"+what)
}
