package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// With few keys, all works are done by both engines, and reported.
func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run([]string{"-n", "2000", "-rounds", "1", "-cache", "1,8", "-dir", t.TempDir()}, &out); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) == 10 {
			got = append(got, strings.TrimPrefix(cells[0], "| "))
		}
	}
	table := []string{"work", "fillrandom", "CompactRange", "readrandom", "readmissing", "readhot", "seekrandom", "readseq", "readreverse"}
	if diff := cmp.Diff(append(table, table...), got); diff != "" {
		t.Errorf("works (-want +got):\n%s\n%s", diff, out.String())
	}
}

// Wrong flags are refused before anything is built.
func TestFlags(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"-n 99", "-rounds 0", "-cache 0", "-cache x", "-cache 64,", "more"} {
		if err := run(strings.Fields(args), &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
