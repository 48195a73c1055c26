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

// For any number of entries, no table is too full, the largest is only a little larger than the mean, and no entry is
// lost. Up to four full tables are cut evenly.
func TestCutIsEven(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 3, 20, math.MaxInt/2 + 2, math.MaxInt} {
		var want []string
		for n := range 7 * min(most, 20) {
			r := cut(t, n, most)
			var sizes []int
			for _, table := range r.tables {
				sizes = append(sizes, len(table))
			}
			if n > 0 {
				largest, mean := slices.Max(sizes), float64(n)/float64(len(sizes))
				isEven := largest-slices.Min(sizes) <= 1
				if largest > most || float64(largest) > max(1.3*mean, mean+1) || len(sizes) != (n-1)/most+1 || !isEven && n/4 < most {
					t.Errorf("%d entries, at most %d in a table: tables of %d", n, most, sizes)
				}
			}
			if diff := cmp.Diff(want, slices.Concat(r.tables...)); diff != "" || r.closed != len(r.tables) {
				t.Errorf("%d of %d tables complete; entries (-want +got):\n%s", r.closed, len(r.tables), diff)
			}
			want = append(want, fmt.Sprintf("%06d=value %d", n, n))
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
