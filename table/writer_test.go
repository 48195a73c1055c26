package table_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/table"
)

// The bytes of a small table, which the file format's documentation can be
// followed in.
func TestLayout(t *testing.T) {
	t.Parallel()
	var s strings.Builder
	for _, tt := range []struct {
		name string
		o    table.WriterOptions
		keys []string
	}{
		{"no entries", table.WriterOptions{}, nil},
		{"no entries, with filter", table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, nil},
		{
			"two blocks, with filter",
			table.WriterOptions{FilterPolicy: filter.NewBloom(10), BlockSize: 32, Compression: table.NoCompression},
			[]string{"apple", "apply", "banana"},
		},
	} {
		fmt.Fprintf(&s, "%s:\n%s\n", tt.name, hex.Dump(build(t, &tt.o, pairsOf(tt.keys...))))
	}
	golden.Text(t, "layout.golden", s.String())
}

func TestAppendRefusesDisorder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ first, second string }{
		{"b", "a"},
		{"b", "b"},
		{"", ""},
		{"b", ""},
		{"aa", "a"},
	} {
		w := newWriter(t, io.Discard, nil)
		if err := w.Append([]byte(tt.first), nil); err != nil {
			t.Fatal(err)
		}
		err := w.Append([]byte(tt.second), nil)
		if want := fmt.Sprintf("%q after %q", tt.second, tt.first); !errors.Is(err, table.ErrOrder) || !strings.Contains(err.Error(), want) {
			t.Errorf("Append(%q) = %v, want ErrOrder with %s", tt.second, err, want)
		}
		if again := w.Append([]byte("z"), nil); again != err {
			t.Errorf("Append after the error = %v, want the error itself", again)
		}
		if closing := w.Close(); closing != err {
			t.Errorf("Close after the error = %v, want the error itself", closing)
		}
	}
}

// The order also holds across a block's border.
func TestAppendRefusesDisorderAcrossBlocks(t *testing.T) {
	t.Parallel()
	w := newWriter(t, io.Discard, &table.WriterOptions{BlockSize: 1})
	if err := w.Append([]byte("b"), nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Append([]byte("a"), nil); !errors.Is(err, table.ErrOrder) {
		t.Errorf("Append = %v, want ErrOrder", err)
	}
}

func TestWriterAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(*table.Writer) error
	}{
		{"Close", (*table.Writer).Close},
		{"Abort", (*table.Writer).Abort},
	} {
		w := newWriter(t, io.Discard, nil)
		if err := tt.end(w); err != nil {
			t.Fatal(err)
		}
		if err := w.Append([]byte("a"), nil); !errors.Is(err, table.ErrClosed) {
			t.Errorf("Append after %s = %v, want ErrClosed", tt.name, err)
		}
		if err := w.Close(); !errors.Is(err, table.ErrClosed) {
			t.Errorf("Close after %s = %v, want ErrClosed", tt.name, err)
		}
		if err := w.Abort(); err != nil {
			t.Errorf("Abort after %s = %v, want nil", tt.name, err)
		}
	}
}

// An engine cuts its tables by what the Writer tells so far.
func TestWriterCounts(t *testing.T) {
	t.Parallel()
	w := newWriter(t, io.Discard, &table.WriterOptions{BlockSize: 64, Compression: table.NoCompression})
	size := int64(0)
	for i, p := range numbered(100) {
		if err := w.Append(p.Key, p.Value); err != nil {
			t.Fatal(err)
		}
		if w.Entries() != i+1 {
			t.Errorf("Entries = %d, want %d", w.Entries(), i+1)
		}
		if w.Size() < size || w.Size() > int64(i+1)*64 {
			t.Errorf("Size = %d after %d entries and %d before", w.Size(), i+1, size)
		}
		size = w.Size()
	}
	if n := w.DataBlocks(); n < 33 || n > 50 {
		t.Errorf("%d data blocks for 100 entries of 30 bytes in blocks of 64", n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Size() <= size {
		t.Errorf("Size = %d after Close, %d before", w.Size(), size)
	}
}

// The caller may change its slices after Append.
func TestAppendKeepsNoSlice(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := newWriter(t, &out, withBloom)
	key := make([]byte, 8)
	for i := range uint64(1000) {
		binary.BigEndian.PutUint64(key, i)
		if err := w.Append(key, key); err != nil {
			t.Fatal(err)
		}
		clear(key)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, out.Bytes(), nil)
	for i := range uint64(1000) {
		binary.BigEndian.PutUint64(key, i)
		if v, err := r.Get(key); err != nil || !bytes.Equal(v, key) {
			t.Fatalf("Get(%x) = %x, %v", key, v, err)
		}
	}
}

// oddComparer orders bytewise, with separators that are given.
type oddComparer struct {
	table.Comparer
	separator, successor string
}

func (c oddComparer) Name() string { return "test.Odd" }
func (c oddComparer) Separator(dst, a, b []byte) []byte {
	return append(dst, c.separator...)
}
func (c oddComparer) Successor(dst, b []byte) []byte {
	return append(dst, c.successor...)
}

func TestWriterChecksSeparators(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		separator, successor string
		want                 string // in the error; "" for none
	}{
		{"b", "d", ""},
		{"bb", "dd", ""},
		{"a", "d", `separator "a"`}, // below the last key
		{"d", "d", `separator "d"`}, // the next key
		{"e", "d", `separator "e"`}, // above it
		{"b", "c", `successor "c"`}, // below the last key
	} {
		o := &table.WriterOptions{Comparer: oddComparer{table.BytewiseComparer, tt.separator, tt.successor}, BlockSize: 1}
		var out bytes.Buffer
		w := newWriter(t, &out, o)
		err := appendAll(w, pairsOf("b", "d"))
		if closing := w.Close(); err == nil {
			err = closing
		}
		if ok := err == nil; ok != (tt.want == "") || !ok && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("separator %q, successor %q: %v; want %q", tt.separator, tt.successor, err, tt.want)
		}
	}
}

func TestWriterRefusesImpossibleOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []table.WriterOptions{
		{BlockSize: -1},
		{BlockSize: 1<<29 + 1},
		{RestartInterval: -1},
		{RestartInterval: math.MinInt},
		{FilterBaseLg: -1},
		{FilterBaseLg: 31},
		{Concurrency: -1},
		{Concurrency: 1025},
	} {
		if w, err := table.NewWriter(io.Discard, &o); err == nil || w != nil {
			t.Errorf("NewWriter(%+v) = %v, %v; want nil and an error", o, w, err)
		}
	}
	if w, err := table.NewWriter(nil, nil); err == nil || w != nil {
		t.Errorf("NewWriter(nil) = %v, %v; want nil and an error", w, err)
	}
}
