//go:build unix

package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// What needs a mapped file that was cut has an error, and does not fault: also what tools use.
func TestToolsOnMappedFileThatIsCut(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{Properties: true, DataDigest: true, FilterPolicy: withBloom.FilterPolicy, Compression: table.NoCompression}, numbered(5000))
	for name, use := range map[string]func(r *table.Reader, l *table.Layout) error{
		"Properties": func(r *table.Reader, _ *table.Layout) error { return errorOf(r.Properties()) },
		"Layout":     func(r *table.Reader, _ *table.Layout) error { return errorOf(r.Layout()) },
		"FirstKey":   func(r *table.Reader, _ *table.Layout) error { return errorOf(r.FirstKey()) },
		"Locate":     func(r *table.Reader, _ *table.Layout) error { return errorOf(r.Locate([]byte("key000002"))) },
		"Meta":       func(_ *table.Reader, l *table.Layout) error { return errorOf(l.Meta()) },
		"Filters":    func(_ *table.Reader, l *table.Layout) error { return errorOf(l.Filters()) },
		"ReadBlock":  func(_ *table.Reader, l *table.Layout) error { _, _, err := l.ReadBlock(l.Data[3].Handle); return err },
		"TailSum":    func(_ *table.Reader, l *table.Layout) error { _, _, err := l.TailSum(); return err },
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
		}
		if it.Block() != (table.Handle{}) || !r.MayContain([]byte("key000002")) || r.ApproximateOffset([]byte("key000002")) != 0 {
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
	it, s := r.NewIter(nil), table.NewSnapshotIter(nil, r.NewIter(nil), table.MaxSequence)
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
