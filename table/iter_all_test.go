package table_test

import (
	"bytes"
	"errors"
	"slices"
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
		all := r.All(o)
		for range 2 {
			var got []workload.Pair
			for e, err := range all {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, workload.Pair{Key: bytes.Clone(e.Key), Value: bytes.Clone(e.Value)})
			}
			if diff := diffPairs(want.Pairs, got); diff != "" {
				t.Errorf("%+v (-want +got):\n%s", o, diff)
			}
		}
	}
}

// An error is shown once, without an entry, and ends the loop: damage, or a closed Reader. A loop that
// is left has none.
func TestReaderAllErrors(t *testing.T) {
	t.Parallel()
	contents := build(t, oneKeyBlocks, numbered(10))
	contents[layoutOf(t, contents).Data[4].Offset] ^= 1
	r := open(t, contents, nil)
	for _, tt := range []struct {
		leave, entries int
		want           []error
	}{{2, 2, nil}, {100, 4, []error{table.ErrCorrupt}}, {100, 0, []error{table.ErrClosed}}} {
		if tt.entries == 0 {
			r.Close()
		}
		n, errs := 0, []error(nil)
		for e, err := range r.All(nil) {
			if err != nil {
				errs = append(errs, err)
				if e.Key != nil || e.Value != nil {
					t.Errorf("error %v with %q=%q", err, e.Key, e.Value)
				}
				continue
			}
			if n++; n == tt.leave {
				break
			}
		}
		if n != tt.entries || !slices.EqualFunc(errs, tt.want, errors.Is) {
			t.Errorf("%d entries, %v; want %d, %v", n, errs, tt.entries, tt.want)
		}
	}
}

// All gives the memory of its Iter back, also if the loop panics.
func TestReaderAllCloses(t *testing.T) {
	r := open(t, build(t, nil, numbered(1000)), nil)
	loop := func() {
		defer func() { recover() }()
		n := 0
		for range r.All(nil) {
			if n++; n == 500 {
				panic("in the loop")
			}
		}
	}
	loop()
	if got := testing.AllocsPerRun(100, loop); got > 6 && !long.Race { // 14 without Close
		t.Errorf("%v allocations in a loop that panics", got)
	}
}
