package table_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// Locate names the data block that a lookup reads, and reads nothing.
func TestLocateNamesTheBlockOfALookup(t *testing.T) {
	t.Parallel()
	pairs := numbered(500)
	contents := build(t, &table.WriterOptions{BlockSize: 500, FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}, pairs)
	r, s := openStore(t, contents, nil)
	for _, p := range pairs {
		h, err := r.Locate(p.Key)
		if err != nil || len(s.reads) > 0 {
			t.Fatalf("Locate(%q) = %v, %v after %d reads", p.Key, h, err, len(s.reads))
		}
		if _, err := r.Get(p.Key); err != nil {
			t.Fatal(err)
		}
		if want := [2]int64{int64(h.Offset), int64(h.Offset + h.Length + 5)}; len(s.reads) != 1 || s.reads[0] != want {
			t.Fatalf("Get(%q) reads %v, want %v", p.Key, s.reads, want)
		}
		s.reads = nil
	}
}

// Locate finds nothing where filters or the index rule a key out, or where Get has another
// error without a read.
func TestLocateWithoutABlock(t *testing.T) {
	t.Parallel()
	pairs := numbered(500)
	contents := build(t, withBloom, pairs)
	closed := open(t, contents, nil)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	absent := append(bytes.Clone(pairs[7].Key), '~')
	for _, tt := range []struct {
		name string
		r    *table.Reader
		key  []byte
		want error
	}{
		{"ruled out by the filter", open(t, contents, nil), absent, table.ErrNotFound},
		{"no filter", open(t, contents, &table.ReaderOptions{IgnoreFilter: true}), absent, nil},
		{"> all separators", open(t, contents, nil), []byte("z"), table.ErrNotFound},
		{"closed", closed, pairs[7].Key, table.ErrClosed},
		{"filter only", open(t, filterOnly(t, pairs), nil), pairs[7].Key, table.ErrFilterOnly},
		{"filter only, ruled out", open(t, filterOnly(t, pairs), nil), absent, table.ErrNotFound},
	} {
		h, err := tt.r.Locate(tt.key)
		if !errors.Is(err, tt.want) || (err == nil) != (h.Length > 0) {
			t.Errorf("%s: Locate = %v, %v; want %v", tt.name, h, err, tt.want)
		}
	}
}
