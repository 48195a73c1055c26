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

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
	"github.com/sievetable/sievetable/table/merge"
)

// If a mapped file was cut, every use returns an error and does not fault, including the methods for tools.
func TestToolsOnMappedFileThatIsCut(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{Properties: true, DataDigest: true, FilterPolicy: withBloom.FilterPolicy, Compression: table.NoCompression}, numbered(5000))
	for name, use := range map[string]func(r *table.Reader, l *layout.Layout) error{
		"Properties": func(r *table.Reader, _ *layout.Layout) error { return errorOf(r.Properties()) },
		"Layout":     func(r *table.Reader, _ *layout.Layout) error { return errorOf(r.Layout()) },
		"VerifyKeys": func(r *table.Reader, _ *layout.Layout) error {
			return errorOf(r.VerifyKeys(func([]byte, uint64, uint64) {}))
		},
		"Locate": func(r *table.Reader, _ *layout.Layout) error { return errorOf(r.Locate([]byte("key000002"))) },
		"Ends": func(r *table.Reader, _ *layout.Layout) error {
			l, err := r.Tail()
			noError(t, err)
			return errorOf(l.Ends())
		},
		"Meta":      func(_ *table.Reader, l *layout.Layout) error { return errorOf(l.Meta()) },
		"Filters":   func(_ *table.Reader, l *layout.Layout) error { return errorOf(l.Filters()) },
		"ReadBlock": func(_ *table.Reader, l *layout.Layout) error { _, _, err := l.ReadBlock(l.Data[3].Handle); return err },
		"TailSum":   func(_ *table.Reader, l *layout.Layout) error { _, _, err := l.TailSum(); return err },
	} {
		file := writeTable(t, contents)
		r := openMapped(t, file, table.ReaderOptions{})
		l, err := r.Layout()
		noError(t, err)
		it := r.NewIter(nil)
		it.First()
		noError(t, os.Truncate(file, 0))
		if err := use(r, l); !errors.Is(err, io.ErrUnexpectedEOF) || strings.Count(err.Error(), "table: ") != 1 {
			t.Errorf("%s: %v, want io.ErrUnexpectedEOF, with one prefix", name, err)
		}
		if it.Block() != (layout.Handle{}) || !mayContain(r, []byte("key000002")) || r.ApproximateOffset([]byte("key000002")) != 0 {
			t.Errorf("%s: Block, MayContain or ApproximateOffset know what is in a file that was cut", name)
		}
	}
}

// The current value of an Iter of a mapped file remains when the file is cut.
func TestIteratorsOnMappedFileThatIsCut(t *testing.T) {
	t.Parallel()
	value := bytes.Repeat([]byte("v"), 50)
	var pairs []workload.Pair
	for i := range 5000 {
		pairs = append(pairs, workload.Pair{Key: internalKey(fmt.Sprintf("k%06d", i), 5, internalkey.Set), Value: value})
	}
	file := writeTable(t, build(t, &table.WriterOptions{Compression: table.NoCompression, Comparer: internalOrder}, pairs))
	r := openMapped(t, file, table.ReaderOptions{Comparer: internalOrder})
	it, s := r.NewIter(nil), merge.NewSnapshotIter(nil, r.NewIter(nil), internalkey.MaxSequence)
	if !it.First() || !s.Last() {
		t.Fatal(it.Error(), s.Error())
	}
	noError(t, os.Truncate(file, 0))
	if !bytes.Equal(it.Value(), value) || !bytes.Equal(s.Value(), value) {
		t.Errorf("values %q and %q, want %q", it.Value(), s.Value(), value)
	}
	for s.Prev() {
	}
	checkError(t, "Prev", s.Error(), io.ErrUnexpectedEOF, "")
}

// If a file is cut within its last page, at any comparison of a lookup, a returned value is right. When the file is
// whole again, so are all results, including cached ones.
func TestMappedFileThatIsCutInALookup(t *testing.T) {
	t.Parallel()
	pairs := numbered(5)
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, pairs)
	want := pairs[3]
	for way, look := range lookups {
		for n := range 2 * 20 {
			name, left := writeTable(t, contents), 0
			cutting := noOrder{Comparer: table.BytewiseComparer, Func: func(a, b []byte) int {
				if left--; left == 0 {
					os.Truncate(name, 20)
				}
				return bytes.Compare(a, b)
			}}
			o := table.ReaderOptions{Comparer: cutting}
			if n%2 == 0 {
				o.Cache = table.NewCache(1 << 20)
			}
			r := openMapped(t, name, o)
			noError(t, r.FilterErr()) // opens the table
			left = 1 + n/2
			if v, err := look(r, want.Key); err == nil && !bytes.Equal(v, want.Value) {
				t.Errorf("cut in comparison %d, with Cache %v: %s = %q, want %q or an error", 1+n/2, n%2 == 0, way, v, want.Value)
			}
			left = 0
			noError(t, os.WriteFile(name, contents, 0o600)) // the same file
			checkLookups(t, r, pairs)
		}
	}
}
