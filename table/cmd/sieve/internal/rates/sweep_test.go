package rates

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
)

func TestParseSweep(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want Sweep // none: an error
	}{
		{"1-16", Sweep{1, 16}}, {"29-30", Sweep{29, 30}},
		{"", Sweep{}}, {"6", Sweep{}}, {"6-6", Sweep{}}, {"9-6", Sweep{}}, {"0-6", Sweep{}}, {"1-31", Sweep{}},
		{"1-2-3", Sweep{}}, {"-1-3", Sweep{}}, {"1-", Sweep{}}, {"a-b", Sweep{}}, {"1 - 2", Sweep{}},
	} {
		got, err := ParseSweep(tt.text)
		if got != tt.want || (err == nil) == tt.want.isNone() {
			t.Errorf("ParseSweep(%q) = %v, %v, want %v", tt.text, got, err, tt.want)
		}
	}
}

// A sweep has a point for each k, for full filters of equal size. With the policy's k, the formula's rate is the
// same as without a sweep.
func TestSweep(t *testing.T) {
	t.Parallel()
	c := small
	c.Policies, c.Shapes, c.K = []string{"bloom", "table-bloom"}, []string{"random"}, Sweep{2, 7}
	full := c
	full.K = Sweep{}
	want := map[string]Point{} // of filters with their own k
	for _, p := range measure(t, full) {
		if p.Load == 1 {
			want[p.Policy+string(rune(p.Bits))] = p
		}
	}
	for i, p := range measure(t, c) {
		own := want[p.Policy+string(rune(p.Bits))]
		if p.K != 2+i%6 || p.Keys != 200 || p.Load != 1 || p.M != own.M {
			t.Errorf("point %d: k = %d, %d keys, load %g, %d bits", i, p.K, p.Keys, p.Load, p.M)
		}
		if p.K == own.K && p.Theory != own.Theory {
			t.Errorf("%s, k = %d: the formula says %g, and without a sweep %g", p.Policy, p.K, p.Theory, own.Theory)
		}
	}
}

// For random keys, the rate is near the formula's for every k. So the best k, as measured and by the formula, is
// near m/n·ln 2.
func TestSweepMeetsTheFormula(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	c := Config{Keys: 5000, Runs: 4, Lookups: 50_000, Policies: []string{"bloom"}, Bits: []int{5, 8}, Shapes: []string{"random"}, K: Sweep{1, 9}, Seed: 7}
	points := measure(t, c)
	for i, bits := range c.Bits {
		of := points[9*i : 9*i+9]
		for _, p := range of {
			if ratio := p.Mean / p.Theory; ratio < 0.9 || ratio > 1.3 {
				t.Errorf("%d bits per key, k = %d: measured %g, the formula says %g", bits, p.K, p.Mean, p.Theory)
			}
		}
		optimum := math.Ln2 * float64(bits)
		for what, value := range map[string]func(Point) float64{"measured": measuredRate, "formula": formulasRate} {
			if k := lowest(of, value); math.Abs(float64(k)-optimum) > 1 {
				t.Errorf("%d bits per key, %s: the lowest rate is with k = %d, want near %.1f", bits, what, k, optimum)
			}
		}
	}
}

func TestSweepFinding(t *testing.T) {
	t.Parallel()
	of := func(policy string, bits int) panel {
		return panel{policy: policyOf(policy), bits: bits, series: []series{
			{points: []Point{{K: 5, Mean: 0.02, Theory: 0.03}, {K: 6, Mean: 0.01, Theory: 0.02}, {K: 7, Mean: 0.03, Theory: 0.01}}},
			{points: []Point{{K: 5, Mean: 0.02, Theory: 0.03}, {K: 6, Mean: 0.02, Theory: 0.02}, {K: 7, Mean: 0.03, Theory: 0.01}}},
		}}
	}
	c := Config{Keys: 20, Policies: []string{"bloom", "table-bloom"}, K: Sweep{5, 7}}
	const want = "Best k, as measured and by the formula: LevelDB’s (10 bits) 6 with 1.0–2.0 %, and 7; RocksDB’s (12 bits) 6 with 1.0–2.0 %, and 7"
	if diff := cmp.Diff(want, c.finding([]panel{of("bloom", 4), of("bloom", 10), of("table-bloom", 12)})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
