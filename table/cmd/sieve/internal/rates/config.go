// Package rates measures the false-positive rates of filters as they fill up, and draws them beside predicted
// rates.
package rates

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Config describes what to measure. Its fields are the flags of sieve rates.
type Config struct {
	Keys     int      // number of keys that filters are sized for
	Runs     int      // runs of each measurement, each with different keys
	Lookups  int      // absent keys that each run looks up; limited to the user's keys that are not added
	Policies []string // kinds of filters, as Policies returns them
	Bits     []int    // bits per key, if Rate is 0
	Rate     float64  // each policy uses the fewest bits per key with a predicted rate ≤ this
	K        Sweep    // values of k to measure in full filters, instead of filters that fill up
	Shapes   []string // shapes of keys, as Shapes returns them
	Own      [][]byte // distinct keys of the user, measured before the Shapes
	Seed     uint64   // seed of the random keys
	Width    int      // width of the chart in CSS pixels; 0: as its columns of panels require
}

// mostK is the largest k. LevelDB reserves larger values for other encodings.
const mostK = 30

// A Sweep is a range of k to measure in full filters, which have exactly the keys that they are sized for. The
// zero Sweep is none: then filters fill up, with the policy's k.
type Sweep struct{ From, To int }

// ParseSweep parses FROM-TO. The error says what s is not.
func ParseSweep(s string) (Sweep, error) {
	from, to, _ := strings.Cut(s, "-")
	var k Sweep
	var err error
	if k.From, err = strconv.Atoi(from); err == nil {
		k.To, err = strconv.Atoi(to)
	}
	if err != nil || k.From < 1 || k.To > mostK || k.From >= k.To {
		return Sweep{}, fmt.Errorf("not FROM-TO, such as 1-16: two numbers from 1 to %d, the smaller one first", mostK)
	}
	return k, nil
}

func (k Sweep) isNone() bool { return k == Sweep{} }

// maxBits is the maximum number of bits per key. From 44 on, k of Bloom filters is 30.
const maxBits = 100

// maxNumbers is the maximum number of values in Config.Bits.
const maxNumbers = 6

// MaxKeys is the largest Config.Keys.
const MaxKeys = 1_000_000

// Validate returns an error that names the first flag with a wrong value. Flags whose values are bounded when they
// are parsed are not checked again.
func (c Config) Validate() error {
	if err := cmp.Or(
		cli.CheckRange("--runs", c.Runs, 2, 1000),
		cli.CheckRange("--lookups", c.Lookups, 100, 1_000_000),
		cli.CheckRange("--width", cmp.Or(c.Width, minWidth), minWidth, 4000),
		c.validateBits(),
		validateNames("--policy", c.Policies, Policies(), false),
	); err != nil {
		return err
	}
	if !c.K.isNone() && slices.Contains(c.Policies, fuseName) {
		return cli.UsageErrorf("--k cannot be combined with --policy %s, whose k is fixed", fuseName)
	}
	if err := validateNames("--shapes", c.Shapes, Shapes(), c.Own != nil); err != nil {
		return err
	}
	if want := c.ownShare() * c.Keys; c.Own != nil && len(c.Own) < want {
		advice := "use more keys"
		if most := len(c.Own) / c.ownShare(); most > 0 {
			advice = fmt.Sprintf("use -n %d or more keys", most)
		}
		return cli.UsageErrorf("--keys-from has %s, but -n %d needs %s: %s",
			text.Count(uint64(len(c.Own)), "distinct key"), c.Keys, figures.Grouped(want), advice)
	}
	return nil
}

func (c Config) validateBits() error {
	if c.Rate != 0 {
		return nil
	}
	if n := len(c.Bits); n < 1 || n > maxNumbers {
		return cli.UsageErrorf("--bits has %d numbers, not 1 to %d", n, maxNumbers)
	}
	for i, b := range c.Bits {
		if b < 1 || b > maxBits {
			return cli.UsageErrorf("--bits has %d, not numbers from 1 to %d", b, maxBits)
		}
		if slices.Contains(c.Bits[:i], b) {
			return cli.UsageErrorf("--bits has %d twice", b)
		}
	}
	return nil
}

// validateNames checks the names that a flag lists.
func validateNames(flag string, names, known []string, mayBeEmpty bool) error {
	if len(names) == 0 && !mayBeEmpty {
		return cli.UsageErrorf("%s is empty, not %s", flag, text.OneOf(known...))
	}
	for i, s := range names {
		if !slices.Contains(known, s) {
			return cli.UsageErrorf("%s has %s, not %s%s", flag, format.Quote([]byte(s)), text.OneOf(known...), bitsHint(s))
		}
		if slices.Contains(names[:i], s) {
			return cli.UsageErrorf("%s has %s twice", flag, s)
		}
	}
	return nil
}

// bitsHint returns a hint for a policy with a colon and bits, as other commands take it: how to specify the bits
// here.
func bitsHint(name string) string {
	kind, bits, found := strings.Cut(name, ":")
	if !found || !slices.Contains(Policies(), kind) {
		return ""
	}
	return fmt.Sprintf(": use --policy %s --bits %s", kind, printable.String(bits))
}

// maxLoadTenths is the largest measured load in tenths: 1.5 times the keys that a filter is sized for.
const maxLoadTenths = 15

// A step is one point to measure: filters with this many keys.
type step struct {
	keys int
	k    int // k of a new filter; 0: add keys to the filter of the previous step, which has the policy's k
}

// steps returns the steps for each filter: each k of a sweep, or each tenth of the load, except tenths that add
// no key.
func (c Config) steps() (steps []step) {
	if !c.K.isNone() {
		for k := c.K.From; k <= c.K.To; k++ {
			steps = append(steps, step{c.Keys, k})
		}
		return steps
	}
	for tenths := 1; tenths <= maxLoadTenths; tenths++ {
		if n := c.Keys * tenths / 10; n > 0 {
			steps = append(steps, step{keys: n})
		}
	}
	return slices.Compact(steps)
}

// mostKeys returns the maximum number of keys in a filter.
func (c Config) mostKeys() int { return c.steps()[len(c.steps())-1].keys }

// A sizedPolicy is a policy with a number of bits per key.
type sizedPolicy struct {
	policy
	bits int
}

// sizedPolicies returns the policies to measure, with their bits per key.
func (c Config) sizedPolicies() ([]sizedPolicy, error) {
	var all []sizedPolicy
	for _, name := range c.Policies {
		p, numbers := policyOf(name), c.Bits
		if c.Rate != 0 {
			bits, err := p.fewestBits(c.Keys, c.Rate)
			if err != nil {
				return nil, err
			}
			numbers = []int{bits}
		}
		for _, bits := range numbers {
			all = append(all, sizedPolicy{p, bits})
		}
	}
	return all, nil
}
