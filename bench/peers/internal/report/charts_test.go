package report

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

var chartFiles = []string{savedFile, byEngineFile, byEntriesFile, byBitsFile, byKeysFile}

// The page shows all charts, in both forms. They have colors for light and dark pages, no
// background, and texts that can be read.
func TestCharts(t *testing.T) {
	t.Parallel()
	dir := drawn(t, sample(1))
	page := read(t, dir, File)
	for _, file := range chartFiles {
		if !strings.Contains(page, `src="`+file+`"`) || !strings.Contains(page, `srcset="`+narrow(file)+`"`) {
			t.Errorf("%s does not show %s in both forms", File, file)
		}
		checkChart(t, file, read(t, dir, file), width)
		checkChart(t, narrow(file), read(t, dir, narrow(file)), narrowWidth)
	}
}

func checkChart(t *testing.T, file, svg string, width float64) {
	t.Helper()
	for _, want := range []string{fmt.Sprintf(`<svg width="%v" `, width), "@media (prefers-color-scheme:dark)", "fill:var(--ours)", "text-anchor=\"end\""} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s has no %s", file, want)
		}
	}
	if low := strings.ToLower(svg); strings.Contains(low, "#fff") || strings.Contains(low, "white") {
		t.Errorf("%s has something white", file)
	}
	texts := labels(t, svg)
	for _, l := range texts {
		if l.size < 12 || l.x < 0 || l.x > width || strings.Contains(l.text, "—") || strings.Contains(l.text, "W1") {
			t.Errorf("%s: text %q at %v of size %v", file, l.text, l.x, l.size)
		}
	}
	if len(texts) < 8 {
		t.Errorf("%s: %d texts", file, len(texts))
	}
}

// What titles and findings say is computed.
func TestChartTitles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slower float64
		want   []string
	}{
		{1, []string{
			"save. Data blocks read: 100 × fewer; Time: 8 × less",
			"Absent keys, full block cache: 6 × faster than goleveldb; Absent keys, no block cache: 5 × faster than goleveldb; " +
				"Present keys, full block cache: 2.5 × faster than goleveldb; Present keys, no block cache: 2 × faster than goleveldb",
			"Absent keys, full block cache, 10,000 to ten million URLs: 2 to 4 × faster than goleveldb",
			"Absent keys, no block cache, 4 to 20 bits of filter per key: 3 to 6 × faster than goleveldb",
			"A Bloom filter is 3 to 9 × faster than a sorted slice. A Go map is faster at 10 keys",
		}},
		{0.1, []string{"faster than a sorted slice. No Go map is faster"}},
		{2, []string{"Present keys, no block cache: as fast as goleveldb", "10,000 to ten million URLs: 1 to 2 × faster than goleveldb"}},
		{5, []string{
			"Absent keys, no block cache: as fast as goleveldb", "Present keys, no block cache: 2.5 × slower than goleveldb",
			"from 1.7 × slower to 1.2 × faster than goleveldb",
		}},
		{8, []string{"Data blocks read: 13 × fewer; Time: the same", "A Go map is faster at 10 and 1,000 keys"}},
	} {
		page := read(t, drawn(t, sample(c.slower)), File)
		for _, title := range c.want {
			if !strings.Contains(page, title) {
				t.Errorf("ours %v × slower: no alternative text says %q", c.slower, title)
			}
		}
	}
}

// A panel has the engines that are in its state only.
func TestByEngine(t *testing.T) {
	t.Parallel()
	var got []string
	for _, l := range labels(t, read(t, drawn(t, sample(20)), byEngineFile)) {
		got = append(got, l.text)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		"Absent keys, full block cache\n3.3 × slower than goleveldb\nsievetable\n2,000 ns\nsievetable, table filter\n0.5 ×, 1,000 ns\ngoleveldb\n0.3 ×, 600 ns\n",
		"Present keys, full block cache\n8 × slower than goleveldb\nsievetable\n2,000 ns\nsievetable, table filter\n1 ×, 2,000 ns\ngoleveldb\n0.13 ×, 250 ns\nPresent",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q among the texts:\n%s", want, all)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"goleveldb with cache": "goleveldb", "Pebble DB.Get": "Pebble Get, no filter", "bbolt": "bbolt, no filter", "RocksDB with assertions": "RocksDB, assertions",
	} {
		if got := shown(name); got != want {
			t.Errorf("shown(%q) = %q, want %q", name, got, want)
		}
	}
}

// An engine has one color in all charts, whatever columns there are.
func TestColors(t *testing.T) {
	t.Parallel()
	all := Results{Columns: []Column{
		{Name: "sievetable"}, {Name: "sievetable, table filter"}, {Name: "goleveldb"}, {Name: "Pebble iterator"}, {Name: "C++ LevelDB"},
		{Name: "RocksDB"}, {Name: "bbolt"}, {Name: "sorted slice"},
	}}
	for i := range all.Columns {
		for j := range i {
			if all.color(i) == all.color(j) {
				t.Errorf("%s and %s have the same color", all.Columns[i].Name, all.Columns[j].Name)
			}
		}
		some := Results{Columns: []Column{all.Columns[0], all.Columns[i]}}
		if last := len(all.Columns) - 1; i < last && some.color(min(i, 1)) != all.color(i) {
			t.Errorf("%s has another color beside fewer columns", all.Columns[i].Name)
		}
	}
}

// In charts of any figures and columns, the names of a legend do not overlap.
func TestLegend(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	names := []string{"sievetable", "sievetable, table filter", "goleveldb", "Pebble iterator", "C++ LevelDB", "RocksDB"}
	for range 20 {
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var all legend
		for _, name := range names[:1+rng.IntN(len(names))] {
			all = append(all, drawnLine{name: name})
		}
		w := vg.Length(narrowWidth + math.Round(rng.Float64()*600))
		places, height := all.places(w)
		for i, p := range places {
			end := p.X + legendMark + 6 + legendStyle().Width(all[i].name)
			if end > w || p.Y+legendLine > height {
				t.Errorf("%q ends at %v of %v, %v of %v", all[i].name, end, w, p.Y, height)
			}
			if i+1 < len(places) && places[i+1].Y == p.Y && places[i+1].X < end {
				t.Errorf("%q and %q overlap", all[i].name, all[i+1].name)
			}
		}
		if !slices.IsSortedFunc(places, func(a, b vg.Point) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) }) {
			t.Errorf("names are not in their order: %v", places)
		}
	}
}

// README.md has the figures of the chart it shows, and is left alone without them.
func TestReadme(t *testing.T) {
	t.Parallel()
	got, err := sample(1).readme()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"absent keys 6 times as fast as goleveldb", "and 5 times as fast\n", "present keys 2.5 and 2 times as fast"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	r := sample(1)
	for i := range r.Engines.Rows {
		if strings.HasSuffix(r.Engines.Rows[i].ID, measure.GetPresentCold) {
			r.Engines.Rows[i].Cells[2] = measure.Cell{Missing: "—"}
		}
	}
	if _, err := r.readme(); err == nil || !strings.Contains(err.Error(), "no figures of goleveldb in the row W1-snappy/get-present-cold") {
		t.Errorf("error %v, want one that names the row", err)
	}
}
