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
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// failOnce fails the n-th read.
type failOnce struct {
	src *bytes.Reader
	n   int
	err error
}

func (f *failOnce) ReadAt(p []byte, off int64) (int, error) {
	if f.n--; f.n == 0 {
		return len(p) / 2, f.err
	}
	return f.src.ReadAt(p, off)
}

// A read that fails is reported with its cause, and the next call tries again.
func TestReadErrorsAreTransient(t *testing.T) {
	t.Parallel()
	cause := errors.New("cable pulled")
	contents := build(t, &table.WriterOptions{BlockSize: 1, FilterPolicy: filter.NewBloom(10)}, pairsOf("a", "b", "c"))
	src := &failOnce{src: bytes.NewReader(contents), err: cause}
	r, err := table.NewReader(src, int64(len(contents)), &table.ReaderOptions{Name: "t.ldb"})
	if err != nil {
		t.Fatal(err)
	}
	src.n = 1
	if _, err := r.Get([]byte("b")); !errors.Is(err, cause) || errors.Is(err, table.ErrCorrupt) {
		t.Errorf("Get = %v, want the cause, not ErrCorrupt", err)
	} else if !strings.HasPrefix(err.Error(), "table: t.ldb: reading data block at ") {
		t.Errorf("Get = %v, want the name of the table", err)
	}
	if v, err := r.Get([]byte("b")); err != nil || string(v) != "value of b" {
		t.Errorf("Get again = %q, %v", v, err)
	}
	it := r.NewIter(nil)
	it.First()
	src.n = 1
	if it.Next() || it.Valid() || !errors.Is(it.Error(), cause) {
		t.Errorf("Next: Valid = %v, Error = %v; want the cause", it.Valid(), it.Error())
	}
	if it.Next() || it.Prev() || !errors.Is(it.Error(), cause) {
		t.Errorf("a second Next forgot the error: %v", it.Error())
	}
	if !it.SeekGE([]byte("b")) || it.Error() != nil || string(it.Key()) != "b" {
		t.Errorf("SeekGE after the error is at %q, %v", it.Key(), it.Error())
	}
	src.n = 1
	if err := r.Verify(); !errors.Is(err, cause) {
		t.Errorf("Verify = %v, want the cause", err)
	}
	for n := 1; n <= 4; n++ { // footer, index, metaindex, filter
		src.n = n
		if r, err := table.NewReader(src, int64(len(contents)), nil); !errors.Is(err, cause) || r != nil {
			t.Errorf("NewReader with read %d failing = %v, %v; want nil and the cause", n, r, err)
		}
	}
}

// closingReader closes the Reader when it is read, and then fails.
type closingReader struct {
	io.ReaderAt
	r *table.Reader
}

func (c *closingReader) ReadAt(p []byte, off int64) (int, error) {
	if c.r == nil {
		return c.ReaderAt.ReadAt(p, off)
	}
	c.r.Close()
	return 0, errors.New("file already closed")
}

// A Close in the midst of a read is ErrClosed, whatever the source says.
func TestCloseDuringRead(t *testing.T) {
	t.Parallel()
	contents := build(t, nil, pairsOf("a"))
	for name, call := range map[string]func(r *table.Reader) error{
		"Get":    func(r *table.Reader) error { _, err := r.Get([]byte("a")); return err },
		"Iter":   func(r *table.Reader) error { it := r.NewIter(nil); it.First(); return it.Error() },
		"Verify": (*table.Reader).Verify,
	} {
		src := &closingReader{ReaderAt: bytes.NewReader(contents)}
		r, err := table.NewReader(src, int64(len(contents)), nil)
		if err != nil {
			t.Fatal(err)
		}
		src.r = r
		if err := call(r); !errors.Is(err, table.ErrClosed) {
			t.Errorf("%s = %v, want ErrClosed", name, err)
		}
	}
}

// readAtFunc is a source.
// What sources may and may not do: the contract of io.ReaderAt, and beyond.
func TestSources(t *testing.T) {
	t.Parallel()
	cause := errors.New("cable pulled")
	pairs := numbered(100)
	contents := build(t, withBloom, pairs)
	src := bytes.NewReader(contents)
	for _, tt := range []struct {
		name string
		read readAtFunc
		want error
	}{
		{"all bytes, and io.EOF with each", func(p []byte, off int64) (int, error) {
			n, _ := src.ReadAt(p, off)
			return n, io.EOF
		}, nil},
		{"all bytes, but an error", func(p []byte, off int64) (int, error) {
			n, _ := src.ReadAt(p, off)
			return n, cause
		}, cause},
		{"half the bytes and no error", func(p []byte, off int64) (int, error) {
			n, _ := src.ReadAt(p[:len(p)/2], off)
			return n, nil
		}, io.ErrUnexpectedEOF},
		{"half the bytes and io.EOF: the file is cut", func(p []byte, off int64) (int, error) {
			n, _ := src.ReadAt(p[:len(p)/2], off)
			return n, io.EOF
		}, io.ErrUnexpectedEOF},
		{"half the bytes and an error", func(p []byte, off int64) (int, error) {
			n, _ := src.ReadAt(p[:len(p)/2], off)
			return n, cause
		}, cause},
		{"half the bytes and an error around io.EOF: a connection that ended", func(p []byte, off int64) (int, error) {
			n, _ := src.ReadAt(p[:len(p)/2], off)
			return n, fmt.Errorf("%w: %w", cause, io.EOF)
		}, cause},
		{"all bytes, and an error around io.EOF", func(p []byte, off int64) (int, error) {
			n, _ := src.ReadAt(p, off)
			return n, fmt.Errorf("%w: %w", cause, io.EOF)
		}, cause},
		{"nothing and no error", func(p []byte, off int64) (int, error) { return 0, nil }, io.ErrUnexpectedEOF},
		{"fewer than no bytes", func(p []byte, off int64) (int, error) { return -1, nil }, io.ErrUnexpectedEOF},
		{"more bytes than there is room for", func(p []byte, off int64) (int, error) { return len(p) + 1, nil }, io.ErrUnexpectedEOF},
	} {
		calls := map[string]func(r *table.Reader) error{
			"NewReader": nil,
			"Get":       func(r *table.Reader) error { _, err := r.Get(pairs[0].Key); return err },
			"AppendGet": func(r *table.Reader) error { _, err := r.AppendGet(nil, pairs[0].Key); return err },
			"First":     func(r *table.Reader) error { it := r.NewIter(nil); it.First(); return it.Error() },
			"Last":      func(r *table.Reader) error { it := r.NewIter(nil); it.Last(); return it.Error() },
			"SeekGE":    func(r *table.Reader) error { it := r.NewIter(nil); it.SeekGE(pairs[0].Key); return it.Error() },
			"SeekLT":    func(r *table.Reader) error { it := r.NewIter(nil); it.SeekLT(pairs[1].Key); return it.Error() },
			"Verify":    (*table.Reader).Verify,
		}
		for name, call := range calls {
			read := readAtFunc(src.ReadAt)
			if call == nil {
				read = tt.read
			}
			r, err := table.NewReader(readAtFunc(func(p []byte, off int64) (int, error) { return read(p, off) }), int64(len(contents)), nil)
			if call != nil && err == nil {
				read = tt.read
				err = call(r)
			}
			if !errors.Is(err, tt.want) || tt.want != nil && errors.Is(err, table.ErrCorrupt) {
				t.Errorf("%s: %s = %v, want %v", tt.name, name, err, tt.want)
			}
			if call == nil || err == nil {
				continue
			}
			read = src.ReadAt
			if err := call(r); err != nil {
				t.Errorf("%s: %s again, from a good source = %v", tt.name, name, err)
			}
		}
	}
}

// A source that is shorter than the size given.
func TestSourceShorterThanSize(t *testing.T) {
	t.Parallel()
	contents := build(t, withBloom, numbered(100))
	for n := range contents {
		r, err := table.NewReader(bytes.NewReader(contents[:n]), int64(len(contents)), nil)
		if r != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%d of %d bytes: NewReader = %v, want io.ErrUnexpectedEOF", n, len(contents), err)
		}
	}
}

// A source whose bytes change from one read to the next: each call is an error
// or the truth of that moment.
func TestSourceThatChanges(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10), BlockSize: 100, Compression: table.NoCompression}
	contents := build(t, o, pairs)
	flipped := -1
	r, err := table.NewReader(readAtFunc(func(p []byte, off int64) (int, error) {
		n, err := bytes.NewReader(contents).ReadAt(p, off)
		if flipped >= 0 {
			p[flipped%len(p)] ^= 1
		}
		return n, err
	}), int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range pairs {
		flipped = i
		if _, err := r.Get(p.Key); !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("Get(%q) of a changed block = %v, want ErrCorrupt", p.Key, err)
		}
		flipped = -1
		if v, err := r.Get(p.Key); err != nil || !bytes.Equal(v, p.Value) {
			t.Errorf("Get(%q) of the block as it was = %q, %v", p.Key, v, err)
		}
	}
	// Another table, as sound, under the Reader's feet.
	other := bytes.ReplaceAll(contents, []byte("value of"), []byte("VALUE OF"))
	rawtable.Repair(other)
	copy(contents, other)
	for e, err := range r.All(nil) {
		if want := "VALUE OF " + string(e.Key); string(e.Value) != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", e.Key, e.Value, err, want)
		}
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
}

// A faultySource hands out its bytes, but fails if broken is set.
type faultySource struct {
	table.SliceReaderAt
	broken atomic.Bool
}

func (s *faultySource) ReadAt(p []byte, off int64) (int, error) {
	if s.broken.Load() {
		return 0, errBroken
	}
	return s.SliceReaderAt.ReadAt(p, off)
}

func (s *faultySource) Slice(off int64, n int) ([]byte, error) {
	if s.broken.Load() {
		return nil, errBroken
	}
	return s.SliceReaderAt.Slice(off, n)
}

// openFaulty opens a table with the keys of numbered(100), of which the footer was read. Its source
// is broken from now on.
func openFaulty(t *testing.T) (*table.Reader, *faultySource) {
	t.Helper()
	contents := build(t, withBloom, numbered(100))
	src := &faultySource{SliceReaderAt: table.Bytes(contents)}
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
	if !mayContain(r, []byte("z")) {
		t.Error("MayContain rules out a key of a table that it cannot read")
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
		mayContain(r, nil) // opens it
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
type failingSlices struct{ table.SliceReaderAt }

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
		{"bytes that cannot be read", failingSlices{table.Bytes(contents)}, size, errRead},
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
