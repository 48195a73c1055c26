package tablefile

import (
	"errors"
	"io"
	"math"
	"runtime/debug"
	"testing"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// kept returns how many bytes of a block's buffers a lookup and an iterator keep for the next block, and the size of
// the decoded entries, which refer to the buffers.
func kept(t *testing.T, size int) (lookup, iter, entries int) {
	s := Scratch{stored: make([]byte, size), names: make([]byte, size), meta: make(Metaindex, size/64)}
	s.empty()
	m := &Memory{Scratch: Scratch{decompressed: make([]byte, size)}, SeekKey: make([]byte, size)}
	w, err := block.NewWriter(1, block.Order{})
	errtest.NoError(t, err)
	errtest.NoError(t, w.Append([]byte("key"), nil))
	errtest.NoError(t, m.entries.Decode(w.Finish(), rowblock.Order{}))
	m.empty()
	return cap(s.stored) + cap(s.names) + 64*cap(s.meta), cap(m.decompressed) + cap(m.SeekKey), m.entries.Size()
}

// The buffers of a 4 KiB block are reused. Those of a huge block are dropped.
func TestHugeBuffersAreNotKept(t *testing.T) {
	t.Parallel()
	if lookup, iter, entries := kept(t, 4<<10); lookup != 3*4<<10 || iter != 2*4<<10 || entries == 0 {
		t.Errorf("of 4 KiB, a lookup keeps %d bytes and an Iter %d and %d of entries, want all", lookup, iter, entries)
	}
	if lookup, iter, entries := kept(t, 2<<20); lookup != 0 || iter != 0 || entries != 0 {
		t.Errorf("of 2 MiB, a lookup keeps %d bytes and an Iter %d and %d of entries, want none", lookup, iter, entries)
	}
}

// A cursor keeps the buffers of an Iter for the next block that is not decoded, but not the block before.
func TestCursorDropsBlock(t *testing.T) {
	t.Parallel()
	w, err := block.NewWriter(1, block.Order{})
	errtest.NoError(t, err)
	errtest.NoError(t, w.Append([]byte("key"), nil))
	it := new(rowblock.Iter)
	errtest.NoError(t, it.Open(w.Finish(), rowblock.Order{}, &rowblock.Budget{}))
	c := Cursor{it: it, kept: it}
	if c.Reset(); c.it != nil || c.kept != it || it.Len() != 0 {
		t.Errorf("after Reset, Iter %p, kept %p with %d entries, want none and %p without entries", c.it, c.kept, it.Len(), it)
	}
}

// Packing preserves all handles and spans.
func TestBlockRefs(t *testing.T) {
	t.Parallel()
	span := func(start, limit uint32) format.FilterSpan { return format.FilterSpan{Start: start, Limit: limit} }
	for _, tt := range []struct {
		name   string
		refs   []ref
		packed bool
	}{
		{"none", nil, true},
		{"without gaps", []ref{{0, 1, span(0, 9)}, {6, 10, span(9, 20)}, {21, 100, span(20, 21)}}, true},
		{"blocks that share a filter", []ref{{0, 1, span(0, 9)}, {6, 10, span(0, 9)}, {21, 100, span(9, 21)}}, true},
		{"behind a gap", []ref{{100, 1, span(0, 9)}, {106, 10, span(9, 12)}}, true},
		{"a gap", []ref{{0, 1, span(0, 9)}, {6, 10, span(9, 10)}, {22, 100, span(10, 12)}}, false},
		{"a gap between filters", []ref{{0, 1, span(0, 9)}, {6, 10, span(10, 11)}}, false},
		{"a block without a filter", []ref{{0, 1, span(0, 9)}, {6, 10, format.NoFilter}}, false},
		{"an empty filter", []ref{{0, 1, span(0, 9)}, {6, 10, span(9, 9)}, {21, 1, span(9, 10)}}, false},
		{"up to 4 GiB", []ref{{0, 1 << 31, span(0, 9)}, {1<<31 + 5, 1<<31 - 11, span(9, 10)}}, true},
		{"one byte beyond", []ref{{0, 1 << 31, span(0, 9)}, {1<<31 + 5, 1<<31 - 9, span(9, 10)}}, false},
		{"huge", []ref{{0, math.MaxUint32, span(0, 9)}, {math.MaxUint32 + 5, 1 << 40, span(9, 10)}}, false},
	} {
		b := packRefs(tt.refs, true)
		if packed := b.all == nil; packed != tt.packed {
			t.Errorf("%s: packed is %t", tt.name, packed)
		}
		for i, want := range tt.refs {
			h := b.handle(i)
			if got := (ref{h.Offset, h.Length, b.filter(i)}); got != want {
				t.Errorf("%s: ref %d is %v, want %v", tt.name, i, got, want)
			}
		}
	}
	if b := packRefs([]ref{{0, 1, format.FilterSpan{}}, {6, 10, format.FilterSpan{}}}, false); b.all != nil || b.handle(1) != (Handle{6, 10}) {
		t.Errorf("without filters: %v", b)
	}
}

// No read allocates memory beyond the limit. The limit applies to the process, so the test is not parallel.
func TestReadsCheckMemory(t *testing.T) {
	const size = 128 << 20
	block := make([]byte, size)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(size - 1))
	f := File{src: io.NewSectionReader(zeros{}, 0, size), o: new(Options), Pages: &Pages{N: 1, Size: size}}
	a := Ahead{bytes: []byte("before")}
	for _, tt := range []struct {
		name string
		read func() error
	}{
		{"several blocks", func() error { return a.Fill(t.Context(), &f, DataBlock, 0, size) }},
		{"a page of a filter", func() error {
			_, err := f.readPage(0, &ReadOptions{}, new(Scratch))
			return err
		}},
		{"a copy of a block of the source", func() error {
			_, err := (&Scratch{inSource: true, block: block}).own(block)
			return err
		}},
	} {
		if err := tt.read(); !errors.As(err, new(*alloc.Error)) {
			t.Errorf("%s: %v, want an *alloc.Error", tt.name, err)
		}
	}
	if a.has(0, 1) {
		t.Error("after the error, it has bytes")
	}
}

// zeros are a source of zeros.
type zeros struct{}

func (zeros) ReadAt(p []byte, _ int64) (int, error) { return len(p), nil }
