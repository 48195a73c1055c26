package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table"
)

// A failed read is reported with its cause, and the next call tries again.
func TestReadErrorsAreTransient(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{BlockSize: 1, FilterPolicy: filter.NewBloom(10)}, pairsOf("a", "b", "c"))
	n := 0 // the read that fails
	src := hooked(contents, func(_, _ int64) error {
		if n--; n == 0 {
			return errBroken
		}
		return nil
	})
	r := newReader(t, src, len(contents), &table.ReaderOptions{Name: "t.ldb"})
	n = 1
	err := errorOf(r.Get([]byte("b")))
	checkError(t, "Get from a broken source", err, errBroken, "")
	checkDiff(t, "its message", "table: t.ldb: reading data block at 27: "+errBroken.Error(), err.Error())
	checkLookups(t, r, pairsOf("a", "b", "c"))
	it := r.NewIter(nil)
	it.First()
	n = 1
	for _, move := range []func() bool{it.Next, it.Valid, it.Next, it.Prev} {
		if move() || !errors.Is(it.Error(), errBroken) {
			t.Errorf("Next or another move is true, or has forgotten the error: %v", it.Error())
		}
	}
	if !it.SeekGE([]byte("b")) || it.Error() != nil || string(it.Key()) != "b" {
		t.Errorf("SeekGE after the error is at %q, %v", it.Key(), it.Error())
	}
	for i := 1; i <= 4; i++ { // footer, index, metaindex, filter
		n = i
		if r, err := table.NewReader(src, int64(len(contents)), nil); !errors.Is(err, errBroken) || r != nil {
			t.Errorf("NewReader with read %d failing = %v, %v; want nil and the cause", i, r, err)
		}
	}
}

// If the Reader is closed during a read, the call returns ErrClosed, whatever the source returns.
func TestCloseDuringRead(t *testing.T) {
	t.Parallel()
	calls := maps.Clone(lookups)
	calls["Verify"] = func(r *table.Reader, _ []byte) ([]byte, error) { return nil, r.Verify() }
	for name, call := range calls {
		var r *table.Reader
		r = openHooked(t, build(t, nil, pairsOf("a")), nil, func(_, _ int64) error {
			if r == nil {
				return nil
			}
			r.Close()
			return errors.New("file already closed")
		})
		checkError(t, name, errorOf(call(r, []byte("a"))), table.ErrClosed, "")
	}
}

// What sources may do, within the contract of io.ReaderAt and beyond it.
func TestSources(t *testing.T) {
	t.Parallel()
	contents := build(t, withBloom, numbered(100))
	ended := fmt.Errorf("%w: %w", errBroken, io.EOF) // a broken connection
	reading := func(part int, err error) readAtFunc {
		return func(p []byte, off int64) (int, error) {
			n, _ := bytes.NewReader(contents).ReadAt(p[:len(p)/part], off)
			return n, err
		}
	}
	for _, tt := range []struct {
		name string
		read readAtFunc
		want error
	}{
		{"all bytes, and io.EOF with each", reading(1, io.EOF), nil},
		{"all bytes, but an error", reading(1, errBroken), errBroken},
		{"all bytes, and an error around io.EOF", reading(1, ended), errBroken},
		{"half the bytes and no error", reading(2, nil), io.ErrUnexpectedEOF},
		{"half the bytes and io.EOF: the file is cut", reading(2, io.EOF), io.ErrUnexpectedEOF},
		{"half the bytes and an error", reading(2, errBroken), errBroken},
		{"half the bytes and an error around io.EOF", reading(2, ended), errBroken},
		{"nothing and no error", func([]byte, int64) (int, error) { return 0, nil }, io.ErrUnexpectedEOF},
		{"fewer than no bytes", func([]byte, int64) (int, error) { return -1, nil }, io.ErrUnexpectedEOF},
		{"too many bytes", func(p []byte, _ int64) (int, error) { return len(p) + 1, nil }, io.ErrUnexpectedEOF},
	} {
		_, err := table.NewReader(tt.read, int64(len(contents)), nil)
		if !errors.Is(err, tt.want) || tt.want != nil && errors.Is(err, table.ErrCorrupt) {
			t.Errorf("%s: NewReader = %v, want %v", tt.name, err, tt.want)
		}
		checkCalls(t, tt.name, contents, tt.read, tt.want)
	}
}

// checkCalls checks that each call returns the error of a bad source, and then works with a good one.
func checkCalls(t *testing.T, name string, contents []byte, bad readAtFunc, badErr error) {
	t.Helper()
	calls := maps.Clone(lookups)
	calls["Verify"] = func(r *table.Reader, _ []byte) ([]byte, error) { return nil, r.Verify() }
	calls["SeekLT"] = func(r *table.Reader, key []byte) ([]byte, error) {
		it := r.NewIter(nil)
		it.SeekLT(append(key, 0))
		return nil, it.Close()
	}
	for call, do := range calls {
		read := readAtFunc(bytes.NewReader(contents).ReadAt)
		good := read
		r := newReader(t, readAtFunc(func(p []byte, off int64) (int, error) { return read(p, off) }), len(contents), nil)
		for _, want := range []error{badErr, nil} {
			if read = good; want == badErr {
				read = bad
			}
			_, err := do(r, []byte("key000000"))
			if !errors.Is(err, want) || want != nil && errors.Is(err, table.ErrCorrupt) {
				t.Errorf("%s: %s = %v, want %v", name, call, err, want)
			}
		}
	}
}

// If the source's bytes change from one read to the next, each call returns an error or the current contents.
func TestSourceThatChanges(t *testing.T) {
	t.Parallel()
	pairs := numbered(100)
	o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10), BlockSize: 100, Compression: table.NoCompression}
	contents := build(t, o, pairs)
	flipped := -1
	r := newReader(t, readAtFunc(func(p []byte, off int64) (int, error) {
		n, err := bytes.NewReader(contents).ReadAt(p, off)
		if flipped >= 0 {
			p[flipped%len(p)] ^= 1
		}
		return n, err
	}), len(contents), nil)
	for i, p := range pairs {
		flipped = i
		checkError(t, "Get of a changed block", errorOf(r.Get(p.Key)), table.ErrCorrupt, "")
		flipped = -1
		checkGet(t, r, p.Key, p.Value)
	}
	// Replace the table by another sound one.
	other := bytes.ReplaceAll(contents, []byte("value of"), []byte("VALUE OF"))
	rawtable.Repair(other)
	copy(contents, other)
	for i := range pairs {
		pairs[i].Value = []byte("VALUE OF " + string(pairs[i].Key))
	}
	checkPairs(t, "of another table", pairs, forward(t, r.NewIter(nil)))
	noError(t, r.Verify())
}

// A faultySource hands out its bytes, but fails if broken is set.
type faultySource struct {
	tablefile.Slicer
	broken bool
}

func (s *faultySource) ReadAt(p []byte, off int64) (int, error) {
	if s.broken {
		return 0, errBroken
	}
	return s.Slicer.ReadAt(p, off)
}

func (s *faultySource) Slice(off int64, n int) ([]byte, error) {
	if s.broken {
		return nil, errBroken
	}
	return s.Slicer.Slice(off, n)
}

// openFaulty opens a table with the keys of numbered(100). Only the footer was read, and the source is broken from
// now on.
func openFaulty(t *testing.T) (*table.Reader, *faultySource) {
	t.Helper()
	contents := build(t, withBloom, numbered(100))
	src := &faultySource{Slicer: tablefile.Bytes(contents)}
	r := newReader(t, src, len(contents), nil)
	src.broken = true
	return r, src
}

// If a table cannot be opened at its first use, all lookups and Iters return the error, and never ErrNotFound, until
// it can.
func TestTableThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	r, src := openFaulty(t)
	key := []byte("key000050")
	calls := map[string]func() error{
		"Locate":     func() error { return errorOf(r.Locate(key)) },
		"Properties": func() error { return errorOf(r.Properties()) },
		"Layout":     func() error { return errorOf(r.Layout()) },
		"Tail":       func() error { return errorOf(r.Tail()) },
		"Verify":     r.Verify,
		"FilterErr":  r.FilterErr,
		"Iter": func() error {
			it := r.NewIter(&table.IterOptions{Lower: key})
			if it.First() || it.Last() || it.SeekGE(key) || it.SeekLT(key) || it.Next() {
				return nil
			}
			return it.Close()
		},
	}
	for name, lookup := range lookups {
		calls[name] = func() error { return errorOf(lookup(r, key)) }
	}
	for name, call := range calls {
		checkError(t, name, call(), errBroken, "")
	}
	if !mayContain(r, []byte("z")) {
		t.Error("MayContain rules out a key of a table that it cannot read")
	}
	src.broken = false
	if _, err := r.Get(key); err != nil {
		t.Errorf("when the source works again: %v", err)
	}
}

// If an index changes while its search tree is built, results may be wrong, but nothing panics. The searched keys
// are shorter than the common prefix of all separators.
func TestIndexThatChangesWhileItIsBuilt(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	var f rawtable.File
	var indexes [2][]string
	for i := range 3000 {
		h := f.Block(rawtable.Entries("k", "v"))
		for j, prefix := range []string{"aaaaaaaaaaaa", "cccccccccccc"} {
			indexes[j] = append(indexes[j], fmt.Sprintf("%s%06d", prefix, i), h)
		}
	}
	metaindex := f.Block(rawtable.Entries())
	one, two, at := rawtable.Entries(indexes[0]...), rawtable.Entries(indexes[1]...), len(f.Bytes)
	contents := f.Footer(metaindex, f.Block(one))
	for range 30 {
		copy(contents[at:], one)
		r := newReader(t, table.Bytes(contents), len(contents), &table.ReaderOptions{SkipChecksums: true})
		mayContain(r, nil) // opens it
		var started, stop atomic.Bool
		var changes sync.WaitGroup
		changes.Go(func() {
			for i := 0; !stop.Load(); i++ {
				copy(contents[at:], []string{one, two}[i%2])
				started.Store(true)
			}
		})
		for !started.Load() {
			runtime.Gosched()
		}
		for i := 0; i < 20 && !r.BuildIndex(); i++ {
		}
		stop.Store(true)
		changes.Wait()
		for _, key := range []string{"", "a", "aa", "ab", "b", "c", "cc", "cd", "d", "aaaaaaaaaaaa0", "cccccccccccc0"} {
			r.Get([]byte(key))
		}
	}
}

// An unreadable footer is an error, even for a source that hands out its bytes: the source's error, or an unexpected
// end of a file that is shorter than its size.
func TestUnreadableFooter(t *testing.T) {
	t.Parallel()
	contents := build(t, nil, numbered(100))
	size := int64(len(contents))
	f, err := os.Open(writeTable(t, contents))
	noError(t, err)
	defer f.Close()
	for _, tt := range []struct {
		name string
		src  io.ReaderAt
		size int64
		want error
	}{
		{"read", bytes.NewReader(contents), size + 100, io.ErrUnexpectedEOF},
		{"read, all but a byte", bytes.NewReader(contents), size + 1, io.ErrUnexpectedEOF},
		{"bytes", table.Bytes(contents), size + 100, io.ErrUnexpectedEOF},
		{"bytes, far behind the end", table.Bytes(contents), math.MaxInt64, io.ErrUnexpectedEOF},
		{"bytes that cannot be read", &faultySource{tablefile.Bytes(contents), true}, size, errBroken},
		{"mapped", tablefile.Map(f, size+1_000_000), size + 1_000_000, io.ErrUnexpectedEOF},
	} {
		if tt.src == (*tablefile.Mapping)(nil) {
			continue // it cannot be mapped here
		}
		checkError(t, tt.name, errorOf(table.NewReader(tt.src, tt.size, nil)), tt.want, "")
	}
}
