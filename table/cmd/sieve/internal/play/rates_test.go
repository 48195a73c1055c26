package play

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// users returns the keys user0001, user0002 and so on.
func users(n int) (keys [][]byte) {
	for i := range n {
		keys = append(keys, fmt.Appendf(nil, "user%04d", i+1))
	}
	return keys
}

// rates are the page's figures as fractions.
type rates struct {
	formulaFill, fill, measuredFill float64
	formula, rate, measured         float64
}

// ratesOf returns the page's figures, once it has counted.
func ratesOf(page *pagetest.Tab) rates {
	page.Helper()
	var all [6]float64
	for i, cell := range pagetest.When[[]string](page, `document.getElementById("rates").ariaBusy === "false"`,
		`[...document.querySelectorAll("#rates td")].map((td) => td.textContent)`) {
		if cell == "< 0.0001 %" {
			continue
		}
		percent, err := strconv.ParseFloat(strings.TrimSuffix(cell, " %"), 64)
		page.Must(err)
		all[i] = percent / 100
	}
	return rates{all[0], all[1], all[2], all[3], all[4], all[5]}
}

// near reports whether got equals want within this share and the digits that the page shows.
func near(got, want, share float64) bool {
	shown := 0.000001
	switch {
	case want >= 0.0999:
		shown = 0.001
	case want >= 0.00999:
		shown = 0.0001
	}
	return math.Abs(got-want) <= share*want+0.52*shown
}

// ofModel returns the tolerated deviation of the page's model from the library's rate for this many keys. For few
// keys, the library measures the rate, and low rates depend on coinciding bits.
func ofModel(keys int, rate float64) float64 {
	switch {
	case keys >= 300:
		return 0
	case rate < 0.001:
		return 0.7
	}
	return 0.15
}

// The page's predictions and counts match the library's.
func TestRatesAreTheLibrarys(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 1000, "")
	cases := []struct{ n, bits, keys int }{{1, 10, 1}, {35, 10, 35}, {100, 5, 100}, {51, 40, 51}, {1600, 10, 3200}}
	if long.Enabled() {
		cases = append(cases, []struct{ n, bits, keys int }{
			{10, 10, 10}, {300, 16, 300}, {500, 10, 500}, {20, 20, 20}, {100, 10, 20}, {255, 8, 255}, {30, 1, 30}, {1600, 40, 1600},
		}...)
	}
	for _, tt := range cases {
		keys := users(tt.keys)
		page.Follow(stateOf(fmt.Sprintf("n=%d&bits=%d&examples=numbers", tt.n, tt.bits), keys))
		f := filterOf(page)
		m, k := 8*uint64(len(f)-1), int(f[len(f)-1])
		ones := 0
		for _, b := range f[:len(f)-1] {
			ones += bits.OnesCount8(b)
		}
		exponent := float64(k) * float64(tt.keys) / float64(m)
		got, predicted := ratesOf(page), filter.PredictRate(uint64(tt.keys), m, k)
		for _, c := range []struct {
			what             string
			got, want, share float64
		}{
			{"fill by the formula", got.formulaFill, -math.Expm1(-exponent), 0},
			{"fill", got.fill, -math.Expm1(-exponent), 0.02},
			{"measured fill", got.measuredFill, float64(ones) / float64(m), 0},
			{"rate by the formula", got.formula, math.Pow(-math.Expm1(-exponent), float64(k)), 0},
			{"rate", got.rate, predicted, sampling(predicted) + ofModel(tt.keys, predicted)},
			{"measured rate", got.measured, measured(f, tt.keys), 0},
		} {
			if !near(c.got, c.want, c.share) {
				t.Errorf("%d keys of %d bits in a filter for %d: the page's %s is %g, want %g", tt.keys, tt.bits, tt.n, c.what, c.got, c.want)
			}
		}
	}
}

// sampling returns the tolerated deviation of predictions from two samples of hashes, as a share. Low rates come
// from few hashes, whose bits coincide.
func sampling(rate float64) float64 {
	switch {
	case rate > 0.005:
		return 0.03
	case rate > 0.0001:
		return 0.15
	}
	return 0.3
}

// measured returns the share of the users after the first n that are false positives.
func measured(f []byte, n int) float64 {
	absent, passed := users(9999)[n:], 0
	for _, key := range absent {
		if filter.NewBloom(0).Contains(f, key) {
			passed++
		}
	}
	return float64(passed) / float64(len(absent))
}

// For a rate, the page chooses the same bits per key and k as the library.
func TestSizesAreTheLibrarys(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 1000, "")
	for _, percent := range []float64{99, 60, 40, 10, 5, 1, 0.84, 0.1, 0.01, 0.001, 0.0001} {
		page.Follow(fmt.Sprintf("n=50&rate=%g", percent))
		p := filter.NewBloom(bloom.BitsFor(percent / 100))
		size := 8 * (p.Size(50) - 1)
		want := fmt.Sprintf("bits, m %d = %d bytes bits per key %d bits that each key sets, k %d", size, size/8, p.BitsPerKey(), p.K())
		got := strings.ReplaceAll(page.Text("#sizing-facts"), ",000", "000")
		if diff := cmp.Diff(want, strings.TrimSuffix(strings.ReplaceAll(got, "1,", "1"), " LevelDB's minimum 64 bits")); diff != "" {
			t.Errorf("for %g %% (-want +got):\n%s", percent, diff)
		}
	}
}
