package bench

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// everyTally has a tally for each kind of lookups.
func everyTally() tallies {
	all := tallies{}
	for _, from := range sources {
		t := tally{lookups: 1000, blocks: 10, took: time.Second}
		if from.delay > 0 {
			t.delays, t.waited = 10, 10*from.delay
		}
		for _, ask := range asks {
			all.add(lookupsID{from.name, ask.name, "unfiltered"}, t)
			all.add(lookupsID{from.name, ask.name, "filtered"}, t)
		}
	}
	return all
}

var (
	figure = regexp.MustCompile(`[0-9][0-9.,]*\b`)
	spaces = regexp.MustCompile(` +`)
)

// masked replaces figures, and the spaces that align them.
func masked(text string) string {
	return spaces.ReplaceAllString(figure.ReplaceAllString(text, "0"), " ")
}

// The summary in README.md has the form of the one that benchmarks print, and figures that
// the filter allows.
func TestSummaryInReadme(t *testing.T) {
	t.Parallel()
	m := regexp.MustCompile("(?s)```\n(Lookups in .*?)```").FindStringSubmatch(readme(t))
	if m == nil {
		t.Fatal("no summary in README.md: copy the last table of go test -bench . ./bench")
	}
	if diff := cmp.Diff(strings.TrimSpace(masked(everyTally().table())), strings.TrimSpace(masked(m[1]))); diff != "" {
		t.Errorf("summary (-printed +README.md):\n%s", diff)
	}
	rows := regexp.MustCompile(`(?m)^.*, (all|half) absent +\S+ +(\S+) +\S+ +(\S+) `).FindAllStringSubmatch(m[1], -1)
	if want := len(sources) * len(asks); len(rows) != want {
		t.Fatalf("%d rows in README.md, want %d", len(rows), want)
	}
	least := map[string]float64{"all": 0.005, "half": 0.45}
	most := map[string]float64{"all": 0.02, "half": 0.55}
	for _, row := range rows {
		if row[2] != "1.0000" {
			t.Errorf("%s reads per lookup without a filter, want 1.0000: %s", row[2], row[0])
		}
		if reads, err := strconv.ParseFloat(row[3], 64); err != nil || reads < least[row[1]] || reads > most[row[1]] {
			t.Errorf("%s reads per lookup with a filter, want %v to %v: %s", row[3], least[row[1]], most[row[1]], row[0])
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	if got := (tallies{}).table() + (memberTallies{}).table(); got != "" {
		t.Errorf("a table of nothing:\n%s", got)
	}
	all := tallies{}
	for range 2 {
		all.add(lookupsID{"disk", "absent", "unfiltered"}, tally{150, 150, 20 * time.Millisecond, 200, 24 * time.Millisecond})
	}
	all.add(lookupsID{"disk", "absent", "filtered"}, tally{12_345, 100, 10 * time.Millisecond, 100, 12 * time.Millisecond})
	all.add(lookupsID{"memory", "half", "filtered"}, tally{1_234_567, 617_284, time.Second, 0, 0})
	want := []string{
		"memory, half absent                  -             -      1,230,000        0.5000        -",
		"disk, all absent                 7,500        1.0000      1,230,000        0.0081    165 ×",
		"The disk is that file with 0.1 ms before each read (measured: 0.120 ms).",
	}
	for _, line := range want {
		if got := all.table(); !strings.Contains(got, line+"\n") {
			t.Errorf("no line %q in:\n%s", line, got)
		}
	}
}

func TestMembershipTable(t *testing.T) {
	t.Parallel()
	all := memberTallies{}
	all.add(memberID{1000, "Bloom filter", false}, memberTally{1000, 10_000, 9, 3.25})
	all.add(memberID{1000, "Bloom filter", true}, memberTally{500, 7500, 500, 6})
	all.add(memberID{1000, "Go map", false}, memberTally{500, 7500, 0, 0})
	all.add(memberID{100, "Go map", false}, memberTally{1, 1_000_000, 0, 0}) // too few
	want := `
keys of the set          Bloom filter     sorted slice           Go map             list  false positives
     1,000, absent        10.0 (3.25)                -             15.0                -           0.90 %
     1,000, present       15.0 (6.00)                -                -                -

`
	if got := all.table(); !strings.Contains(got, want) {
		t.Errorf("no such lines:%s\nin:\n%s", want, got)
	}
}

// A slow source really reads, and really waits.
func TestSlowReaderAt(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{100 * time.Microsecond, 20 * time.Millisecond} {
		s := &slowReaderAt{ReaderAt: bytes.NewReader([]byte("block")), delay: delay}
		got, err := io.ReadAll(io.NewSectionReader(s, 0, 5))
		if err != nil || string(got) != "block" {
			t.Errorf("read %q, %v", got, err)
		}
		if least := time.Duration(s.reads) * delay; s.reads == 0 || s.waited < least {
			t.Errorf("%d reads waited %v, want at least %v", s.reads, s.waited, least)
		}
	}
}
