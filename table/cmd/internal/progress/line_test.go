package progress

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/google/go-cmp/cmp"
)

func testBytes(total int64) *pb.ProgressBar {
	return pb.New64(total).Set(whatKey, "verifying")
}

// lines collects the drawn lines, without trailing blanks.
type lines []string

func (l *lines) Write(p []byte) (int, error) {
	*l = append(*l, strings.TrimRight(strings.TrimPrefix(string(p), "\r"), " "))
	return len(p), nil
}

// drawn returns the lines that are drawn while bar advances steadily to done. It must run in a synctest bubble.
func drawn(bar *pb.ProgressBar, columns int, done int64, elapsed time.Duration) lines {
	const step = 25 * time.Millisecond
	var l lines
	b := start(bar, &l, func() int { return columns })
	for left := int64(elapsed / step); left > 0; left-- {
		time.Sleep(step / 2) // keep additions away from the times of drawing
		b.Add(done / left)
		done -= done / left
		time.Sleep(step / 2)
	}
	synctest.Wait()
	got := l
	b.Done() // erases the last line
	return got
}

// The line depends on the width, the time, and whether the total is known.
func TestLine(t *testing.T) {
	entries := func() *pb.ProgressBar {
		return pb.New64(2_000_000).Set(whatKey, "converting").Set(unitKey, " entries")
	}
	for _, tt := range []struct {
		name    string
		bar     *pb.ProgressBar
		columns int
		done    int64
		elapsed time.Duration
		want    string
	}{
		{"narrow: the word and the percentage", testBytes(1000), 40, 250, 2 * time.Second, "verifying  25 %"},
		{"very narrow: the percentage alone", testBytes(1000), 17, 250, 2 * time.Second, " 25 %"},
		{"just narrow", testBytes(1000), 59, 1000, 2 * time.Second, "verifying 100 %"},
		{"narrow, total unknown", testBytes(-1), 40, 25_000, 2 * time.Second, "verifying 25 kB"},
		{"no rate in the first second", testBytes(1e9), 80, 26e7, 975 * time.Millisecond,
			"verifying  24 %  [==========                              ]  240 MB of 1.0 GB"},
		{"rate and time left after it", testBytes(1e9), 80, 25e7, time.Second,
			"verifying  25 %  [======               ]  250 MB of 1.0 GB, 250 MB/s, 3s left"},
		{"just wide", testBytes(1e9), 60, 25e7, time.Second, "verifying  25 %  250 MB of 1.0 GB, 250 MB/s, 3s left"},
		{"too little room for all", entries(), 60, 1_000_000, 2 * time.Second,
			"converting  50 %  1,000,000 of 2,000,000 entries"},
		{"entries", entries(), 100, 1_000_000, 10 * time.Second,
			"converting  50 %  [============            ]  1,000,000 of 2,000,000 entries, 100,000/s, 10s left"},
		{"total unknown", testBytes(-1), 80, 25e6, 2 * time.Second, "verifying  25 MB, 12 MB/s"},
		{"nothing done yet", testBytes(1000), 80, 0, 2 * time.Second,
			"verifying   0 %  [                                           ]  0 B of 1.0 kB"},
		{"a file that grows", testBytes(1000), 40, 5000, 2 * time.Second, "verifying 100 %"},
		{"and its time left", testBytes(1e6), 80, 5e6, 5 * time.Second, "verifying 100 %  [=====================]  5.0 MB of 5.0 MB, 1.0 MB/s, 0s left"},
		{"an empty one", testBytes(0), 40, 0, 2 * time.Second, "verifying 0 B"},
	} {
		var got lines
		synctest.Test(t, func(*testing.T) { got = drawn(tt.bar, tt.columns, tt.done, tt.elapsed) })
		if diff := cmp.Diff(tt.want, got[len(got)-1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// No line reaches the last column, at any width, time or amount.
func TestLineFits(t *testing.T) {
	const most = 1<<63 - 1
	for columns := 0; columns < 110; columns = columns*9/8 + 1 {
		for _, total := range []int64{-1, 0, 1, 1e9, most} {
			for _, done := range []int64{0, 1, 12345, most} {
				synctest.Test(t, func(t *testing.T) {
					for _, line := range drawn(testBytes(total), columns, done, 1200*time.Millisecond) {
						if len(line) > max(0, columns-free) || strings.ContainsAny(line, "\r\n\x1b") {
							t.Fatalf("%d columns: %q", columns, line)
						}
					}
				})
			}
		}
	}
}
