package rates

import (
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
)

// Filters of independent bits never rule out an added key. LevelDB's filters of the same keys have as many bits.
func TestIndependentContainsItsKeys(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 20, 1000} {
		keys := keyShapes[1].start(newRand(1, 1, 0))(n)
		for _, k := range []int{0, 1, 30} {
			f := filled(t, "independent", 10, k, keys)
			filtertest.CheckContains(t, f.Contains, keys)
			levelDBs, err := emptyBloom(n, 10, k)
			noError(t, err)
			m, probes := f.size()
			if wantM, wantK := levelDBs.size(); m != wantM || probes != wantK {
				t.Errorf("%d keys: %d bits, k = %d, want %d and %d", n, m, probes, wantM, wantK)
			}
		}
	}
}

// The classical formula holds for independent bits, for keys of any shape and any k. LevelDB's bits are not
// independent: with k = 4, its filters let a tenth more random keys through.
func TestIndependentBitsMeetTheFormula(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	c := Config{Keys: 10_000, Runs: 8, Lookups: 40_000, Policies: []string{"bloom", "independent"}, Bits: []int{10},
		Shapes: []string{"random", "sequential"}, K: Sweep{3, 7}, Seed: 7}
	for _, p := range measure(t, c) {
		ratio := p.Mean / p.Theory
		if p.Policy == "independent" && (ratio < 0.95 || ratio > 1.05) {
			t.Errorf("%s keys, k = %d: measured %g, the formula says %g", p.Shape, p.K, p.Mean, p.Theory)
		}
		if p.Policy == "bloom" && p.Shape == "random" && p.K == 4 && ratio < 1.07 {
			t.Errorf("LevelDB's filter, k = 4: measured %g, want more than the formula's %g", p.Mean, p.Theory)
		}
	}
}

// The formula also holds for keys of 3 bytes that differ in few bits.
func TestIndependentBitsOfShortKeys(t *testing.T) {
	t.Parallel()
	f, err := emptyIndependent(500, 16, 0)
	noError(t, err)
	for i := range 500 {
		f.Add(fmt.Appendf(nil, "%03d", 2*i))
	}
	positives := 0
	for i := range 500 {
		if f.Contains(fmt.Appendf(nil, "%03d", 2*i+1)) {
			positives++
		}
	}
	if expected := 500 * f.formula(500); float64(positives) > expected+5 {
		t.Errorf("%d of 500 absent keys are false positives; the formula expects %.2g", positives, expected)
	}
}
