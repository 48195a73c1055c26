package table_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// All shows what an Iter with the options shows, in each loop anew, and leaves no error.
func TestReaderAll(t *testing.T) {
	t.Parallel()
	pairs := numbered(300)
	r := open(t, build(t, nil, pairs), nil)
	for _, o := range []*table.IterOptions{nil, {ReadAhead: 1000}, {Lower: pairs[100].Key, Upper: pairs[200].Key}} {
		var want *tabletest.Model
		if want = newModel(pairs, &table.IterOptions{}); o != nil {
			want = newModel(pairs, o)
		}
		err := errors.New("of another loop")
		all := r.All(o, &err)
		for range 2 {
			var got []workload.Pair
			for k, v := range all {
				got = append(got, workload.Pair{Key: bytes.Clone(k), Value: bytes.Clone(v)})
			}
			if diff := diffPairs(want.Pairs, got); diff != "" || err != nil {
				t.Errorf("%+v: %v (-want +got):\n%s", o, err, diff)
			}
		}
	}
}

// The error of a loop that ends early is why: damage, a closed Reader, or nothing if it was left.
func TestReaderAllErrors(t *testing.T) {
	t.Parallel()
	contents := build(t, oneKeyBlocks, numbered(10))
	contents[layoutOf(t, contents).Data[4].Offset] ^= 1
	r := open(t, contents, nil)
	for _, tt := range []struct {
		leave, entries int
		want           error
	}{{2, 2, nil}, {100, 4, table.ErrCorrupt}, {100, 0, table.ErrClosed}} {
		if tt.want == table.ErrClosed {
			r.Close()
		}
		err, n := errors.New("of another loop"), 0
		for range r.All(nil, &err) {
			if n++; n == tt.leave {
				break
			}
		}
		if n != tt.entries || !errors.Is(err, tt.want) {
			t.Errorf("%d entries, %v; want %d, %v", n, err, tt.entries, tt.want)
		}
	}
}

// An error that the loop returns or sets is not lost when the Iter is closed.
func TestReaderAllKeepsErrors(t *testing.T) {
	t.Parallel()
	r := open(t, build(t, nil, numbered(10)), nil)
	full := errors.New("disk full")
	for name, loop := range map[string]func() error{
		"return": func() (err error) {
			for range r.All(nil, &err) {
				return full
			}
			return err
		},
		"break": func() (err error) {
			for range r.All(nil, &err) {
				if err = full; err != nil {
					break
				}
			}
			return err
		},
	} {
		if err := loop(); err != full {
			t.Errorf("%s: %v, want %v", name, err, full)
		}
	}
}

// All gives the memory of its Iter back, also if the loop panics.
func TestReaderAllCloses(t *testing.T) {
	r := open(t, build(t, nil, numbered(1000)), nil)
	var err error
	loop := func() {
		defer func() { recover() }()
		n := 0
		for range r.All(nil, &err) {
			if n++; n == 500 {
				panic("in the loop")
			}
		}
	}
	loop()
	if got := testing.AllocsPerRun(100, loop); got > 6 && !long.Race { // 14 without Close
		t.Errorf("%v allocations in a loop that panics", got)
	}
	if err != nil {
		t.Errorf("a loop that panics leaves %v", err)
	}
}
