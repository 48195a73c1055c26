package main

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A contender does the same work as the others.
type contender struct {
	name string
	do   func(i int) error // does the i-th part of the work
	took []time.Duration
}

// inTurns has the contenders take turns: in each iteration of the benchmark, each does the given number of parts.
// The order is random, since a contender finds the processor's caches as the others have left them. Metrics are
// median times in ns per step. A part of the work has the given number of steps.
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

// reportRatio reports the ratio of their median time to ours.
func reportRatio(b *testing.B, what string, theirs, ours *contender) {
	b.Helper()
	b.ReportMetric(theirs.median()/ours.median(), "x-"+what)
}
