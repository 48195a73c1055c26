package filter_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
)

func TestNewBlockWriterRefusesBaseLgAndNoPolicy(t *testing.T) {
	t.Parallel()
	for _, lg := range []int{-1, 31, math.MaxInt} {
		if _, err := filter.NewBlockWriter(listPolicy{}, lg); err == nil {
			t.Errorf("NewBlockWriter with base lg %d: no error", lg)
		}
	}
	if _, err := filter.NewBlockWriter(nil, 11); err == nil {
		t.Error("NewBlockWriter without a policy: no error")
	}
}

// Size is that of the block if it were finished now, without the filter that is still to come.
func TestBlockWriterSizeIsThatOfTheBlock(t *testing.T) {
	t.Parallel()
	for filters := range 5 {
		w, err := filter.NewBlockWriter(listPolicy{}, 11)
		if err != nil {
			t.Fatal(err)
		}
		for i := range filters {
			w.Add([]byte("key"))
			before := w.Size()
			w.Add([]byte("another"))
			if got := w.Size(); got != before {
				t.Errorf("Size = %d with a key more, and %d before", got, before)
			}
			if err := w.StartBlock(uint64(i+1) << 11); err != nil { // generates the filter
				t.Fatal(err)
			}
		}
		size := w.Size()
		if block, err := w.Finish(); err != nil || uint64(len(block)) != size {
			t.Errorf("%d filters: block of %d bytes, %v; Size said %d", filters, len(block), err, size)
		}
	}
}

// A gap that would take more than 4 GiB of empty filters is refused before any
// memory is taken for them, and the error stays.
func TestBlockWriterRefusesWhatOffsetsCannotReach(t *testing.T) {
	t.Parallel()
	for _, offset := range []uint64{1 << 30, 1 << 62, 1 << 63, 1<<64 - 1} {
		t.Run(fmt.Sprintf("offset=%d", offset), func(t *testing.T) {
			w, err := filter.NewBlockWriter(listPolicy{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			w.Add([]byte("a"))
			if err := w.StartBlock(offset); err == nil {
				t.Errorf("StartBlock(%d) at base lg 0: no error", offset)
			}
			if block, err := w.Finish(); err == nil {
				t.Errorf("Finish = %d bytes after StartBlock(%d) failed; want an error", len(block), offset)
			}
		})
	}
}

// silentPolicy writes nothing, which in a filter block means "no keys here".
type silentPolicy struct{ listPolicy }

func (silentPolicy) NewGenerator() filter.Generator { return silentGenerator{} }

type silentGenerator struct{}

func (silentGenerator) Add([]byte)             {}
func (silentGenerator) Generate(filter.Buffer) {}

func TestBlockWriterRefusesFiltersOfNoBytes(t *testing.T) {
	t.Parallel()
	w, err := filter.NewBlockWriter(silentPolicy{}, 11)
	if err != nil {
		t.Fatal(err)
	}
	w.Add([]byte("a"))
	if block, err := w.Finish(); err == nil {
		t.Errorf("Finish = %x, want an error", block)
	}
}

func TestBlockWriterRefusesDescendingOffsets(t *testing.T) {
	t.Parallel()
	w, err := filter.NewBlockWriter(listPolicy{}, 11)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		offset uint64
		ok     bool
	}{{10_000, true}, {10_000, true}, {9_999, false}, {20_000, false}} {
		if err := w.StartBlock(tt.offset); (err == nil) != tt.ok {
			t.Errorf("StartBlock(%d) = %v, want ok = %v", tt.offset, err, tt.ok)
		}
	}
	if _, err := w.Finish(); err == nil {
		t.Error("Finish after an error: no error")
	}
}

// Keys that are added as hashes, after the offset of their block became known, give the
// same filters as keys that are added at once. What is kept of a key until then is 4 bytes with
// Bloom, and with other policies the key.
func TestAddHashMakesTheFiltersOfAdd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		p    filter.Policy
		kept int // bytes of a key
	}{{filter.NewBloom(10), 4}, {listPolicy{}, 2}} {
		t.Run(tt.p.Name(), func(t *testing.T) {
			at, err := filter.NewBlockWriter(tt.p, 11)
			if err != nil {
				t.Fatal(err)
			}
			later, err := filter.NewBlockWriter(tt.p, 11)
			if err != nil {
				t.Fatal(err)
			}
			for i := range uint64(10) {
				key := []byte{'k', byte('0' + i)}
				h := later.AppendHash([]byte("dst"), key)[3:]
				if len(h) != tt.kept {
					t.Errorf("AppendHash appends %d bytes for %q, want %d", len(h), key, tt.kept)
				}
				if err := errors.Join(at.StartBlock(900*i), later.StartBlock(900*i)); err != nil {
					t.Fatal(err)
				}
				at.Add(key)
				later.AddHash(h)
			}
			want, err1 := at.Finish()
			got, err2 := later.Finish()
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-Add +AddHash):\n%s", diff)
			}
		})
	}
}
