package report

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// throw sets k random bits for each key in a filter of size bits, and returns the share of set bits. keys returns
// the number of keys.
func throw(rng *rand.Rand, size, k int, keys func() int) float64 {
	set := make([]bool, size)
	n := 0
	for range k * keys() {
		if i := rng.IntN(size); !set[i] {
			set[i] = true
			n++
		}
	}
	return float64(n) / float64(size)
}

// spread returns the mean and twice the standard deviation, in percent.
func spread(all []float64) (mean, twoSigma float64) {
	sum, squares := 0.0, 0.0
	for _, v := range all {
		sum, squares = sum+v, squares+v*v
	}
	n := float64(len(all))
	return 100 * sum / n, 200 * math.Sqrt(squares/n-(sum/n)*(sum/n))
}

// The page's expected number of set bits, and its deviation, agree with random experiments: for a filter with a
// known number of keys, and for a line of a table filter, which gets its keys by chance.
func TestExpectedFill(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for _, tt := range []struct {
		name string
		o    table.WriterOptions
		size func(f string) (size, k, n int) // of the first filter, according to the page
		keys func(n int) int
	}{
		{"block filters", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, func(info string) (size, k, n int) {
			scanAfter(t, info, "keys ", &n)
			scanAfter(t, info, " bits ", &size)
			return size, 6, n
		}, func(n int) int { return n }},
		{"lines", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, func(string) (size, k, n int) { return 512, 6, 5000 }, func(n int) int {
			in := 0
			for range n {
				if rng.IntN(99) == 0 {
					in++
				}
			}
			return in
		}},
	} {
		page := openPage(t, tt.o, plainPairs(5000), Options{}, 390)
		page.TabTo("#filters canvas")
		page.Do(chromedp.KeyEvent(kb.Home))
		info := page.Text("#filters .info")
		size, k, n := tt.size(info)
		var fills []float64
		for range 2000 {
			fills = append(fills, throw(rng, size, k, func() int { return tt.keys(n) }))
		}
		var mean, twoSigma float64
		scanAfter(t, info, "expected ", &mean)
		scanAfter(t, info, "± ", &twoSigma)
		if wantMean, want := spread(fills); math.Abs(mean-wantMean) > 0.3 || math.Abs(twoSigma/want-1) > 0.1 {
			t.Errorf("%s: the page expects %v ± %v, want %.3f ± %.3f; it says %s", tt.name, mean, twoSigma, wantMean, want, info)
		}
		page.CheckWidth(tt.name)
	}
}

// The page shows the number of set bits for each line of a table filter.
func TestLineFills(t *testing.T) {
	t.Parallel()
	f := openTable(t, writeTable(t, "t.ldb", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, plainPairs(500)))
	contents, _, err := f.Layout.ReadBlock(f.Filters().TableEntry.Handle)
	noError(t, err)
	page := pagetest.Open(t, writePage(t, f, Options{}), 390)
	page.TabTo("#filters canvas")
	page.Do(chromedp.KeyEvent(kb.Home))
	for line := range len(contents) / 64 {
		set := 0
		for _, b := range contents[64*line:][:64] {
			set += bits.OnesCount8(b)
		}
		checkStarts(t, page, "#filters .info", fmt.Sprintf("line %d bits 512 bits set %.1f %%", line, float64(set)/5.12))
		page.Do(chromedp.KeyEvent(kb.ArrowRight))
	}
}

// scanAfter scans the number after certain words in a text.
func scanAfter(t *testing.T, text, words string, n any) {
	t.Helper()
	_, after, _ := strings.Cut(text, words)
	if _, err := fmt.Sscan(strings.ReplaceAll(after, ",", ""), n); err != nil {
		t.Fatalf("no number after %q in %q", words, text)
	}
}

// Equal filters are not ranked, and equal sizes have no chart.
func TestTies(t *testing.T) {
	t.Parallel()
	var pairs []workload.Pair
	for i := range 100 {
		pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "key%06d", i), Value: []byte("the same")})
	}
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression, BlockSize: 1, FilterBaseLg: 4}
	page := openPage(t, o, pairs, Options{}, 390)
	checkContains(t, page, "#filters", "All 100 filters have 0.2054 % predicted false positives, k = 6.")
	if pagetest.Evaluate[int](page, `document.querySelectorAll("#filters table").length`) != 0 {
		t.Errorf("the section of filters is %q, want no tables", page.Text("#filters"))
	}
	if want := "Entries in a block all have 1 entry Lengths of keys and values keys: all have 9 bytes values: all have 8 bytes"; !strings.HasSuffix(page.Text("#sizes"), want) {
		t.Errorf("the section of sizes is %q, want %q at its end", page.Text("#sizes"), want)
	}
}

// There is no expected load for filters whose number of keys is unknown because of damage.
func TestExpectedFillUnknown(t *testing.T) {
	t.Parallel()
	blocks := writeTable(t, "t.ldb", table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression}, plainPairs(1000))
	flipAt(t, blocks, 9) // in the first data block
	o := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterOnly: true}
	only := writeTable(t, "t.ldb", o, withoutValues(plainPairs(1000)))
	damageProperties(t, only)
	for _, tt := range []struct{ path, want string }{
		{blocks, "of 9 filters"}, {only, "The expected share is unknown, since the keys of the lines are."},
	} {
		page := pagetest.Open(t, writePage(t, openTable(t, tt.path), Options{}), 390)
		page.TabTo("#filters canvas")
		page.Do(chromedp.KeyEvent(kb.Home))
		checkContains(t, page, "#filters .info", "expected unknown, since the keys are")
		checkContains(t, page, "#filters figure", tt.want)
	}
}

// The scale of filter loads is the same for all tables. It is expanded from 35 to 55 %, the range of good filters,
// and marks the expected load.
func TestLoadScale(t *testing.T) {
	t.Parallel()
	for _, bits := range []int{10, 16} {
		page := openPage(t, table.WriterOptions{FilterPolicy: filter.NewBloom(bits)}, plainPairs(5000), Options{}, 390)
		var mean float64
		scanAfter(t, page.Text("#filters figure"), "Expected: ", &mean)
		at := pagetest.Evaluate[float64](page, `(() => {
			const line = document.querySelector("#filters .fills .expected");
			return 100 * (line.getAttribute("x1") - 1) / (line.parentElement.clientWidth - 2);
		})()`)
		if want := 15 + (mean-35)/20*65; math.Abs(at-want) > 0.2 {
			t.Errorf("%d bits per key: %v %% is at %v %% of the scale, want %v %%", bits, mean, at, want)
		}
	}
}
