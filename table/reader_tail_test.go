package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// Opening takes one read for all parts that lie in the tail, and one for each
// other. Whatever the tail, the table is the same.
func TestTailSize(t *testing.T) {
	t.Parallel()
	pairs := numbered(5000)
	contents := build(t, withBloom, pairs)
	size := len(contents)
	for _, tt := range []struct{ tail, reads int }{
		{0, 4},
		{1, 5},
		{48, 4},
		{49, 4},
		{2000, 2}, // all but the filter
		{20_000, 1},
		{size - 1, 1},
		{size, 1},
		{size + 1, 1},
		{math.MaxInt, 1},
	} {
		src := &countingReader{ReaderAt: bytes.NewReader(contents)}
		r, err := table.NewReader(src, int64(size), &table.ReaderOptions{TailSize: tt.tail})
		if err != nil {
			t.Fatal(err)
		}
		if got := int(src.n.Load()); got != tt.reads {
			t.Errorf("tail of %d bytes: %d reads, want %d", tt.tail, got, tt.reads)
		}
		checkLookups(t, r, pairs[:100])
		if diff := diffPairs(pairs, forward(t, r.NewIter(nil))); diff != "" {
			t.Errorf("tail of %d bytes (-want +got):\n%s", tt.tail, diff)
		}
		if err := errors.Join(r.FilterErr(), r.Verify()); err != nil {
			t.Errorf("tail of %d bytes: %v", tt.tail, err)
		}
	}
	if r, err := table.NewReader(bytes.NewReader(contents), int64(size), &table.ReaderOptions{TailSize: -1}); err == nil || r != nil {
		t.Errorf("TailSize of -1: %v, %v; want an error", r, err)
	}
}

// The Writer knows the smallest tail that takes one read.
func TestWriterTailSize(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, err := table.NewWriter(&b, withBloom)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range numbered(5000) {
		if err := w.Append(p.Key, p.Value); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.TailSize(); got != 0 {
		t.Errorf("before Close: %d bytes, want 0", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for missing, want := range []int64{1, 2} {
		src := &countingReader{ReaderAt: bytes.NewReader(b.Bytes())}
		tail := int(w.TailSize()) - missing
		if _, err := table.NewReader(src, w.Size(), &table.ReaderOptions{TailSize: tail}); err != nil {
			t.Fatal(err)
		}
		if got := src.n.Load(); int64(got) != want {
			t.Errorf("tail of %d bytes: %d reads, want %d", tail, got, want)
		}
	}
}

// A tail that cannot be read as a whole is read in parts, and an error names the
// part that it is in.
func TestTailThatCannotBeReadIsReadInParts(t *testing.T) {
	t.Parallel()
	cause := errors.New("bad sector")
	contents := build(t, withBloom, numbered(5000))
	for _, tt := range []struct {
		bad  int64 // the sector's offset
		want string
	}{
		{100, ""}, // in a data block
		{int64(len(contents)) - 10, fmt.Sprintf("table: reading footer at %d: bad sector", len(contents)-48)},
	} {
		src := readAtFunc(func(p []byte, off int64) (int, error) {
			if off <= tt.bad && tt.bad < off+int64(len(p)) {
				return 0, cause
			}
			return bytes.NewReader(contents).ReadAt(p, off)
		})
		_, err := table.NewReader(src, int64(len(contents)), &table.ReaderOptions{TailSize: len(contents)})
		if tt.want == "" && err != nil || tt.want != "" && (!errors.Is(err, cause) || err.Error() != tt.want) {
			t.Errorf("bad sector at %d: %v, want %q", tt.bad, err, tt.want)
		}
	}
	short := readAtFunc(func(p []byte, off int64) (int, error) { return 0, io.EOF })
	if _, err := table.NewReader(short, 1000, &table.ReaderOptions{TailSize: 1000}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("source that is at its end: %v, want io.ErrUnexpectedEOF", err)
	}
}

// A file that says that it is huge is no reason to take memory for all of it.
func TestTailOfHugeFile(t *testing.T) {
	long.Test(t)
	t.Parallel()
	empty := bytes.NewReader(nil)
	for _, size := range []int64{1 << 50, math.MaxInt64} {
		if _, err := table.NewReader(empty, size, &table.ReaderOptions{TailSize: math.MaxInt}); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("size %d: %v, want io.ErrUnexpectedEOF", size, err)
		}
	}
}
