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

// The documentation has the summary's rows, with plausible numbers of reads.
func TestReadsInDoc(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile(`(?m)^//\t(.*), (all|half) absent +(\S+) +(\S+)$`).FindAllStringSubmatch(page(t, "doc.go"), -1)
	var got, want []string
	for _, from := range sources {
		name := strings.ReplaceAll(from.name, "-", " ")
		want = append(want, name+", all", name+", half")
	}
	least := map[string]float64{"all": 0.005, "half": 0.45}
	most := map[string]float64{"all": 0.02, "half": 0.55}
	for _, row := range rows {
		got = append(got, row[1]+", "+row[2])
		if row[3] != "1.0000" {
			t.Errorf("%s reads per lookup without a filter, want 1.0000: %s", row[3], row[0])
		}
		if reads, err := strconv.ParseFloat(row[4], 64); err != nil || reads < least[row[2]] || reads > most[row[2]] {
			t.Errorf("%s reads per lookup with a filter, want %v to %v: %s", row[4], least[row[2]], most[row[2]], row[0])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lookups (-summed up +doc.go):\n%s", diff)
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
