package set

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
)

// A recorder records the entries of its tables.
type recorder struct {
	tables [][]string
	closed int
	fail   error // of Append
}

func (r *recorder) start() (entryWriter, error) {
	r.tables = append(r.tables, nil)
	return r, nil
}

func (r *recorder) Append(key, value []byte) error {
	last := &r.tables[len(r.tables)-1]
	*last = append(*last, fmt.Sprintf("%s=%s", key, value))
	return r.fail
}

func (r *recorder) Close() error {
	r.closed++
	return nil
}

func (r *recorder) Abort() error { return nil }

// cut cuts n entries into tables of at most most.
func cut(t *testing.T, n, most int) (r recorder) {
	t.Helper()
	c := newCutter(most, t.TempDir(), r.start)
	for i := range n {
		noError(t, c.Append(fmt.Appendf(nil, "%06d", i), fmt.Appendf(nil, "value %d", i)))
	}
	noError(t, errors.Join(c.finish(), c.abort()))
	return r
}

// Up to four full tables are cut evenly.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, most int
		want    []int
	}{
		{0, 10, nil},
		{1, 10, []int{1}},
		{10, 10, []int{10}},
		{11, 10, []int{6, 5}},
		{21, 10, []int{7, 7, 7}},
		{31, 10, []int{8, 8, 8, 7}},
		{40, 10, []int{10, 10, 10, 10}},
		{41, 10, []int{10, 10, 10, 10, 1}},
		{3, 1, []int{1, 1, 1}},
		{6, 1, []int{1, 1, 1, 1, 1, 1}},
		{6, math.MaxInt, []int{6}},
		{6, math.MaxInt/2 + 2, []int{6}},
	} {
		var sizes []int
		for _, table := range cut(t, tt.n, tt.most).tables {
			sizes = append(sizes, len(table))
		}
		if diff := cmp.Diff(tt.want, sizes); diff != "" {
			t.Errorf("%d entries: tables (-want +got):\n%s", tt.n, diff)
		}
	}
}

// For any number of entries, the largest table is only a little larger than the mean, and no entry is lost.
func TestCutIsEven(t *testing.T) {
	t.Parallel()
	const most = 20
	var want []string
	for n := 1; n < 200; n++ {
		want = append(want, fmt.Sprintf("%06d=value %d", n-1, n-1))
		r := cut(t, n, most)
		largest, mean := 0, float64(n)/float64(len(r.tables))
		for _, table := range r.tables {
			largest = max(largest, len(table))
		}
		if largest > most || float64(largest) > max(1.3*mean, mean+1) || len(r.tables) != (n+most-1)/most {
			t.Errorf("%d entries: %d tables, the largest of %d entries, the mean of %.1f", n, len(r.tables), largest, mean)
		}
		if diff := cmp.Diff(want, slices.Concat(r.tables...)); diff != "" || r.closed != len(r.tables) {
			t.Errorf("%d of %d tables complete; entries (-want +got):\n%s", r.closed, len(r.tables), diff)
		}
	}
}

// Keys must be in order within tables and across them.
func TestCutterRefusesDisorder(t *testing.T) {
	t.Parallel()
	for _, before := range []int{1, 4, 5, 100} {
		var r recorder
		c := newCutter(1, t.TempDir(), r.start)
		for i := range before {
			noError(t, c.Append(fmt.Appendf(nil, "%06d", i), nil))
		}
		for _, key := range []string{"", fmt.Sprintf("%06d", before-1)} {
			if err := c.Append([]byte(key), nil); !errors.Is(err, table.ErrOrder) {
				t.Errorf("%q after %d keys: %v, want ErrOrder", key, before, err)
			}
		}
		noError(t, c.abort())
	}
}

// An error of a table ends the work, whenever the table is written. No temporary file remains.
func TestCutterFails(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk full")
	for _, n := range []int{1, 4, 5} {
		r := recorder{fail: cause}
		dir := t.TempDir()
		c := newCutter(1, dir, r.start)
		var err error
		for i := range n {
			err = errors.Join(err, c.Append([]byte{byte(i)}, nil))
		}
		if err == nil {
			err = c.finish()
		}
		if !errors.Is(err, cause) {
			t.Errorf("%d entries: %v, want %v", n, err, cause)
		}
		noError(t, c.abort())
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("%d entries: %v, %v stay", n, files, err)
		}
	}
}

// If the spool loses entries, finish returns an error.
func TestSpoolIsCut(t *testing.T) {
	t.Parallel()
	var r recorder
	c := newCutter(10, t.TempDir(), r.start)
	for _, key := range strings.Split("abcdef", "") {
		noError(t, c.Append([]byte(key), make([]byte, 100<<10))) // written at once
	}
	noError(t, c.spool.Truncate(10))
	if err := c.finish(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("finish = %v, want %v", err, io.ErrUnexpectedEOF)
	}
}
