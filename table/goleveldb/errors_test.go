package goleveldb_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	lerrors "github.com/syndtr/goleveldb/leveldb/errors"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	ltable "github.com/syndtr/goleveldb/leveldb/table"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table/goleveldb"
)

// A peer is one of the two packages.
type peer struct {
	name      string
	newWriter func(io.Writer) writer
	newReader func(f io.ReaderAt, size int) (reader, error)
	released  error
}

// checked are options with which all corruption is an error.
var checked = &opt.Options{Compression: opt.NoCompression, BlockSize: 300, Strict: opt.StrictAll}

// peers returns goleveldb's package and this one.
func peers() [2]peer {
	return [2]peer{{
		"goleveldb",
		func(w io.Writer) writer { return theirWriter(w, checked) },
		func(f io.ReaderAt, size int) (reader, error) {
			return ltable.NewReader(f, int64(size), fd, nil, nil, checked)
		},
		ltable.ErrReaderReleased,
	}, {
		"ours",
		func(w io.Writer) writer { return goleveldb.NewWriter(w, checked, nil, 0) },
		func(f io.ReaderAt, size int) (reader, error) {
			return goleveldb.NewReader(f, int64(size), fd, nil, nil, checked)
		},
		goleveldb.ErrReaderReleased,
	}}
}

// class returns the kind of an error, as a program can test it.
func (p *peer) class(err error) string {
	switch {
	case err == nil:
		return "none"
	case err == lerrors.ErrNotFound:
		return "ErrNotFound"
	case err == p.released:
		return "ErrReaderReleased"
	case err == iterator.ErrIterReleased:
		return "ErrIterReleased"
	case err == errFull || err == tabletest.ErrBroken:
		return "that of the file"
	case lerrors.IsCorrupted(err):
		return "IsCorrupted"
	}
	return "another"
}

// start returns the text of an error, up to where the packages use different words.
func start(err error) string {
	text := fmt.Sprint(err)
	for _, before := range []string{"increasing order", "): "} {
		if head, _, ok := strings.Cut(text, before); ok {
			return head + before
		}
	}
	return text
}

// A situation is a way to cause errors. meet returns them.
type situation struct {
	name string
	meet func(p *peer) []error
}

// compare causes the errors in both packages. They must be of the same class, and start with the same words.
func (s *situation) compare(t *testing.T) {
	t.Helper()
	both := peers()
	want, got := s.meet(&both[0]), s.meet(&both[1])
	for i := range want {
		if a, b := both[0].class(want[i]), both[1].class(got[i]); a != b || start(want[i]) != start(got[i]) {
			t.Errorf("%s, error %d: %v (%s), want %v (%s)", s.name, i, got[i], b, want[i], a)
		}
		if text := fmt.Sprint(got[i]); strings.Count(text, "table: ") > 1 || strings.Contains(text, "goleveldb") {
			t.Errorf("%s, error %d: %q, want one prefix", s.name, i, text)
		}
	}
}

// errFull is the error of a full limitedFile.
var errFull = errors.New("the disk is full")

// A limitedFile accepts that many bytes.
type limitedFile int

func (f *limitedFile) Write(p []byte) (int, error) {
	if len(p) > int(*f) {
		n := int(*f)
		*f = 0
		return n, errFull
	}
	*f -= limitedFile(len(p))
	return len(p), nil
}

// flakyFile returns a file that fails while *fails is true.
func flakyFile(contents []byte, fails *bool) io.ReaderAt {
	return tabletest.ReadAtFunc(func(p []byte, off int64) (int, error) {
		if *fails {
			return 0, tabletest.ErrBroken
		}
		return bytes.NewReader(contents).ReadAt(p, off)
	})
}

// ends calls a Writer after an error or Close, and returns the errors.
func ends(w writer) []error {
	return []error{w.Append([]byte("x"), nil), w.Close(), w.Append([]byte("y"), nil), w.Close()}
}

// If a Writer cannot do something, its error equals goleveldb's, and all later calls return it again.
func TestWriterErrorsAsGoleveldb(t *testing.T) {
	t.Parallel()
	situations := []situation{
		{"keys out of order", func(p *peer) []error {
			w := p.newWriter(io.Discard)
			return append([]error{w.Append([]byte("b"), nil), w.Append([]byte("a"), nil)}, ends(w)...)
		}},
		{"a key twice", func(p *peer) []error {
			w := p.newWriter(io.Discard)
			return append([]error{w.Append([]byte("b"), nil), w.Append([]byte("b"), nil)}, ends(w)...)
		}},
		{"keys out of order at the start of a block", func(p *peer) []error {
			w := p.newWriter(io.Discard)
			return append([]error{w.Append([]byte("b"), make([]byte, 400)), w.Append([]byte("a"), nil)}, ends(w)...)
		}},
		{"after Close", func(p *peer) []error {
			w := p.newWriter(io.Discard)
			return append([]error{w.Append([]byte("b"), nil), w.Close()}, ends(w)...)
		}},
		{"after Close without entries", func(p *peer) []error {
			w := p.newWriter(io.Discard)
			return append([]error{w.Close()}, ends(w)...)
		}},
		{"a value that is too large for the disk", func(p *peer) []error {
			full := limitedFile(100)
			w := p.newWriter(&full)
			return append([]error{w.Append([]byte("b"), make([]byte, 1<<20))}, ends(w)...)
		}},
	}
	for _, n := range []int{0, 1, 50, 100, 130, 160} { // of 172 bytes
		situations = append(situations, situation{fmt.Sprintf("a disk with %d bytes", n), func(p *peer) []error {
			full := limitedFile(n)
			w := p.newWriter(&full)
			return append([]error{w.Append([]byte("a"), make([]byte, 30)), w.Append([]byte("b"), nil), w.Close()}, ends(w)...)
		}})
	}
	for _, s := range situations {
		s.compare(t)
	}
}

// If a file accepts fewer bytes than given and returns no error, that is an error. goleveldb does not notice it.
func TestShortWriteIsAnError(t *testing.T) {
	t.Parallel()
	w := goleveldb.NewWriter(shortFile{}, nil, nil, 0)
	noError(t, w.Append([]byte("a"), nil))
	for range 2 {
		if err := w.Close(); err != io.ErrShortWrite {
			t.Errorf("Close: %v, want %v", err, io.ErrShortWrite)
		}
	}
}

type shortFile struct{}

func (shortFile) Write(p []byte) (int, error) { return len(p) / 2, nil }

// calls returns the errors of all lookups of key.
func calls(r reader, key []byte) (all []error) {
	_, _, err := r.Find(key, true, nil)
	all = append(all, err)
	_, err = r.FindKey(key, false, nil)
	all = append(all, err)
	_, err = r.Get(key, nil)
	all = append(all, err)
	_, err = r.OffsetOf(key)
	return append(all, err)
}

// moves returns an iterator's errors after each kind of move. A move that finds an entry has none.
func moves(it iterator.Iterator, key []byte) []error {
	all := []error{it.Error()}
	for _, move := range []func() bool{it.Next, it.First, it.Last, it.Prev, func() bool { return it.Seek(key) }} {
		var err error
		if !move() {
			err = it.Error()
		}
		all = append(all, err)
	}
	return all
}

// If a Reader cannot do something, its error equals goleveldb's.
func TestReaderErrorsAsGoleveldb(t *testing.T) {
	t.Parallel()
	entries := (&tableCase{}).entries(60)
	sound := theirTable(t, checked, entries)
	key := entries[0].key
	open := func(p *peer, contents []byte) reader {
		r, err := p.newReader(bytes.NewReader(contents), len(contents))
		noError(t, err)
		return r
	}
	situations := []situation{
		{"no file", func(p *peer) []error {
			_, err := p.newReader(nil, 100)
			return []error{err}
		}},
		{"a key behind all others", func(p *peer) []error { return calls(open(p, sound), []byte("~")) }},
		{"a released Reader", func(p *peer) []error {
			r := open(p, sound)
			r.Release()
			r.Release()
			return append(calls(r, key), moves(r.NewIterator(nil, nil), key)...)
		}},
		{"a released iterator", func(p *peer) []error {
			it := open(p, sound).NewIterator(nil, nil)
			it.Next()
			it.Release()
			it.Release()
			return moves(it, key)
		}},
		{"a file that fails", func(p *peer) []error {
			fails := true
			_, err := p.newReader(flakyFile(sound, &fails), len(sound))
			return []error{err}
		}},
		{"a file that fails later", func(p *peer) []error {
			fails := false
			r, err := p.newReader(flakyFile(sound, &fails), len(sound))
			fails = true
			it := r.NewIterator(nil, nil)
			all := append([]error{err}, calls(r, key)[:3]...) // OffsetOf need not read: the index is in memory
			all = append(all, moves(it, key)...)
			fails = false // but the iterator has failed
			return append(append(all, moves(it, key)...), calls(r, key)...)
		}},
	}
	for name, contents := range damagedTables(sound) {
		situations = append(situations, situation{name, func(p *peer) []error {
			r := open(p, contents)
			return append(calls(r, key), moves(r.NewIterator(nil, nil), key)...)
		}})
	}
	for _, s := range situations {
		s.compare(t)
	}
}

// damagedTables returns tables with corruption in a data block, the footer or the index, and truncated tables.
func damagedTables(sound []byte) map[string][]byte {
	tables := map[string][]byte{}
	for _, at := range []int{1, len(sound) - 1, len(sound) - 60} {
		damaged := bytes.Clone(sound)
		damaged[at] ^= 0x55
		tables[fmt.Sprintf("byte %d of %d is damaged", at, len(sound))] = damaged
	}
	for _, size := range []int{0, 47, len(sound) - 1} {
		tables[fmt.Sprintf("a file of %d bytes", size)] = sound[:size]
	}
	return tables
}
