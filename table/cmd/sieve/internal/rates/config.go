// Package rates measures the false-positive rate of filters as they fill up, and draws it
// beside the rate of a formula.
package rates

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Config says what to measure. Its fields are the flags of sieve rates.
type Config struct {
	Keys     int      // number of keys that filters are sized for
	Runs     int      // runs of each measurement, each with different keys
	Lookups  int      // absent keys that each run looks up; of the user's keys at most those that are not added
	Policies []string // kinds of filters, as Policies returns them
	Bits     []int    // bits per key, if Rate is 0
	Rate     float64  // each policy takes the fewest bits per key that promise this rate
	K        Sweep    // values of k that are measured, in place of how filters fill up
	Shapes   []string // shapes of keys, as Shapes returns them
	Own      [][]byte // distinct keys of the user, measured before the Shapes
	Seed     uint64   // seed of the random keys
	Width    int      // of the chart, in CSS pixels; 0: as wide as its columns of panels
}

// mostK is the largest k. LevelDB reserves larger ones for other encodings.
const mostK = 30

// A Sweep is the values of k that are measured, in filters with exactly the keys that they are sized
// for. The zero value is none: then k is that of the policy, and filters fill up.
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

// maxNumbers is how many numbers of bits per key are measured at most.
const maxNumbers = 6

// MaxKeys is the largest Config.Keys.
const MaxKeys = 1_000_000

// Validate returns an error that names the first flag with a wrong value.
func (c Config) Validate() error {
	if err := cmp.Or(
		cli.CheckRange("-n", c.Keys, 1, MaxKeys),
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
		return cli.UsageErrorf("--keys-from has %s, but -n %d needs %s: use a smaller -n or more keys",
			text.Count(uint64(len(c.Own)), "distinct key"), c.Keys, figures.Grouped(want))
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

// bitsHint tells how to give the bits of a policy to which they were added with a colon, as other commands take them.
func bitsHint(name string) string {
	kind, bits, found := strings.Cut(name, ":")
	if !found || !slices.Contains(Policies(), kind) {
		return ""
	}
	return fmt.Sprintf(": use --policy %s --bits %s", kind, printable.String(bits))
}

// maxLoadTenths is the largest load that is measured, in tenths: 1.5 times the keys that a
// filter is sized for.
const maxLoadTenths = 15

// A step is what is measured at once: filters with this many keys.
type step struct {
	keys int
	k    int // of a new filter; 0 adds the keys to that of the step before, whose k is the policy's
}

// steps returns what is measured of each filter: its tenths, without those that have no key, or no
// more keys than the one before; or each k of a sweep.
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

// mostKeys returns how many keys a filter gets at most.
func (c Config) mostKeys() int { return c.steps()[len(c.steps())-1].keys }

// A sizedPolicy is a policy with a number of bits per key.
type sizedPolicy struct {
	policy
	bits int
}

// sizedPolicies returns what is measured, policy by policy.
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
