package set_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// checkUnavailable checks which tables Unavailable returns, in order, and that each has the error err.
func checkUnavailable(t *testing.T, s *set.Set, want error, tables ...string) {
	t.Helper()
	var names []string
	for l, err := range s.Unavailable() {
		names = append(names, l.Name)
		if !errors.Is(err, want) {
			t.Errorf("the error of %q is %v, want %v", l.Name, err, want)
		}
	}
	checkDiff(t, "Unavailable", tables, names)
}

// With OnLoss, Open and Swap continue without tables that cannot be opened. Lookups of their keys fail, all others
// succeed, and once the tables are back, all do.
func TestSetWithoutSomeTables(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 4, filtered)
	src.before = failing(broken, "t001", "t003")
	var told []string
	s := open(t, manifestOf(m.Tables[:3]...), src, &set.Options{OpenAll: true, OnLoss: func(l table.Loss) bool {
		told = append(told, l.File)
		return errors.Is(l.Err, broken)
	}})
	checkUnavailable(t, s, broken, "t001")
	noError(t, s.Swap(background, m))
	checkUnavailable(t, s, broken, "t001", "t003")
	checkDiff(t, "calls of OnLoss", []string{"t001", "t001", "t003"}, told)
	for i := range 4 * perTable {
		lost := i/perTable%2 == 1
		value, err := s.Get(background, []byte(key(i)))
		if lost != errors.Is(err, broken) || lost == (string(value) == valueOf(i)) {
			t.Fatalf("Get(%s) = %q, %v; the table is out: %t", key(i), value, err, lost)
		}
		if may, err := s.MayContain(background, []byte(key(i))); lost != errors.Is(err, broken) || may == lost {
			t.Fatalf("MayContain(%s) = %t, %v; the table is out: %t", key(i), may, err, lost)
		}
	}
	found, err := getMany(background, s, firstKeys(4), nil)
	checkError(t, "GetMany", err, broken, "")
	checkDiff(t, "GetMany", map[string]string{key(0): valueOf(0), key(100): valueOf(100)}, found)

	src.before = failing(broken, "t003")
	checkGet(t, s, key(60), valueOf(60))
	checkUnavailable(t, s, broken, "t003")
	checkError(t, "Reopen", s.Reopen(background), broken, "")
	src.before = nil
	noError(t, s.Reopen(background))
	checkUnavailable(t, s, nil)
}

// If OnLoss returns false, Open and Swap fail with the error of the table. If ctx is done, OnLoss is not called.
func TestOnLossThatSaysNo(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	src.before = failing(broken, "t002")
	asked := 0
	o := &set.Options{OpenAll: true, OnLoss: func(table.Loss) bool { asked++; return false }}
	_, err := set.Open(background, m, src, o)
	checkError(t, "Open", err, broken, "")
	s := open(t, manifestOf(m.Tables[:2]...), src, o)
	checkError(t, "Swap", s.Swap(background, m), broken, "")
	checkUnavailable(t, s, nil)
	ctx, cancel := context.WithCancel(background)
	src.before = func(context.Context, string, []byte, int64) (int, error, bool) { cancel(); return 0, broken, true }
	_, err = set.Open(ctx, m, src, o)
	checkError(t, "Open", err, context.Canceled, "")
	checkDiff(t, "calls of OnLoss", 2, asked)
}

// An open table that cannot be read is unavailable too, but filters still rule out keys, even while Reopen fails. A
// canceled lookup leaves no table unavailable.
func TestUnavailableAfterReads(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	s := open(t, m, src, eager)
	src.before = func(ctx context.Context, _ string, _ []byte, _ int64) (int, error, bool) {
		return 0, ctx.Err(), ctx.Err() != nil
	}
	s.Get(canceled(), []byte(key(3)))
	checkUnavailable(t, s, nil)
	src.before = failing(broken, "t001")
	checkUnavailable(t, s, nil)
	for i := range 2 {
		checkGetFails(t, s, key(60), broken)
		checkGet(t, s, key(60)+"x", "")
		checkUnavailable(t, s, broken, "t001")
		if i == 0 && !errors.Is(s.Reopen(background), broken) {
			t.Error("Reopen of a table that cannot be read does not fail")
		}
	}
	src.before = nil
	checkGet(t, s, key(60), valueOf(60))
	checkUnavailable(t, s, nil)
}

// Reopen opens a table again that is still open, and closes the old one. It reads no available table.
func TestReopen(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	s := open(t, m, src, eager)
	memory := s.MemorySize()
	whole := src.files["t001"]
	src.files["t001"] = whole[:100]
	s.Get(background, []byte(key(60)))
	checkError(t, "Reopen", s.Reopen(background), set.ErrMismatch, "")
	checkUnavailable(t, s, set.ErrMismatch, "t001")
	src.files["t001"] = whole
	src.reads.Store(0)
	for range 2 {
		if err := s.Reopen(background); err != nil || src.reads.Load() != 1 || s.MemorySize() != memory {
			t.Errorf("Reopen = %v, %d reads, want 1; %d bytes of open tables, want %d", err, src.reads.Load(), s.MemorySize(), memory)
		}
	}
	checkUnavailable(t, s, nil)
}

// A table that any lookup could not read is unavailable, until Reopen finds an intact file of its name. Reopen does
// not use the file that was open or mapped.
func TestUnavailableFiles(t *testing.T) {
	t.Parallel()
	mapped := set.Options{OpenAll: true, Reader: table.ReaderOptions{Mapped: true}}
	for name, lookUp := range map[string]func(*set.Set) error{
		"Get":     getOf(150),
		"GetMany": getManyOf(50, 150),
		"Iter":    seekTo(150),
	} {
		for how, open := range map[string]func(dir string) (*set.Set, error){
			"read":     func(dir string) (*set.Set, error) { return set.OpenDir(background, dir, eager) },
			"of an FS": func(dir string) (*set.Set, error) { return set.OpenFS(background, os.DirFS(dir), ".", eager) },
			"mapped":   func(dir string) (*set.Set, error) { return set.OpenDir(background, dir, &mapped) },
		} {
			if how == "of an FS" && runtime.GOOS == "windows" {
				continue // a file that os.DirFS has opened cannot be replaced
			}
			t.Run(name+", "+how, func(t *testing.T) { testUnavailableFile(t, how == "mapped", open, lookUp) })
		}
	}
}

func testUnavailableFile(t *testing.T, mapped bool, open func(dir string) (*set.Set, error), lookUp func(*set.Set) error) {
	dir := t.TempDir()
	m := writeTables(t, dir, &table.WriterOptions{Compression: table.NoCompression}, 3, 100)
	s, err := open(dir)
	noError(t, err)
	defer s.Close()
	name := filepath.Join(dir, m.Tables[1].Name)
	whole, err := os.ReadFile(name)
	noError(t, err)
	lookUp(s)
	checkUnavailable(t, s, nil)
	noError(t, os.Truncate(name, 0))
	lookUp(s)
	checkUnavailable(t, s, io.ErrUnexpectedEOF, m.Tables[1].Name)
	if mapped { // otherwise this would close the file
		checkError(t, "Reopen", s.Reopen(background), set.ErrMismatch, "")
		checkUnavailable(t, s, set.ErrMismatch, m.Tables[1].Name)
	}
	noError(t, os.WriteFile(name+".new", whole, 0o666))
	noError(t, rename(name+".new", name))
	noError(t, s.Reopen(background))
	checkUnavailable(t, s, nil)
	checkGet(t, s, key(150), valueOf(150))
}
