package blocked

import (
	"fmt"
	"math"
	"sync/atomic"
)

// Union adds all keys of other, which must have as many lines and the same k: else it is an error, and
// nothing is added. Filters that New returned for the same arguments do. other stays as it is. The keys
// whose Add to other returned before the call are in f when Union returns. Keys may be added
// to both filters meanwhile, and f loses none.
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

// Intersect removes the bits that other has not set. Both must have as many lines and the same k: else it
// is an error, and nothing changes. other stays as it is.
//
// A key that was in both filters before the call stays in f. A key is a false positive of the result if it
// is one of both filters, or one of one filter and in the other. So the result has more of them than a
// filter that was built from the common keys.
//
// Keys may be added to both filters meanwhile. Of these f keeps those that other had before the call. It
// may deny those that are added to f during the call and are not in other, or not yet: add them
// again when Intersect has returned.
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
		return fmt.Errorf("blocked: %s of filters of %d and %d lines, with k = %d and %d: want equal sizes and k",
			operation, len(f.lines), len(other.lines), 2*f.probes, 2*other.probes)
	}
	return nil
}

// Union adds all keys of other, which must have the same rate and as many filters in its chain, of equal sizes and k: else
// it is an error, and nothing is added. Growings that NewGrowing returned for the same arguments are equal as long as both
// have grown as often. other stays as it is. Keys may be added to both meanwhile, and none is lost.
//
// A filter of the chain can get up to twice the keys that it is made for, if the chains have different keys. Then the
// false-positive rate exceeds the one that was asked for: see [Growing.Inspect]. Len is an estimate afterwards, and
// counts a key twice that two filters of the chain have.
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
		return fmt.Errorf("blocked: union of chains of %d and %d filters, with rates of %g and %g: want equal numbers and rates",
			len(c.links), len(other.links), c.rate, other.rate)
	}
	for i := range c.links {
		if err := c.links[i].Filter.checkEqualForm("union", &other.links[i].Filter); err != nil {
			return err
		}
	}
	return nil
}
