package progress

import (
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/google/go-cmp/cmp"
)

func testBytes(total int64) *Bar {
	return &Bar{what: "verifying", total: total, amount: func(n int64) string { return humanize.Bytes(uint64(n)) }}
}

// What is shown depends on the width, on the time, and on whether the total is known.
func TestLine(t *testing.T) {
	entries := &Bar{what: "converting", total: 2_000_000, amount: humanize.Comma, unit: " entries"}
	for _, tt := range []struct {
		name    string
		bar     *Bar
		columns int
		done    int64
		elapsed time.Duration
		want    string
	}{
		{"narrow: the percentage alone", testBytes(1000), 40, 250, time.Minute, " 25 %"},
		{"just narrow", testBytes(1000), 59, 1000, time.Minute, "100 %"},
		{"narrow, total unknown", testBytes(-1), 40, 25_000, time.Minute, "25 kB"},
		{"no rate in the first second", testBytes(1e9), 80, 25e7, 999 * time.Millisecond,
			"verifying  25 %  [==========                              ]  250 MB of 1.0 GB"},
		{"rate and time left after it", testBytes(1e9), 80, 25e7, time.Second,
			"verifying  25 %  [=====                ]  250 MB of 1.0 GB, 250 MB/s, 3s left"},
		{"just wide", testBytes(1e9), 60, 25e7, time.Second, "verifying  25 %  250 MB of 1.0 GB, 250 MB/s, 3s left"},
		{"too little room for all", entries, 60, 1_000_000, 2 * time.Second,
			"converting  50 %  1,000,000 of 2,000,000 entries"},
		{"entries", entries, 100, 1_000_000, 100 * time.Second,
			"converting  50 %  [===========            ]  1,000,000 of 2,000,000 entries, 10,000/s, 1m40s left"},
		{"total unknown", testBytes(-1), 80, 25e6, 2 * time.Second, "verifying  25 MB, 12 MB/s"},
		{"nothing done yet", testBytes(1000), 80, 0, time.Minute,
			"verifying   0 %  [                                           ]  0 B of 1.0 kB"},
		{"a file that grows", testBytes(1000), 40, 5000, time.Minute, "100 %"},
		{"and its time left", testBytes(1e6), 80, 5e6, 5 * time.Second, "verifying 100 %  [=====================]  5.0 MB of 1.0 MB, 1.0 MB/s, 0s left"},
		{"an empty one", testBytes(0), 40, 0, time.Minute, "0 B"},
	} {
		got := tt.bar.line(tt.columns, tt.done, tt.elapsed)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// No line reaches the last column, at any width, time or amount.
func TestLineFits(t *testing.T) {
	const most = 1<<63 - 1
	for columns := range 200 {
		for _, total := range []int64{-1, 0, 1, 1e9, most} {
			for _, done := range []int64{0, 1, 12345, most} {
				for _, elapsed := range []time.Duration{0, time.Second, 1000 * time.Hour} {
					line := testBytes(total).line(columns, done, elapsed)
					if len(line) > max(0, columns-free) || strings.ContainsAny(line, "\r\n\x1b") {
						t.Fatalf("%d columns: %q", columns, line)
					}
				}
			}
		}
	}
}
