package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
)

// barsOf makes bars of ranges such as "a-c". Each argument is a row.
func barsOf(rows ...string) (bars []bar) {
	for i, ranges := range rows {
		for _, s := range strings.Fields(ranges) {
			smallest, largest, _ := strings.Cut(s, "-")
			bars = append(bars, bar{Name: s, Row: fmt.Sprint(i), Bytes: 1, Smallest: []byte(smallest), Largest: []byte(largest)})
		}
	}
	return bars
}

// linesOf draws lines as text: a letter for each rank of the ends of ranges, and a dot where there is no bar.
func linesOf(p *picture, r row) (lines []string) {
	text := make([][]byte, r.Lines)
	for i := range text {
		text[i] = bytes.Repeat([]byte("."), len(p.ends))
	}
	for _, b := range r.Bars {
		for i := b.from; i < b.to; i++ {
			text[b.Line][i] = b.Name[0]
		}
	}
	for _, line := range text {
		lines = append(lines, string(line))
	}
	return lines
}

// Bars extend from rank to rank of all ends. Bars that share a key are on separate lines.
func TestLines(t *testing.T) {
	reverse := comparers.ByFlagValue("reverse")
	for _, tt := range []struct {
		name  string
		order table.Comparer
		rows  []string
		want  [][]string
	}{
		{"one key", table.BytewiseComparer, []string{"a-a"}, [][]string{{"a"}}},
		{"one after the other", table.BytewiseComparer, []string{"a-b c-d"}, [][]string{{"aacc"}}},
		{"by smallest key", table.BytewiseComparer, []string{"c-d a-b"}, [][]string{{"aacc"}}},
		{"a key shared", table.BytewiseComparer, []string{"a-b b-c"}, [][]string{{"aa.", ".bb"}}},
		{"one in another", table.BytewiseComparer, []string{"a-d b-c"}, [][]string{{"aaaa", ".bb."}}},
		{"the first line with room", table.BytewiseComparer, []string{"a-c b-e d-f"}, [][]string{{"aaaddd", ".bbbb."}}},
		{"gaps where other rows have keys", table.BytewiseComparer, []string{"a-z", "b-c x-y"}, [][]string{{"aaaaaa"}, {".bbxx."}}},
		{"ends in common", table.BytewiseComparer, []string{"a-c", "a-b c-c"}, [][]string{{"aaa"}, {"aac"}}},
		{"the order of the database", reverse, []string{"z-x", "y-y b-a"}, [][]string{{"zzz.."}, {".y.bb"}}},
		{"ends the wrong way round", table.BytewiseComparer, []string{"c-a b-b"}, [][]string{{"ccc", ".b."}}},
		{"the empty key", table.BytewiseComparer, []string{"0- a-b"}, [][]string{{"00aa"}}},
	} {
		p := draw(barsOf(tt.rows...), tt.order, "MANIFEST")
		var got [][]string
		for _, r := range p.Rows {
			got = append(got, linesOf(p, r))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// The number of lines is bounded, and files without a line are counted.
func TestLinesAreBounded(t *testing.T) {
	p := draw(barsOf(strings.Repeat("a-b ", maxLines+5)), table.BytewiseComparer, "MANIFEST")
	if r := p.Rows[0]; r.Lines != maxLines || r.LeftOut != 5 {
		t.Errorf("%d lines, %d left out; want %d and 5", r.Lines, r.LeftOut, maxLines)
	}
}

// Very many bars are joined into few, which represent all files in their order.
func TestBarsAreJoined(t *testing.T) {
	const files = 20_000
	var ranges strings.Builder
	for i := range files {
		fmt.Fprintf(&ranges, "%06d-%06d ", 10*i, 10*i+5)
	}
	bars := barsOf(ranges.String(), "000000-199990")
	bars[7].Problem = "does not exist"
	p := draw(bars, table.BytewiseComparer, "MANIFEST")
	if n := p.bars; n > maxBars || n < maxBars/4 || !p.Joined || !p.Problems {
		t.Errorf("%d bars, joined %v, lacking %v; want at most %d, and not many fewer", n, p.Joined, p.Problems, maxBars)
	}
	all, lacking := bar{}, uint64(0)
	line := p.Rows[0].Bars
	for i, b := range line {
		all.Files, all.Bytes, lacking = all.Files+b.Files, all.Bytes+b.Bytes, lacking+b.Problems
		if i > 0 && b.from < line[i-1].to || bytes.Compare(b.Smallest, b.Largest) >= 0 {
			t.Errorf("bar %d, from %q to %q, starts at %d, and the one before ends at %d", i, b.Smallest, b.Largest, b.from, line[max(i-1, 0)].to)
		}
		if x, width := p.X(b), p.Width(b); x < 0 || width <= 0 || x+width > 100.001 {
			t.Errorf("bar %d is at %v, %v wide", i, x, width)
		}
	}
	if all.Files != files || all.Bytes != files || lacking != 1 {
		t.Errorf("%d files, %d bytes, %d lacking; want %d, %d and 1", all.Files, all.Bytes, lacking, files, files)
	}
}

// If the numbers of entries are known, the width of a bar is proportional to them. Entries of layers add up, and
// files without entries have a place too.
func TestBarsByEntries(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rows    []string
		entries []uint64
		want    [][2]float64 // from and to of each bar, in percent
	}{
		{"tables", []string{"a-b c-d e-e"}, []uint64{100, 299, 1}, [][2]float64{{0, 25}, {25, 99.75}, {99.75, 100}}},
		{"a layer", []string{"c-d", "a-b c-d"}, []uint64{100, 100, 200}, [][2]float64{{25, 100}, {0, 25}, {25, 100}}},
		{"an end within a table", []string{"b-d", "a-c d-e"}, []uint64{20, 60, 20}, [][2]float64{{20, 90}, {0, 73.3}, {73.3, 100}}},
		{"nothing in it", []string{"a-b c-d"}, []uint64{0, 7}, [][2]float64{{0, 0.1}, {0, 100}}},
	} {
		bars := barsOf(tt.rows...)
		for i := range bars {
			bars[i].Entries = tt.entries[i]
		}
		var got [][2]float64
		p := draw(bars, table.BytewiseComparer, "MANIFEST")
		for _, r := range p.Rows {
			for _, b := range r.Bars {
				got = append(got, [2]float64{p.X(b), p.X(b) + p.Width(b)})
			}
		}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 0.31 }) // with the gap between bars
		if diff := cmp.Diff(tt.want, got, near); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
