package goleveldb_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb/opt"
	ltable "github.com/syndtr/goleveldb/leveldb/table"

	"github.com/sievetable/sievetable/table/goleveldb"
)

// Both packages write the same bytes if tables are not compressed, and count alike at each step.
// goleveldb reads our compressed tables.
func TestWriter(t *testing.T) {
	t.Parallel()
	for _, c := range tableCases() {
		for _, n := range []int{1, 2, 300} {
			entries := c.entries(n)
			var ours, theirs bytes.Buffer
			a, b := goleveldb.NewWriter(&ours, &c.o, nil, 0), ltable.NewWriter(&theirs, &c.o, nil, 0)
			raw := c.o.Compression == opt.NoCompression
			for _, e := range entries {
				if err := errors.Join(a.Append(e.key, e.value), b.Append(e.key, e.value)); err != nil {
					t.Fatalf("%s: Append(%q): %v", c.name, e.key, err)
				}
				compareCounts(t, c.name, a, b, raw)
			}
			if err := errors.Join(a.Close(), b.Close()); err != nil {
				t.Fatalf("%s: Close: %v", c.name, err)
			}
			compareCounts(t, c.name, a, b, raw)
			if raw && !bytes.Equal(ours.Bytes(), theirs.Bytes()) {
				t.Errorf("%s, %d entries: %d bytes are not goleveldb's %d bytes", c.name, n, ours.Len(), theirs.Len())
			}
			r, err := ltable.NewReader(bytes.NewReader(ours.Bytes()), int64(ours.Len()), fd, nil, nil, &c.o)
			if err != nil {
				t.Fatalf("%s: goleveldb: %v", c.name, err)
			}
			if diff := cmp.Diff(entries, scan(t, r), cmp.AllowUnexported(entry{})); diff != "" {
				t.Errorf("%s: what goleveldb reads (-want +got):\n%s", c.name, diff)
			}
		}
	}
}

// compareCounts compares what two Writers count.
func compareCounts(t *testing.T, name string, ours, theirs writer, bytes bool) {
	t.Helper()
	got := [3]int{ours.EntriesLen(), ours.BlocksLen(), ours.BytesLen()}
	want := [3]int{theirs.EntriesLen(), theirs.BlocksLen(), theirs.BytesLen()}
	if !bytes {
		got[2], want[2] = 0, 0
	}
	if got != want {
		t.Fatalf("%s: %d entries, %d blocks, %d bytes, want %d", name, got[0], got[1], got[2], want)
	}
}

// scan returns the entries of a table.
func scan(t *testing.T, r reader) (entries []entry) {
	t.Helper()
	it := r.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		entries = append(entries, entry{bytes.Clone(it.Key()), append([]byte{}, it.Value()...)})
	}
	if err := it.Error(); err != nil {
		t.Error(err)
	}
	return entries
}

// What a Writer cannot do is an error of Append and Close, also later.
func TestWriterErrors(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	for _, tt := range []struct {
		name string
		w    func() *goleveldb.Writer
		want string
	}{
		{"after Close", func() *goleveldb.Writer {
			w := goleveldb.NewWriter(io.Discard, nil, nil, 0)
			write(t, w, nil)
			return w
		}, "table: closed"},
		{"an impossible option", func() *goleveldb.Writer {
			return goleveldb.NewWriter(io.Discard, &opt.Options{FilterBaseLg: 31}, nil, 0)
		}, "table: FilterBaseLg is 31, want 0 to 30"},
		{"no file", func() *goleveldb.Writer { return goleveldb.NewWriter(nil, nil, nil, 0) }, "table: the io.Writer is nil"},
	} {
		w := tt.w()
		for _, err := range []error{w.Append([]byte("a"), nil), w.Close(), w.Append([]byte("b"), nil)} {
			if err == nil || err.Error() != tt.want {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
			}
		}
		if got := w.BlocksLen() + w.EntriesLen(); got != 0 {
			t.Errorf("%s: %d blocks and entries", tt.name, got)
		}
	}
	w := goleveldb.NewWriter(failingWriter{full}, nil, nil, 0)
	if err := errors.Join(w.Append([]byte("b"), nil), w.Close()); !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
	w = goleveldb.NewWriter(io.Discard, nil, nil, 0)
	if err := errors.Join(w.Append([]byte("b"), nil), w.Append([]byte("a"), nil)); err == nil {
		t.Error("a key out of order is no error")
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
