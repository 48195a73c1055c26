//go:build unix

package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
	"github.com/sievetable/sievetable/table/merge"
)

// What needs a mapped file that was cut has an error, and does not fault: also what tools use.
func TestToolsOnMappedFileThatIsCut(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{Properties: true, DataDigest: true, FilterPolicy: withBloom.FilterPolicy, Compression: table.NoCompression}, numbered(5000))
	for name, use := range map[string]func(r *table.Reader, l *layout.Layout) error{
		"Properties": func(r *table.Reader, _ *layout.Layout) error { return errorOf(r.Properties()) },
		"Layout":     func(r *table.Reader, _ *layout.Layout) error { return errorOf(r.Layout()) },
		"FirstKey":   func(r *table.Reader, _ *layout.Layout) error { return errorOf(r.FirstKey()) },
		"Locate":     func(r *table.Reader, _ *layout.Layout) error { return errorOf(r.Locate([]byte("key000002"))) },
		"Meta":       func(_ *table.Reader, l *layout.Layout) error { return errorOf(l.Meta()) },
		"Filters":    func(_ *table.Reader, l *layout.Layout) error { return errorOf(l.Filters()) },
		"ReadBlock":  func(_ *table.Reader, l *layout.Layout) error { _, _, err := l.ReadBlock(l.Data[3].Handle); return err },
		"TailSum":    func(_ *table.Reader, l *layout.Layout) error { _, _, err := l.TailSum(); return err },
	} {
		file := writeMapped(t, contents)
		r := openMapped(t, file, table.ReaderOptions{})
		l, err := r.Layout()
		if err != nil {
			t.Fatal(err)
		}
		it := r.NewIter(nil)
		it.First()
		if err := os.Truncate(file, 0); err != nil {
			t.Fatal(err)
		}
		if err := use(r, l); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v, want io.ErrUnexpectedEOF", name, err)
		} else if strings.Count(err.Error(), "table: ") != 1 {
			t.Errorf("%s: %v, want one prefix", name, err)
		}
		if it.Block() != (layout.Handle{}) || !mayContain(r, []byte("key000002")) || r.ApproximateOffset([]byte("key000002")) != 0 {
			t.Errorf("%s: Block, MayContain or ApproximateOffset know what is in a file that was cut", name)
		}
	}
}

// Values that an Iter of a mapped file is at stay when the file is cut.
func TestIteratorsOnMappedFileThatIsCut(t *testing.T) {
	t.Parallel()
	var contents bytes.Buffer
	c := table.InternalComparer(nil)
	w, err := table.NewWriter(&contents, &table.WriterOptions{Compression: table.NoCompression, Comparer: c})
	if err != nil {
		t.Fatal(err)
	}
	value := bytes.Repeat([]byte("v"), 50)
	for i := range 5000 {
		key := table.InternalKey{UserKey: fmt.Appendf(nil, "k%06d", i), Sequence: 5, Kind: table.KindSet}.Append(nil)
		if err := w.Append(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := writeMapped(t, contents.Bytes())
	r := openMapped(t, file, table.ReaderOptions{Comparer: c})
	it, s := r.NewIter(nil), merge.NewSnapshotIter(nil, r.NewIter(nil), table.MaxSequence)
	if !it.First() || !s.Last() {
		t.Fatal(it.Error(), s.Error())
	}
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(it.Value(), value) || !bytes.Equal(s.Value(), value) {
		t.Errorf("values %q and %q, want %q", it.Value(), s.Value(), value)
	}
	for s.Prev() {
	}
	if !errors.Is(s.Error(), io.ErrUnexpectedEOF) {
		t.Errorf("Prev ends with %v, want io.ErrUnexpectedEOF", s.Error())
	}
}

// A cuttingOrder calls a function in the comparison that is left until then.
type cuttingOrder struct {
	table.Comparer
	left *int
	cut  func()
}

func (o cuttingOrder) Compare(a, b []byte) int {
	if *o.left--; *o.left == 0 {
		o.cut()
	}
	return o.Comparer.Compare(a, b)
}

// A file that is cut within its last page, at any comparison of a lookup: a value that is returned is the
// right one. When the file is whole again, so are the answers, also those from a Cache.
func TestMappedFileThatIsCutInALookup(t *testing.T) {
	t.Parallel()
	pairs := numbered(5)
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs)
	want := pairs[3]
	for way, look := range map[string]func(r *table.Reader) ([]byte, error){
		"Get":       func(r *table.Reader) ([]byte, error) { return r.Get(want.Key) },
		"AppendGet": func(r *table.Reader) ([]byte, error) { return r.AppendGet(make([]byte, 0, 99), want.Key) },
		"FindGE":    func(r *table.Reader) ([]byte, error) { _, v, err := r.FindGE(want.Key); return v, err },
		"GetMany": func(r *table.Reader) (v []byte, err error) {
			keys := [][]byte{want.Key, pairs[1].Key}
			if err = r.GetMany(t.Context(), keys, nil, func(i int, value []byte) error {
				if i == 0 {
					v = bytes.Clone(value)
				}
				return nil
			}); err == nil && v == nil {
				err = table.ErrNotFound
			}
			return v, err
		},
		"SeekGE": func(r *table.Reader) ([]byte, error) {
			it := r.NewIter(nil)
			it.SeekGE(want.Key)
			v := bytes.Clone(it.Value())
			return v, errors.Join(it.Close(), map[bool]error{false: table.ErrNotFound}[v != nil])
		},
	} {
		for n := range 2 * 20 {
			name, left := writeMapped(t, contents), 0
			o := table.ReaderOptions{Comparer: cuttingOrder{table.BytewiseComparer, &left, func() { os.Truncate(name, 20) }}}
			if n%2 == 0 {
				o.Cache = table.NewCache(1 << 20)
			}
			r := openMapped(t, name, o)
			if err := r.FilterErr(); err != nil { // opens the table
				t.Fatal(err)
			}
			left = 1 + n/2
			if v, err := look(r); err == nil && !bytes.Equal(v, want.Value) {
				t.Errorf("cut in comparison %d, with Cache %v: %s = %q, want %q or an error", 1+n/2, n%2 == 0, way, v, want.Value)
			}
			left = 0
			rewrite(t, name, contents)
			checkLookups(t, r, pairs)
		}
	}
}

// rewrite writes contents to the file, which stays the same file.
func rewrite(t *testing.T, name string, contents []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write(contents)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
