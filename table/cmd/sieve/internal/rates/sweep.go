package rates

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// mostK is the largest k. LevelDB reserves larger ones for other encodings.
const mostK = 30

// A Sweep is the values of k that are measured, in filters with exactly the keys that they are sized
// for. The zero value is none: then k is that of the policy, and filters fill up.
type Sweep struct{ From, To int }

// ParseSweep parses FROM-TO.
func ParseSweep(s string) (Sweep, error) {
	from, to, _ := strings.Cut(s, "-")
	var k Sweep
	var err error
	if k.From, err = strconv.Atoi(from); err == nil {
		k.To, err = strconv.Atoi(to)
	}
	if err != nil || k.From < 1 || k.To > mostK || k.From >= k.To {
		return Sweep{}, cli.UsageErrorf("--k is %s, want FROM-TO, such as 1-16: two numbers from 1 to %d, the smaller one first",
			wire.Quote([]byte(s)), mostK)
	}
	return k, nil
}

func (k Sweep) isNone() bool { return k == Sweep{} }

// lowest returns the k of the point with the lowest value.
func lowest(points []Point, value func(Point) float64) (k int) {
	return slices.MinFunc(points, func(a, b Point) int { return cmp.Compare(value(a), value(b)) }).K
}

func measuredRate(p Point) float64 { return p.Mean }
func formulasRate(p Point) float64 { return p.Theory }

// means returns a panel's points with the mean of all shapes.
func (panel panel) means() []Point {
	means := slices.Clone(panel.series[0].points)
	for i := range means {
		means[i].Mean = 0
		for _, s := range panel.series {
			means[i].Mean += s.points[i].Mean / float64(len(panel.series))
		}
	}
	return means
}
