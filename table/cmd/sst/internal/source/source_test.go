package source

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/internalkey"
)

const (
	golden    = "../../../../../testdata"
	databases = "../../../../testdata/databases"
)

func open(t *testing.T, path string, o dbfile.Options) *dbfile.File {
	t.Helper()
	f, err := dbfile.Open(path, o)
	noError(t, err)
	t.Cleanup(func() { noError(t, f.Close()) })
	return f
}

// Tables that engines wrote outside of databases are not taken for database tables, and all tables of databases
// are.
func TestInternalKeysAreFoundOut(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]bool{golden + "/goleveldb": false, golden + "/leveldb": false, golden + "/sievetable": false, databases: true} {
		d, err := dbdir.ListDir(dir, dbdir.ListOptions{})
		noError(t, err)
		for _, l := range d.Tables {
			if f := open(t, l.Path, dbfile.Options{}); f.Internal != want || f.FilterUnusable {
				t.Errorf("%s: internal %v, opaque %v; want %v, false", l.Path, f.Internal, f.FilterUnusable, want)
			}
		}
	}
}

// internal returns an internal key with a value.
func internal(user string, sequence uint64) string {
	return string(internalkey.Key{UserKey: []byte(user), Sequence: sequence, Kind: internalkey.Set}.Append(nil))
}

// Keys that only look like internal keys are recognized by the filter or, without one, by their order. So are
// internal keys that look like plain keys, or are in another order.
func TestInternalKeysThatAreHardToTell(t *testing.T) {
	t.Parallel()
	bigEndian := []string{"\x00\x00\x00\x00\x00\x00\x00\x01", "\x00\x00\x00\x00\x00\x00\x00\x02", "\x00\x00\x00\x00\x00\x00\x01\x00"}
	bloom := filter.NewBloom(20)
	inOrder := table.InternalComparer(table.BytewiseComparer)
	anyOrder, reversed := table.WriterOptions{Comparer: table.AnyOrder}, []string{internal("c", 3), internal("b", 2), internal("a", 1)}
	for _, tt := range []struct {
		name             string
		o                table.WriterOptions
		keys             []string
		internal, opaque bool
		unordered        bool // not in bytewise order
	}{
		{"numbers, without filter", table.WriterOptions{}, bigEndian, false, false, false},
		{"numbers, with filter", table.WriterOptions{FilterPolicy: bloom}, bigEndian, false, false, false},
		{"versions, without filter", table.WriterOptions{Comparer: inOrder}, []string{internal("a", 5), internal("a", 4)}, true, false, false},
		{"versions, with filter", table.WriterOptions{Comparer: inOrder, FilterPolicy: bloom, FilterKey: internalkey.UserKey}, []string{internal("a", 5), internal("a", 4)}, true, false, false},
		{"versions, with a table filter", table.WriterOptions{Comparer: inOrder, TableFilterPolicy: filter.NewTableBloom(20), FilterKey: internalkey.UserKey}, []string{internal("a", 5), internal("b", 4)}, true, false, false},
		{"internal keys that the filter has whole", table.WriterOptions{FilterPolicy: bloom}, []string{internal("a", 5), internal("b", 4)}, false, false, false},
		{"a filter of something else", table.WriterOptions{FilterPolicy: bloom, FilterKey: func(key []byte) []byte { return key[:1] }}, []string{"apple", "banana"}, false, true, false},
		{"sequences of no living database", table.WriterOptions{Comparer: inOrder, FilterPolicy: bloom, FilterKey: internalkey.UserKey}, []string{internal("a", 1<<50), internal("b", 4)}, true, false, false},
		{"kinds of other engines", anyOrder, []string{"a\x02\x05\x00\x00\x00\x00\x00\x00", internal("b", 4)}, true, false, false}, // a merge operand; no separator is shortened
		{"no keys", table.WriterOptions{}, nil, false, false, false},
		{"in reverse", anyOrder, reversed, true, false, true},
		{"two versions in reverse", anyOrder, []string{internal("b", 2), internal("a", 9), internal("a", 1)}, true, false, true},
		{"others in reverse", anyOrder, []string{"c", "b", "a"}, false, false, true},
		{"in order", anyOrder, []string{internal("a", 1), internal("b", 2)}, true, false, false},
		{"in order as they are", anyOrder, []string{internal("a", 1), internal("a", 2)}, false, false, false},
		{"some others, in no order", anyOrder, append(slices.Clone(reversed), "x"), false, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.ldb")
			filetest.WriteTable(t, path, tt.o, tt.keys...)
			f := open(t, path, dbfile.Options{})
			if f.Internal != tt.internal || f.FilterUnusable != tt.opaque || (f.Order == table.AnyOrder) != tt.unordered {
				t.Errorf("internal %v, opaque %v, order %s; want %v, %v, not bytewise %v", f.Internal, f.FilterUnusable, f.Order.Name(), tt.internal, tt.opaque, tt.unordered)
			}
		})
	}
}

// counter counts reads of a file.
type counter struct {
	io.ReaderAt
	reads, bytes int
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, off)
}

// Explain reports exactly the reads that happened, and the filters that avoided reads.
func TestExplainAgreesWithReads(t *testing.T) {
	t.Parallel()
	for _, path := range []string{golden + "/goleveldb/100k.ldb", golden + "/leveldb/snappy-100k.ldb", databases + "/goleveldb.ldb"} {
		var c counter
		f := open(t, path, dbfile.Options{WrapReader: func(r io.ReaderAt) io.ReaderAt {
			c.ReaderAt = r
			return &c
		}})
		s := openSource(t, path, Options{})
		ruledOut, n := 0, 0
		for e, err := range s.Scan(ScanOptions{}) {
			noError(t, err)
			if n++; n > 2000 {
				break
			}
			checkPath(t, f, &c, e.Key, true)
			if checkPath(t, f, &c, append(bytes.Clone(e.Key), '~'), false).BlockFilter == dbfile.Absent {
				ruledOut++
			}
		}
		if ruledOut < n/2 {
			t.Errorf("%s: filters ruled out %d of %d absent keys", path, ruledOut, n)
		}
	}
}

func checkPath(t *testing.T, f *dbfile.File, c *counter, key []byte, present bool) dbfile.LookupTrace {
	t.Helper()
	reads, size := c.reads, c.bytes
	p, err := f.Explain(bytes.Clone(key))
	noError(t, err)
	got := fmt.Sprintf("found %v, %d reads of %d bytes", p.Found, p.BlocksRead, p.BytesRead)
	want := fmt.Sprintf("found %v, %d reads of %d bytes", present, c.reads-reads, c.bytes-size-(c.reads-reads)*format.TrailerLen)
	if got != want || p.BlockFilter == dbfile.Absent && p.BlocksRead > 0 || present && (p.BlockFilter != dbfile.MayContain || p.BlocksRead != 1) {
		t.Fatalf("Explain(%q): %s, filter %v; want %s", key, got, p.BlockFilter, want)
	}
	return p
}
