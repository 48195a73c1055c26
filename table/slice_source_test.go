package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// A faultySource hands out its bytes, but fails if broken is set.
type faultySource struct {
	table.Bytes
	broken atomic.Bool
}

func (s *faultySource) ReadAt(p []byte, off int64) (int, error) {
	if s.broken.Load() {
		return 0, errBroken
	}
	return s.Bytes.ReadAt(p, off)
}

func (s *faultySource) Slice(off int64, n int) ([]byte, error) {
	if s.broken.Load() {
		return nil, errBroken
	}
	return s.Bytes.Slice(off, n)
}

// openFaulty opens a table with the keys of numbered(100), of which the footer was read. Its source
// is broken from now on.
func openFaulty(t *testing.T) (*table.Reader, *faultySource) {
	t.Helper()
	contents := build(t, withBloom, numbered(100))
	src := &faultySource{Bytes: contents}
	r, err := table.NewReader(src, int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	src.broken.Store(true)
	return r, src
}

// If a table cannot be opened at its first use, all lookups and Iters return the error, until it can.
// None says that a key is absent.
func TestTableThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	r, src := openFaulty(t)
	key := []byte("key000050")
	for name, lookup := range map[string]func() error{
		"Get":        func() error { _, err := r.Get(key); return err },
		"AppendGet":  func() error { _, err := r.AppendGet(nil, key); return err },
		"Find":       func() error { _, _, err := r.Find(key); return err },
		"FindGE":     func() error { _, _, err := r.FindGE(key); return err },
		"Locate":     func() error { _, err := r.Locate(key); return err },
		"FirstKey":   func() error { _, err := r.FirstKey(); return err },
		"Properties": func() error { _, err := r.Properties(); return err },
		"Layout":     func() error { _, err := r.Layout(); return err },
		"Verify":     r.Verify,
		"FilterErr":  r.FilterErr,
		"GetMany": func() error {
			return r.GetMany(context.Background(), [][]byte{key}, nil, func(int, []byte) error { return nil })
		},
		"Iter": func() error {
			it := r.NewIter(&table.IterOptions{Lower: key})
			for _, ok := range []bool{it.First(), it.Last(), it.SeekGE(key), it.SeekLT(key), it.Next()} {
				if ok {
					return nil
				}
			}
			return it.Close()
		},
	} {
		if err := lookup(); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v, want %v", name, err, errBroken)
		}
	}
	if !r.MayContain([]byte("z")) {
		t.Error("MayContain denies a key of a table that it cannot read")
	}
	src.broken.Store(false)
	if _, err := r.Get(key); err != nil {
		t.Errorf("when the source works again: %v", err)
	}
}

// What ReadBlock returns is the caller's: to change it changes no table.
func TestReadBlockOfASliceSource(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{Compression: table.NoCompression}, numbered(100))
	before := bytes.Clone(contents)
	l, err := table.ReadLayout(table.Bytes(contents), int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []table.Handle{l.Data[0].Handle, l.Index, l.Metaindex} {
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

// An index that changes while its search tree is built has wrong answers at most. The keys that are
// asked are shorter than what all separators of one index or the other begin with.
func TestIndexThatChangesWhileItIsBuilt(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	var f rawtable.File
	var handles []string
	for range 3000 {
		handles = append(handles, f.Block(rawtable.Entries("k", "v")))
	}
	indexOf := func(prefix string) string {
		var entries []string
		for i, h := range handles {
			entries = append(entries, fmt.Sprintf("%s%06d", prefix, i), h)
		}
		return rawtable.Entries(entries...)
	}
	metaindex := f.Block(rawtable.Entries())
	one, two, at := indexOf("aaaaaaaaaaaa"), indexOf("cccccccccccc"), len(f.Bytes)
	contents := f.Footer(metaindex, f.Block(one))
	for range 30 {
		copy(contents[at:], one)
		r, err := table.NewReader(table.Bytes(contents), int64(len(contents)), &table.ReaderOptions{SkipChecksums: true})
		if err != nil {
			t.Fatal(err)
		}
		r.MayContain(nil) // opens it
		ready, stop, stopped := make(chan bool), make(chan bool), make(chan bool)
		go func() {
			defer close(stopped)
			close(ready)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					copy(contents[at:], []string{one, two}[i%2])
				}
			}
		}()
		<-ready
		for i := 0; i < 20 && !r.BuildIndex(); i++ {
		}
		close(stop)
		<-stopped
		for _, key := range []string{"", "a", "aa", "ab", "b", "c", "cc", "cd", "d", "aaaaaaaaaaaa0", "cccccccccccc0"} {
			r.Get([]byte(key))
		}
	}
}

// A failingSlices hands out bytes, but ReadAt fails.
type failingSlices struct{ table.Bytes }

func (failingSlices) ReadAt([]byte, int64) (int, error) { return 0, errRead }

// A footer that cannot be read is an error, also of a source that hands out its bytes: the error of the
// source, or the end of a file that is shorter than was said.
func TestUnreadableFooter(t *testing.T) {
	t.Parallel()
	contents := build(t, nil, numbered(100))
	size := int64(len(contents))
	name := filepath.Join(t.TempDir(), "t.ldb")
	if err := os.WriteFile(name, contents, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, tt := range []struct {
		name string
		src  io.ReaderAt
		size int64
		want error
	}{
		{"read", bytes.NewReader(contents), size + 100, io.ErrUnexpectedEOF},
		{"bytes", table.Bytes(contents), size + 100, io.ErrUnexpectedEOF},
		{"bytes, far behind the end", table.Bytes(contents), math.MaxInt64, io.ErrUnexpectedEOF},
		{"bytes that cannot be read", failingSlices{contents}, size, errRead},
		{"mapped", table.MapFile(f, size+1_000_000), size + 1_000_000, io.ErrUnexpectedEOF},
	} {
		if tt.src == nil {
			continue // it cannot be mapped here
		}
		if _, err := table.NewReader(tt.src, tt.size, nil); !errors.Is(err, tt.want) {
			t.Errorf("%s: NewReader = %v, want %v", tt.name, err, tt.want)
		}
	}
}
