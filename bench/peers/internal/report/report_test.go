package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
)

var noError = errtest.NoError

// drawn lists the files that Draw writes.
var drawn = []string{"README.md", "bench/peers/RESULTS.md", "bench/peers/" + chartFile, "bench/peers/" + narrowFile,
	"bench/peers/" + savedFile, "bench/peers/" + narrowSavedFile}

// root returns a directory with the files that Draw reads.
func root(t *testing.T, lookups string) string {
	t.Helper()
	dir := t.TempDir()
	noError(t, os.MkdirAll(filepath.Join(dir, "bench", "peers"), 0o777))
	for name, text := range map[string]string{"bench/peers/lookups.txt": lookups, drawn[0]: read(t, "", drawn[0]), drawn[1]: read(t, "", drawn[1])} {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// read reads a file below root, or below the root of the repository if root is "".
func read(t *testing.T, root, name string) string {
	t.Helper()
	if root == "" {
		root = filepath.Join("..", "..", "..", "..")
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	noError(t, err)
	return string(text)
}

// The committed pages and charts match lookups.txt.
func TestCommitted(t *testing.T) {
	t.Parallel()
	dir := root(t, read(t, "", "bench/peers/lookups.txt"))
	noError(t, Draw(dir))
	for _, name := range drawn {
		if diff := cmp.Diff(read(t, "", name), read(t, dir, name)); diff != "" {
			t.Errorf("%s: run go run ./bench/peers (-committed +drawn):\n%s", name, diff)
		}
	}
}

// sample returns output of go test. goleveldb takes that many times as long as we do, and C++ LevelDB takes 300 ns.
func sample(times float64) string {
	out := "goos: linux\nleveldb: 1.23\ncpu: Z80\nBenchmarkOther-2 1 100 ns/op\n"
	for _, k := range kinds {
		for _, slower := range []float64{1, 0.9, 1.2} {
			ours := 100 * slower
			out += fmt.Sprintf("%s-2 \t 3\t 1 ns/op\t%v sievetable-ns\t%v sievetable-table-filter-ns\t1000 sievetable-no-filter-ns\t%v goleveldb-ns\t300 C++LevelDB-ns\t0.01 sievetable-reads\n",
				k.id("snappy"), ours, ours/2, times*ours)
		}
	}
	return out + "PASS\n"
}

// The charts have colors for light and dark pages, no background, and texts that fit.
func TestCharts(t *testing.T) {
	t.Parallel()
	dir := root(t, sample(25))
	noError(t, Draw(dir))
	engines := []string{">25 × as fast as goleveldb<", ">25 ×, 2,500 ns<", ">0.5 ×, 50 ns<", ">100 ns<"}
	saved := []string{">99.0 %<", ">1.0 %<", ">0.01<", ">1,000 ns<", ">100 ns<", ">2,500 ns<"}
	for _, c := range []struct {
		file  string
		width float64
		wants []string
	}{{chartFile, wide, engines}, {narrowFile, narrow, engines}, {savedFile, savedWide, saved}, {narrowSavedFile, narrow, saved}} {
		file, width := c.file, c.width
		svg := read(t, dir, "bench/peers/"+file)
		common := []string{fmt.Sprintf(`<svg width="%v" `, width), "@media (prefers-color-scheme:dark)", "fill:var(--ours)", `text-anchor="end"`}
		for _, want := range append(common, c.wants...) {
			if !strings.Contains(svg, want) {
				t.Errorf("%s has no %s", file, want)
			}
		}
		if strings.Contains(svg, "Pebble") {
			t.Errorf("%s contains Pebble, which has no figures", file)
		}
		checkTexts(t, file, svg, width)
	}
}

// checkTexts checks that all texts of a chart are within its width. It assumes that a letter is on average less
// than half as wide as high.
func checkTexts(t *testing.T, file, svg string, width float64) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(file, err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "text" {
			continue
		}
		var text, anchor, style string
		var x float64
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "x":
				x, _ = strconv.ParseFloat(a.Value, 64)
			case "style":
				style = a.Value
			case "text-anchor":
				anchor = a.Value
			}
		}
		if err := d.DecodeElement(&text, &start); err != nil {
			t.Fatal(file, err)
		}
		_, size, _ := strings.Cut(style, "font-size:")
		size, _, _ = strings.Cut(size, "px")
		height, err := strconv.ParseFloat(size, 64)
		end := x + float64(len([]rune(text)))*height*0.46
		if anchor == "end" {
			x, end = 2*x-end, x
		}
		if err != nil || height < 12 || x < -1 || end > width {
			t.Errorf("%s: text %q of size %q from %v to %v, in a width of %v", file, text, size, x, end, width)
		}
	}
}

// Findings are ratios of the medians of all rounds.
func TestFindings(t *testing.T) {
	t.Parallel()
	for times, want := range map[float64][2]string{
		5.02: {"5.0 × as fast as goleveldb", "| all blocks cached | 5.0 × as fast (5.0–5.0) | 5.0 × as fast (5.0–5.0) |\n| no blocks cached | 5.0 × as fast ("},
		4.94: {"4.9 × as fast as goleveldb", "| all blocks cached | 4.9 × as fast ("},
		28.4: {"28 × as fast as goleveldb", "| all blocks cached | 28 × as fast ("},
		1.04: {"1.0 × as fast as goleveldb", "| all blocks cached | 1.0 × as fast ("},
		0.33: {"0.33 × as fast as goleveldb", "| all blocks cached | 0.33 × as fast ("},
	} {
		r, err := parse(sample(times))
		noError(t, err)
		if alt := r.alt(); !strings.Contains(alt, "Absent keys, full block cache: "+want[0]+";") {
			t.Errorf("%v times: the alternative text is %q, want %q in it", times, alt, want[0])
		}
		if part := r.readme(); !strings.Contains(part, want[1]) || !strings.Contains(part, "from 1 to 0.01.") || !strings.Contains(part, "of 3 rounds") {
			t.Errorf("%v times: README.md has %q, want %q in it", times, part, want[1])
		}
		page, row := r.page(), "| Absent keys, full block cache, compression snappy | 100 (90.0–120) ns | **0.500 ×** (0.500–0.500), 50.0 ns |"
		if !strings.Contains(page, row) || !strings.Contains(page, "| — | **3.00 ×** (2.50–3.33), 300 ns |\n") || !strings.Contains(page, "- leveldb: 1.23\n") {
			t.Errorf("%v times: RESULTS.md has\n%s", times, page)
		}
	}
}

// Draw reports incomplete and unknown results.
func TestDrawRefuses(t *testing.T) {
	t.Parallel()
	whole := sample(5)
	for _, c := range []struct{ old, new, want string }{
		{whole, "", "no figures"},
		{" goleveldb-ns", " ns", "has no figures of goleveldb beside ours"},
		{"0.01 sievetable-reads", "", "data blocks"},
		{"\t100 sievetable-ns", "\t0 sievetable-ns", "0 sievetable-ns cannot be drawn"},
		{"\t100 sievetable-ns", "\tx sievetable-ns", "x sievetable-ns cannot be drawn"},
		{"\t100 sievetable-ns", "\t1e300 sievetable-ns", "cannot be drawn"},
		{"\t100 sievetable-ns", "", "has no figures of sievetable"},
		{"\t1000 sievetable-no-filter-ns", "", "no figures of lookups without a filter"},
	} {
		err := Draw(root(t, strings.ReplaceAll(whole, c.old, c.new)))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "lookups.txt") {
			t.Errorf("%q in place of %q: error %v, want %q", c.new, c.old, err, c.want)
		}
	}
	if err := Draw(t.TempDir()); err == nil || !strings.Contains(err.Error(), "run this in the root") {
		t.Errorf("in an empty directory: %v", err)
	}
	dir := root(t, whole)
	noError(t, os.WriteFile(filepath.Join(dir, "README.md"), nil, 0o666))
	if err := Draw(dir); err == nil || !strings.Contains(err.Error(), "README.md: 0 parts") {
		t.Errorf("README.md without its marks: %v", err)
	}
}
