package rates

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
)

// small is quick to measure.
var small = Config{Keys: 200, Runs: 3, Lookups: 1000, Policies: []string{"bloom"}, Bits: []int{4, 10}, Shapes: Shapes(), Seed: 1}

func measure(t *testing.T, c Config) []Point {
	t.Helper()
	points, err := Measure(c, func() {})
	noError(t, err)
	return points
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	c := small
	c.Policies, c.Own = Policies(), numbered(900)
	points := measure(t, c)
	var figures, summary bytes.Buffer
	noError(t, WriteCSV(&figures, points))
	golden.Text(t, "small.csv", figures.String())
	noError(t, WriteSummary(&summary, c, points))
	golden.Text(t, "summary.txt", summary.String())
}

// Filters are measured once with each number of keys, and never without keys. So the smallest filters have few
// points.
func TestFewKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		keys int
		want []int
	}{
		{1, []int{1}},
		{2, []int{1, 2, 3}},
		{7, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{20, []int{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}},
	} {
		t.Run(fmt.Sprint(tt.keys), func(t *testing.T) {
			c := small
			c.Keys, c.Policies, c.Shapes = tt.keys, Policies(), []string{"random", "decimal"}
			all := map[string][]int{}
			for _, p := range measure(t, c) {
				what := fmt.Sprint(p.Shape, p.Policy, p.Bits)
				all[what] = append(all[what], p.Keys)
				if !(p.Mean >= 0 && p.Theory > 0 && p.Mean < 0.5) {
					t.Errorf("%s, %d keys: measured %g, the formula says %g", what, p.Keys, p.Mean, p.Theory)
				}
			}
			for what, got := range all {
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

// Filters of these sizes match their formulas. LevelDB's rates are up to a fifth higher because of double
// hashing. Fuse filters have the same rate with any number of keys.
func TestRatesMeetTheFormula(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, tt := range []struct {
		policy               string
		keys, runs           int
		bits                 []int
		shapes               []string
		minLoad, least, most float64
	}{
		{"bloom", 10_000, 8, []int{4, 8, 10}, []string{"random"}, 0.8, 0.95, 1.2},
		{"table-bloom", 10_000, 4, []int{4, 8, 10}, []string{"random"}, 0.8, 0.88, 1.05},
		{"fuse", 1000, 4, []int{4, 8}, []string{"random", "decimal"}, 0, 0.85, 1.15},
	} {
		c := Config{Keys: tt.keys, Runs: tt.runs, Lookups: 50_000, Policies: []string{tt.policy}, Bits: tt.bits, Shapes: tt.shapes, Seed: 7}
		for _, p := range measure(t, c) {
			ratio, size := p.Mean/p.Theory, p.Bits*tt.keys
			if p.Load >= tt.minLoad && (ratio < tt.least || ratio > tt.most) || p.M < size || p.M > 2*size {
				t.Errorf("%s:%d, %s, load %.1f: measured %g, the formula says %g; %d bits", p.Policy, p.Bits, p.Shape, p.Load, p.Mean, p.Theory, p.M)
			}
			if p.Load >= 0.8 && (p.StdDev <= 0 || p.StdDev > p.Mean/5) {
				t.Errorf("%s:%d, load %.1f: standard deviation %g of a mean of %g", p.Policy, p.Bits, p.Load, p.StdDev, p.Mean)
			}
		}
	}
}

func TestTheory(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n    float64
		m, k int
		want float64
	}{
		{10_000, 100_000, 6, 0.00844},
		{10_000, 40_000, 2, 0.15482},
		{0, 64, 1, 0},
		{1 << 32, math.MaxInt, 30, 0.632}, // all due to equal hashes
	} {
		if tt.m == math.MaxInt32 {
			continue // filters of this many keys exceed a 32-bit int
		}
		if got := (blockBloom{dimension: dimension{tt.m, tt.k}}).formula(tt.n); math.Abs(got-tt.want) > tt.want/1000 {
			t.Errorf("theory(%g, %d, %d) = %g, want %g", tt.n, tt.m, tt.k, got, tt.want)
		}
	}
}

// The result depends neither on the number of processors nor on the other shapes that are measured.
func TestDeterminism(t *testing.T) {
	all := measure(t, small)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	again := measure(t, small)
	if diff := cmp.Diff(all, again); diff != "" {
		t.Errorf("another result on one processor (-two +one):\n%s", diff)
	}
	alone := small
	alone.Shapes = []string{"decimal"}
	of := slices.DeleteFunc(slices.Clone(all), func(p Point) bool { return p.Shape != "decimal" })
	if diff := cmp.Diff(of, measure(t, alone)); diff != "" {
		t.Errorf("another result for decimal keys alone (-all +alone):\n%s", diff)
	}
	other := small
	other.Seed++
	if cmp.Equal(all, measure(t, other)) {
		t.Error("the same result from another seed")
	}
}

func TestTrialsAreCounted(t *testing.T) {
	t.Parallel()
	done := make(chan struct{}, small.Trials())
	_, err := Measure(small, func() { done <- struct{}{} })
	noError(t, err)
	if len(done) != 15 || small.Trials() != 15 {
		t.Errorf("%d of %d trials were done, want 15 of 15", len(done), small.Trials())
	}
}

func TestKeysAreDistinct(t *testing.T) {
	t.Parallel()
	lengths := map[string][2]int{"random": {16, 16}, "sequential": {8, 8}, "decimal": {16, 16}, "urls": {64, 64}, "emails": {20, 45}}
	for _, s := range keyShapes {
		seen := map[string]bool{}
		for _, key := range s.start(newRand(1, s.seed, 0))(20_000) {
			if seen[string(key)] {
				t.Errorf("%s: %q comes twice", s.name, key)
			}
			seen[string(key)] = true
			if want := lengths[s.name]; len(key) < want[0] || len(key) > want[1] {
				t.Fatalf("%s: %q is of %d bytes, want %d to %d", s.name, key, len(key), want[0], want[1])
			}
		}
	}
}

func TestSeen(t *testing.T) {
	t.Parallel()
	means := func(values ...float64) []Point {
		var points []Point
		for _, v := range values {
			points = append(points, Point{Mean: v})
		}
		return points
	}
	for _, tt := range []struct {
		points []Point
		want   [][]Point
	}{
		{means(0, 0), nil},
		{means(1, 2), [][]Point{means(1, 2)}},
		{means(0, 1, 0, 2, 3, 0), [][]Point{means(1), means(2, 3)}},
	} {
		if diff := cmp.Diff(tt.want, stretches(tt.points, hasMean)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
