package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
)

// wantRows are the rows of the page with the least number of figures in each.
var wantRows = map[string]int{
	"Get absent, warm, ns":                                 6,
	"Get absent, cold, ns":                                 5,
	"Get present, warm, ns":                                6,
	"Get present, cold, ns":                                4,
	"AppendGet present, cold, ns":                          1,
	"SeekGE, warm, ns":                                     4,
	"Scan forward, warm, per entry, ns":                    4,
	"Scan forward, cold, per entry, ns":                    3,
	"Scan backward, warm, per entry, ns":                   4,
	"Scan backward, cold, per entry, ns":                   3,
	"Write, one core, MB/s":                                3,
	"Write, two cores, MB/s":                               1,
	"Open and close, ns":                                   3,
	"Memory of an open table, per entry, bytes":            2,
	"Get absent, warm, two goroutines, × one goroutine’s":  5,
	"Get present, warm, two goroutines, × one goroutine’s": 5,
	"Reads per Get absent, cold, count":                    4,
	"Reads per Get present, cold, count":                   4,
	"False positives per Get absent, count":                1,
	"Build, per key, ns":                                   3,
	"Contains, key of the filter, ns":                      3,
	"Contains, absent key, ns":                             3,
	"4 bits per key, ns":                                   2,
	"No filter, ns":                                        2,
	"Reads, no filter, count":                              2,
	"20 bits per key, ns":                                  2,
	"10000 entries, ns":                                    3,
	"1,000 keys, ns":                                       4,
	"Probes, 1,000 keys, count":                            3,
}

// The whole program, small: the page has every row and figures in it, the charts are
// well-formed, and -draw writes the same page. It measures the memory of the process, and so
// runs alone.
func TestRun(t *testing.T) {
	long.Test(t)
	dir := t.TempDir()
	err := run([]string{"-o", dir, "-entries", "2000", "-urls", "10000", "-members", "1000", "-rounds", "2", "-time", "1ms"})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	checkRows(t, string(page))
	for _, name := range []string{"saved", "lookup-by-engine", "lookup-by-entries", "lookup-by-bits", "membership"} {
		if !strings.Contains(string(page), name+".svg") || !strings.Contains(string(page), name+"-narrow.svg") {
			t.Errorf("RESULTS.md does not show %s in both forms", name)
		}
		checkXML(t, filepath.Join(dir, name+".svg"))
		checkXML(t, filepath.Join(dir, name+"-narrow.svg"))
	}
	if err := run([]string{"-o", dir, "-draw"}); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "RESULTS.md")); err != nil || !bytes.Equal(again, page) {
		t.Errorf("-draw writes another page of %d bytes, %v; want the %d that the run wrote", len(again), err, len(page))
	}
	for _, c := range columns() {
		if c.Err != nil && !strings.Contains(string(page), "- "+c.Name+": "+c.Err.Error()) {
			t.Errorf("RESULTS.md does not say of %s: %v", c.Name, c.Err)
		}
	}
}

// checkRows holds the page's tables against wantRows.
func checkRows(t *testing.T, page string) {
	t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		title := strings.TrimPrefix(cells[0], "| ")
		want, ok := wantRows[title]
		if !ok {
			continue
		}
		seen[title] = true
		if got := figures(t, cells[1:]); got < want {
			t.Errorf("row %q has %d figures, want %d: %s", title, got, want, line)
		}
	}
	for title := range wantRows {
		if !seen[title] {
			t.Errorf("no row %q", title)
		}
	}
}

var figure = regexp.MustCompile(`^(?:\*\*)?([0-9.]+)`)

// figures returns how many cells start with a figure, all of which must be
// positive or, for counts that can be none, 0.
func figures(t *testing.T, cells []string) int {
	t.Helper()
	n := 0
	for _, c := range cells {
		match := figure.FindStringSubmatch(c)
		if match == nil {
			continue
		}
		text := match[1]
		if v, err := strconv.ParseFloat(text, 64); err != nil || v < 0 || v == 0 && text != "0" {
			t.Errorf("figure %q: %v", c, err)
		}
		n++
	}
	return n
}

// checkXML reads the file to its end.
func checkXML(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := xml.NewDecoder(f)
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			return
		}
	}
}

// What cannot be measured is refused before anything is.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-rounds", "0"}, {"-entries", "0"}, {"-urls", "-1"}, {"-time", "0s"}, {"-run", "("}, {"W1"}, {"-run", "no such work"},
		{"-members", "-1"}, {"-members", "10000001"}, {"-urls", "9223372036854775807"}, {"-entries", "9223372036854775807"},
		{"-draw"}, // there is no results.json
	} {
		if err := run(append(args, "-o", t.TempDir())); err == nil {
			t.Errorf("no error for %q", args)
		}
	}
	for _, args := range [][]string{
		{"-run", "W1-raw/open"}, // would replace the page of all works
		{"-o", filepath.Join(t.TempDir(), "missing")},
	} {
		if err := run(args); err == nil {
			t.Errorf("no error for %q", args)
		}
	}
}

// Nobody who asks for more rounds, or fewer works, is left with the old ones.
func TestDrawMeasuresNothing(t *testing.T) {
	t.Parallel()
	for flag, value := range map[string]string{"-rounds": "3", "-run": "W1", "-time": "1s"} {
		err := run([]string{"-o", t.TempDir(), "-draw", flag, value})
		if want := "-draw measures nothing: leave " + flag + " out"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
