package blocked

import (
	"fmt"
	"math"
	"sync/atomic"
)

// Union adds all keys of other, which must have the same number of lines and k, as after New with the same
// arguments. Keys can be added to both filters during the call. f then contains each key whose Add to other
// returned before the call.
func (f *Filter) Union(other *Filter) error {
	if err := f.checkEqualForm("union", other); err != nil {
		return err
	}
	for i := range f.lines {
		for j := range f.lines[i] {
			if bits := atomic.LoadUint64(&other.lines[i][j]); bits != 0 {
				atomic.OrUint64(&f.lines[i][j], bits)
			}
		}
	}
	return nil
}

// Intersect removes the keys that are not in other, which must have the same number of lines and k. Every key that
// passes both filters passes the result, so it has more false positives than a filter built from the common keys.
//
// Keys can be added to both filters during the call. Add a key to f again afterwards if it was added to f during
// the call and was not in other before.
func (f *Filter) Intersect(other *Filter) error {
	if err := f.checkEqualForm("intersection", other); err != nil {
		return err
	}
	for i := range f.lines {
		for j := range f.lines[i] {
			atomic.AndUint64(&f.lines[i][j], atomic.LoadUint64(&other.lines[i][j]))
		}
	}
	return nil
}

func (f *Filter) checkEqualForm(operation string, other *Filter) error {
	if len(f.lines) != len(other.lines) || f.probes != other.probes {
		return fmt.Errorf("blocked: %s of filters of %d and %d lines, with k = %d and %d: sizes and k must be equal",
			operation, len(f.lines), len(other.lines), 2*f.probes, 2*other.probes)
	}
	return nil
}

// Union adds all keys of other, which must have the same rate and filters of the same sizes and k, as after
// NewGrowing with the same arguments if both have grown equally often. Keys can be added to both during the call,
// and none is lost.
//
// A filter of the chain can then hold up to twice as many keys as planned, and the false-positive rate can exceed
// [Growing.Rate]: see [Growing.Inspect]. Len is an estimate afterwards.
func (g *Growing) Union(other *Growing) error {
	c, o := g.chain.Load(), other.chain.Load()
	if err := c.checkEqualForm(o); err != nil {
		return err
	}
	for i := range c.links {
		l := &c.links[i]
		if err := l.Union(&o.links[i].Filter); err != nil {
			return err
		}
		united := uint64(min(math.Round(l.Inspect().Keys), maxKeys))
		if keys := l.keys.Load(); united > keys {
			l.keys.Add(united - keys)
		}
	}
	return nil
}

func (c *chain) checkEqualForm(other *chain) error {
	if len(c.links) != len(other.links) || c.rate != other.rate {
		return fmt.Errorf("blocked: union of chains of %d and %d filters, with rates of %g and %g: "+
			"numbers and rates must be equal", len(c.links), len(other.links), c.rate, other.rate)
	}
	for i := range c.links {
		if err := c.links[i].Filter.checkEqualForm("union", &other.links[i].Filter); err != nil {
			return err
		}
	}
	return nil
}
