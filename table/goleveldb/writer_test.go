package goleveldb_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	ltable "github.com/syndtr/goleveldb/leveldb/table"

	"github.com/sievetable/sievetable/table/goleveldb"
)

// Both packages write the same bytes for uncompressed tables, and return the same counts at each step. goleveldb
// reads our compressed tables.
func TestWriterBytesAsGoleveldb(t *testing.T) {
	t.Parallel()
	for _, c := range tableCases() {
		for _, n := range []int{1, 2, 300} {
			entries := c.entries(n)
			var ours, theirs bytes.Buffer
			a, b := goleveldb.NewWriter(&ours, &c.o, nil, 0), theirWriter(&theirs, &c.o)
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

// compareCounts compares the counts of two Writers.
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
		entries = append(entries, entryAt(it))
	}
	if err := it.Error(); err != nil {
		t.Error(err)
	}
	return entries
}

// entryAt returns a copy of the entry that an iterator is at.
func entryAt(it iterator.Iterator) entry {
	return entry{bytes.Clone(it.Key()), append([]byte{}, it.Value()...)}
}

// An invalid argument of NewWriter is the error of all calls. goleveldb accepts it, or panics.
func TestWriterRefusesArguments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		w    *goleveldb.Writer
		want string
	}{
		{"an impossible option", goleveldb.NewWriter(io.Discard, &opt.Options{BlockSize: 1 << 30}, nil, 0), "leveldb/table: Writer: BlockSize is 1073741824, not 0 to 536870912"},
		{"no file", goleveldb.NewWriter(nil, nil, nil, 0), "leveldb/table: nil file"},
	} {
		for _, err := range []error{tt.w.Append([]byte("a"), nil), tt.w.Close(), tt.w.Append([]byte("b"), nil)} {
			if err == nil || err.Error() != tt.want {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
			}
		}
		if got := tt.w.BlocksLen() + tt.w.EntriesLen() + tt.w.BytesLen(); got != 0 {
			t.Errorf("%s: %d blocks, entries and bytes", tt.name, got)
		}
	}
}
