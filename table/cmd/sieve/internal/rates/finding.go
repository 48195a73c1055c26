package rates

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/figures"
)

// usualBits is the most common number of bits per key.
const usualBits = 10

// finding states in a sentence what was found for filters with about the usual number of bits per key.
func (c Config) finding(panels []panel) string {
	full := withKeys(c.Keys)
	if len(c.Policies) == 1 && c.K.isNone() {
		p := usual(panels, c.Policies[0])
		return fmt.Sprintf("A full filter of %s lets %s of the absent keys through%s", p.policy.size(p.bits), p.through(full), c.overfull(p))
	}
	about, separator, describe := "Of the absent keys, full filters let through: ", ", ", func(p panel) string { return p.through(full) }
	if !c.K.isNone() {
		about, separator, describe = "Best k, as measured and by the formula: ", "; ", panel.bestK
	}
	var parts []string
	for _, name := range c.Policies {
		p := usual(panels, name)
		parts = append(parts, fmt.Sprintf("%s (%d bits) %s", p.policy.short, p.bits, describe(p)))
	}
	return about + strings.Join(parts, separator)
}

// bestK describes the k with the lowest rate, as measured and by the formula.
func (panel panel) bestK() string {
	means := slices.Clone(panel.series[0].points) // means over all shapes
	for i := range means {
		means[i].Mean = 0
		for _, s := range panel.series {
			means[i].Mean += s.points[i].Mean / float64(len(panel.series))
		}
	}
	best := lowest(means, measuredRate)
	through := panel.through(func(p Point) bool { return p.K == best })
	return fmt.Sprintf("%d with %s, and %d", best, through, lowest(means, formulasRate))
}

// overfull describes the rate of a panel's filters with the most keys, if these are more than they are sized for.
func (c Config) overfull(p panel) string {
	switch most := c.mostKeys(); {
	case most == c.Keys:
		return ""
	case c.Keys < 10: // most is not close to 1.5 times as many
		return fmt.Sprintf("; with %d keys in place of %d, %s", most, c.Keys, p.through(withKeys(most)))
	default:
		return "; with 1.5 times as many keys, " + p.through(withKeys(most))
	}
}

func withKeys(n int) func(Point) bool { return func(p Point) bool { return p.Keys == n } }

// usual returns the policy's panel with the number of bits closest to usualBits.
func usual(panels []panel, policy string) panel {
	own := slices.DeleteFunc(slices.Clone(panels), func(p panel) bool { return p.policy.name != policy })
	far := func(p panel) float64 { return math.Abs(float64(p.bits - usualBits)) }
	return slices.MinFunc(own, func(a, b panel) int { return cmp.Compare(far(a), far(b)) })
}

// through returns the lowest and the highest mean rate among the shapes, at the first point for which those is
// true.
func (panel panel) through(those func(Point) bool) string {
	low, high := 1.0, 0.0
	for _, s := range panel.series {
		at := slices.IndexFunc(s.points, those)
		mean := s.points[at].Mean
		low, high = min(low, mean), max(high, mean)
	}
	switch from, to := figures.Percent(low), figures.Percent(high); {
	case high == 0:
		return "none"
	case from == to:
		return from + " %"
	default:
		return from + "–" + to + " %"
	}
}

// lowest returns the k of the point with the lowest value.
func lowest(points []Point, value func(Point) float64) (k int) {
	return slices.MinFunc(points, func(a, b Point) int { return cmp.Compare(value(a), value(b)) }).K
}

func measuredRate(p Point) float64 { return p.Mean }
func formulasRate(p Point) float64 { return p.Theory }
