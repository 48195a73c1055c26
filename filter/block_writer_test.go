package filter_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
)

// Size returns the size of the block if it were finished now, without the current filter.
func TestBlockWriterSizeIsThatOfTheBlock(t *testing.T) {
	t.Parallel()
	for filters := range 5 {
		w, err := filter.NewBlockWriter(listPolicy{}, 11)
		noError(t, err)
		for i := range filters {
			w.Add([]byte("key"))
			before := w.Size()
			w.Add([]byte("another"))
			if got := w.Size(); got != before {
				t.Errorf("Size = %d with a key more, and %d before", got, before)
			}
			noError(t, w.StartBlock(uint64(i+1)<<11)) // generates the filter
		}
		size := w.Size()
		if block, err := w.Finish(); err != nil || uint64(len(block)) != size {
			t.Errorf("%d filters: block of %d bytes, %v; Size said %d", filters, len(block), err, size)
		}
	}
}

// Keys that are added as hashes, once the offset of their block is known, give the same filters as keys that are
// added at once. Until then, Bloom keeps 4 bytes per key, and other policies keep the key.
func TestAddHashMakesTheFiltersOfAdd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		p    filter.Policy
		kept int // bytes per key
	}{{filter.NewBloom(10), 4}, {listPolicy{}, 2}} {
		t.Run(tt.p.Name(), func(t *testing.T) {
			at, err := filter.NewBlockWriter(tt.p, 11)
			noError(t, err)
			later, err := filter.NewBlockWriter(tt.p, 11)
			noError(t, err)
			for i := range uint64(10) {
				key := []byte{'k', byte('0' + i)}
				h := later.AppendHash([]byte("dst"), key)[3:]
				if len(h) != tt.kept {
					t.Errorf("AppendHash appends %d bytes for %q, want %d", len(h), key, tt.kept)
				}
				noError(t, errors.Join(at.StartBlock(900*i), later.StartBlock(900*i)))
				at.Add(key)
				later.AddHash(h)
			}
			want, err1 := at.Finish()
			got, err2 := later.Finish()
			noError(t, errors.Join(err1, err2))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-Add +AddHash):\n%s", diff)
			}
		})
	}
}
