package layout_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

var (
	build    = tabletest.Build
	pairsOf  = tabletest.PairsOf
	numbered = tabletest.Numbered

	withBloom = &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}
)

var partLengths = regexp.MustCompile(` \(\d+ bytes\): `)

// textOf returns the text of err, without the lengths of parts of the file.
func textOf(err error) string { return partLengths.ReplaceAllString(fmt.Sprint(err), ": ") }

// version returns the internal key of a value.
func version(user string, sequence uint64) []byte {
	return internalkey.Key{UserKey: []byte(user), Sequence: sequence, Kind: internalkey.Set}.Append(nil)
}

// layoutOf returns the layout of a table.
func layoutOf(t *testing.T, contents []byte) *layout.Layout {
	t.Helper()
	l, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The caller owns the result of ReadBlock: modifying it does not change the table.
func TestReadBlockOfASliceSource(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, numbered(100))
	before := bytes.Clone(contents)
	l, err := table.ReadLayout(table.Bytes(contents), int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []layout.Handle{l.Data[0].Handle, l.Index, l.Metaindex} {
		block, _, err := l.ReadBlock(h)
		if err != nil {
			t.Fatal(err)
		}
		clear(block)
	}
	for _, e := range l.Data {
		clear(e.Separator)
	}
	if !bytes.Equal(before, contents) {
		t.Error("the table has changed")
	}
}

// The blocks of a Layout, with their trailers, fill the file up to the footer.
func TestLayoutHasEveryByte(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Properties: true}, numbered(1000))
	l := layoutOf(t, contents)
	meta, err := l.Meta()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]layout.Handle{}
	for _, m := range meta {
		names[string(m.Name)] = m.Handle
	}
	at := uint64(0)
	follow := func(name string, h layout.Handle) {
		if h.Offset != at {
			t.Errorf("%s is at %d, want it at %d", name, h.Offset, at)
		}
		at = h.Offset + h.Length + 5
	}
	for i, d := range l.Data {
		follow(fmt.Sprint("data block ", i), d.Handle)
	}
	for _, name := range []string{"filter.leveldb.BuiltinBloomFilter2", "fullfilter.rocksdb.BuiltinBloomFilter", "rocksdb.properties"} {
		follow(name, names[name])
	}
	follow("metaindex", l.Metaindex)
	follow("index", l.Index)
	if at != uint64(l.Footer) || l.Footer+48 != int64(len(contents)) {
		t.Errorf("blocks end at %d, footer at %d, file of %d bytes", at, l.Footer, len(contents))
	}
}

// Ends returns the first data block and the last two of Data, even if Data is nil as in Tail, and for a mapped file.
func TestEnds(t *testing.T) {
	t.Parallel()
	for n := range 6 {
		file := filepath.Join(t.TempDir(), "table.ldb")
		contents := build(t, &table.WriterOptions{BlockSize: 1}, numbered(n))
		if err := os.WriteFile(file, contents, 0o600); err != nil {
			t.Fatal(err)
		}
		data := layoutOf(t, contents).Data
		if len(data) != n {
			t.Fatalf("%d data blocks, want %d", len(data), n)
		}
		if n > 3 {
			data = slices.Delete(data, 1, n-2)
		}
		for _, mapped := range []bool{false, true} {
			r, err := table.Open(file, &table.ReaderOptions{Mapped: mapped})
			if err != nil {
				t.Fatal(err)
			}
			l, err := r.Tail()
			if err != nil {
				t.Fatal(err)
			}
			ends, err := l.Ends()
			if diff := cmp.Diff(data, ends, cmpopts.EquateEmpty()); diff != "" || err != nil || l.Data != nil {
				t.Errorf("%d blocks, mapped %t: %v, %d entries in Data, Ends (-want +got):\n%s", n, mapped, err, len(l.Data), diff)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The data blocks contain the pairs, in any order of keys.
func TestLayoutReadsBlocksOfAnyOrder(t *testing.T) {
	t.Parallel()
	pairs := []workload.Pair{{Key: version("a", 9)}, {Key: version("a", 2)}, {Key: version("b", 1)}} // the newer one first
	o := &table.WriterOptions{Comparer: table.InternalComparer(table.BytewiseComparer), BlockSize: 1}
	l := layoutOf(t, build(t, o, pairs))
	var got []workload.Pair
	for _, d := range l.Data {
		contents, compression, err := l.ReadBlock(d.Handle)
		if err != nil || compression != table.NoCompression.ID() {
			t.Fatalf("ReadBlock = %d, %v; want no compression", compression, err)
		}
		b, err := block.Open(contents, block.Order{Func: o.Comparer.Compare})
		if err != nil {
			t.Fatal(err)
		}
		for it := b.NewIter(); it.Next(); {
			got = append(got, workload.Pair{Key: it.Key(), Value: it.Value()})
		}
	}
	if diff := tabletest.DiffPairs(pairs, got); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

func TestLayoutReportsDamage(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10)}, pairsOf("a"))
	l := layoutOf(t, contents)
	end := uint64(l.Footer)
	for _, tt := range []struct {
		h    layout.Handle
		want string
	}{
		{l.Data[0].Handle, "table: data block at 0: checksum mismatch"},
		{l.Metaindex, "table: metaindex block at"},
		{l.Index, "table: index block at"},
		{layout.Handle{Offset: l.Data[0].Length + 5, Length: 19}, "table: meta block at"},
		{layout.Handle{Offset: 0, Length: end}, "table: data block at 0: "},
		{layout.Handle{Offset: end, Length: 1}, fmt.Sprintf("table: meta block at %d: 1 bytes and a trailer", end)},
		{layout.Handle{Offset: 1 << 63, Length: 1 << 63}, "table: meta block at"},
	} {
		if tt.h.Offset < end {
			contents[tt.h.Offset] ^= 1
		}
		_, _, err := l.ReadBlock(tt.h)
		if !errors.Is(err, table.ErrCorrupt) || !strings.HasPrefix(textOf(err), tt.want) {
			t.Errorf("ReadBlock(%v) = %v, want %s", tt.h, err, tt.want)
		}
	}
	if _, err := l.Meta(); !errors.Is(err, table.ErrCorrupt) {
		t.Errorf("Meta of a corrupt metaindex = %v", err)
	}
	got, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), nil)
	if !errors.Is(err, table.ErrCorrupt) || got == nil || got.Metaindex != l.Metaindex || got.Index != l.Index || len(got.Data) > 0 {
		t.Errorf("ReadLayout of a corrupt index = %v, %v, want the footer's contents", got, err)
	}
	contents[len(contents)-1] ^= 1
	if got, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), nil); !errors.Is(err, table.ErrCorrupt) || got != nil {
		t.Errorf("ReadLayout of a corrupt footer = %v, %v", got, err)
	}
}

// If the index is corrupt, the Layout still has the contents of the footer.
func TestLayoutWithoutIndex(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), Properties: true}, numbered(100))
	want := layoutOf(t, contents)
	contents[want.Index.Offset] ^= 1
	got, _ := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), nil)
	wantMeta, err := want.Meta()
	if err != nil {
		t.Fatal(err)
	}
	gotMeta, err := got.Meta()
	if diff := cmp.Diff(wantMeta, gotMeta); err != nil || diff != "" {
		t.Errorf("Meta: %v (-want +got):\n%s", err, diff)
	}
	if f, err := got.Filters(); err != nil || f.Blocks == nil {
		t.Errorf("Filters = %v, %v", f, err)
	}
	if _, _, err := got.ReadBlock(want.Data[0].Handle); err != nil {
		t.Errorf("ReadBlock = %v", err)
	}
}

// Options for reading blocks apply to a Layout too.
func TestLayoutOptions(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairsOf("a"))
	size := int64(len(contents))
	if _, err := table.ReadLayout(bytes.NewReader(contents), size, &table.ReaderOptions{MaxBlockSize: -1}); err == nil {
		t.Error("ReadLayout takes a negative MaxBlockSize")
	}
	contents[0] ^= 1
	l, err := table.ReadLayout(bytes.NewReader(contents), size, &table.ReaderOptions{SkipChecksums: true})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := l.ReadBlock(l.Data[0].Handle)
	if diff := cmp.Diff(contents[:len(got)], got); err != nil || diff != "" {
		t.Errorf("ReadBlock = %v (-want +got):\n%s", err, diff)
	}
}

// Filters returns the filters that a Reader checks, whatever else the metaindex lists.
func TestLayoutFilters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		o             table.WriterOptions
		blocks, whole string
		err           string
	}{
		{"none", table.WriterOptions{}, "", "", ""},
		{"both", table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)},
			"filter.leveldb.BuiltinBloomFilter", "fullfilter.rocksdb.BuiltinBloomFilter", ""},
		{"another name", table.WriterOptions{FilterPolicy: filter.Rename(filter.NewBloom(10), "leveldb.BuiltinBloomFilterX"), TableFilterPolicy: filter.NewTableBloom(10)},
			"", "fullfilter.rocksdb.BuiltinBloomFilter", `table: filter "leveldb.BuiltinBloomFilterX": no policy of that name in the options`},
	} {
		f, err := layoutOf(t, build(t, &tt.o, pairsOf("a", "b"))).Filters()
		if got := fmt.Sprint(err); err != nil && got != tt.err || err == nil && tt.err != "" {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
		}
		if string(f.BlocksEntry.Name) != tt.blocks || string(f.TableEntry.Name) != tt.whole || (f.Blocks != nil) != (tt.blocks != "") || (f.Table != nil) != (tt.whole != "") {
			t.Errorf("%s: %q and %q, want %q and %q", tt.name, f.BlocksEntry.Name, f.TableEntry.Name, tt.blocks, tt.whole)
		}
		if f.Blocks != nil && !f.Blocks.Contains(0, []byte("a")) || f.Table != nil && !f.Table.Contains([]byte("a")) {
			t.Errorf("%s: a filter rules out a key", tt.name)
		}
	}
}

// ReadLayout and its Layout return errors of the source.
func TestLayoutOfUnreadableFile(t *testing.T) {
	t.Parallel()
	contents := build(t, withBloom, numbered(100))
	cause := errors.New("disk on fire")
	for good := range 6 {
		reads := 0
		src := tabletest.ReadAtFunc(func(p []byte, off int64) (int, error) {
			if reads++; reads > good {
				return 0, cause
			}
			return bytes.NewReader(contents).ReadAt(p, off)
		})
		l, err := table.ReadLayout(src, int64(len(contents)), nil)
		if err == nil {
			_, _, err = l.TailSum()
		}
		if !errors.Is(err, cause) {
			t.Errorf("after %d reads: %v, want %v", good, err, cause)
		}
	}
}
