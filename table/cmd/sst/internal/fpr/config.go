// Package fpr measures the false-positive rate of Bloom filters as they fill up, and draws
// it beside the rate of the formula.
package fpr

import (
	"fmt"
	"slices"
	"strings"
)

// A Config says what to measure. Its fields are the flags of sst fpr.
type Config struct {
	Keys      int      // number of keys that filters are sized for
	Runs      int      // runs of each measurement, each with different keys
	Questions int      // absent keys that each run looks up
	Bits      []int    // bits per key
	Shapes    []string // shapes of keys, as Shapes returns them
	Seed      uint64   // seed of the random keys
}

// maxBits is the maximum number of bits per key. From 44 on, k is 30.
const maxBits = 100

// Validate returns an error that names the first flag with a wrong value.
func (c Config) Validate() error {
	for _, f := range []struct {
		flag        string
		value       int
		least, most int
	}{
		{"-n", c.Keys, 10, 1_000_000},
		{"--runs", c.Runs, 2, 1000},
		{"--questions", c.Questions, 100, 1_000_000},
	} {
		if f.value < f.least || f.value > f.most {
			return fmt.Errorf("%s is %d, want %d to %d", f.flag, f.value, f.least, f.most)
		}
	}
	if err := c.validateBits(); err != nil {
		return err
	}
	return c.validateShapes()
}

func (c Config) validateBits() error {
	if n := len(c.Bits); n < 1 || n > len(seriesColors) {
		return fmt.Errorf("--bits has %d numbers, want 1 to %d", n, len(seriesColors))
	}
	for i, b := range c.Bits {
		if b < 1 || b > maxBits {
			return fmt.Errorf("--bits has %d, want numbers from 1 to %d", b, maxBits)
		}
		if slices.Contains(c.Bits[:i], b) {
			return fmt.Errorf("--bits has %d twice", b)
		}
	}
	return nil
}

func (c Config) validateShapes() error {
	if len(c.Shapes) == 0 {
		return fmt.Errorf("--shapes is empty, want some of %s", strings.Join(Shapes(), ", "))
	}
	for i, s := range c.Shapes {
		if !slices.Contains(Shapes(), s) {
			return fmt.Errorf("--shapes has %q, want some of %s", s, strings.Join(Shapes(), ", "))
		}
		if slices.Contains(c.Shapes[:i], s) {
			return fmt.Errorf("--shapes has %s twice", s)
		}
	}
	return nil
}

// maxLoadTenths is the largest load that is measured, in tenths: 1.5 times the keys that a
// filter is sized for.
const maxLoadTenths = 15

// keysAt returns the number of keys at a load of i tenths.
func (c Config) keysAt(i int) int { return c.Keys * i / 10 }
