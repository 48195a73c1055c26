package database_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// A tablesFS records which tables are opened.
type tablesFS struct {
	openedFS
	before func(n int) error // called before a table is opened for the n-th time, if not nil

	mu     sync.Mutex
	opened []string
}

func (f *tablesFS) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".ldb") {
		f.mu.Lock()
		f.opened = append(f.opened, name)
		n := len(f.opened)
		f.mu.Unlock()
		if f.before != nil {
			if err := f.before(n); err != nil {
				return nil, &fs.PathError{Op: "open", Path: name, Err: err}
			}
		}
	}
	return f.openedFS.Open(name)
}

// Stat opens nothing.
func (f *tablesFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

// openLazily opens the database at the root of files with LazyTables.
func openLazily(t *testing.T, files fs.FS) *database.DB {
	t.Helper()
	return openFS(t, files, &database.Options{LazyTables: true})
}

// With LazyTables, Open opens no table. Lookups and iterators open those that they need, once.
func TestLazyTablesAreOpenedAtFirstUse(t *testing.T) {
	t.Parallel()
	var l layout
	l.table(t, 2, set("a", 1, ""), set("c", 2, ""))       // 000002.ldb
	l.table(t, 2, set("m", 3, ""), set("z", 4, ""))       // 000003.ldb
	l.table(t, 1, set("b", 5, ""), set("n", 6, ""))       // 000004.ldb
	l.table(t, 0, set("y", 7, ""), set("z", 8, ""))       // 000005.ldb
	l.write(t, batch(set("a", 9, ""), set("zz", 10, ""))) // in memory
	files := l.end(t)
	for name, tt := range map[string]struct {
		use  func(db *database.DB)
		want string
	}{
		"nothing":                            {func(*database.DB) {}, ""},
		"a write of the log":                 {func(db *database.DB) { db.Get([]byte("a")) }, ""},
		"a key of no table":                  {func(db *database.DB) { db.Get([]byte("zzz")) }, ""},
		"keys of two levels":                 {func(db *database.DB) { db.Get([]byte("c")); db.Get([]byte("b")) }, "000002.ldb 000004.ldb"},
		"a key of level 0":                   {func(db *database.DB) { db.Get([]byte("z")) }, "000003.ldb 000005.ldb"},
		"an earlier write of a key":          {func(db *database.DB) { db.At(1).Get([]byte("a")) }, "000002.ldb"},
		"an iterator before its first entry": {func(db *database.DB) { db.NewIter(nil) }, ""},
		"an iterator up to a key":            {func(db *database.DB) { collect(t, db.View, &table.IterOptions{Upper: []byte("d")}) }, "000002.ldb 000004.ldb"},
		"two iterators over all":             {func(db *database.DB) { collect(t, db.View, nil); collect(t, db.View, nil) }, "000002.ldb 000003.ldb 000004.ldb 000005.ldb"},
		"uses after Close":                   {func(db *database.DB) { db.Close(); db.Get([]byte("c")); db.NewIter(nil).First() }, ""},
		"a move after Close":                 {func(db *database.DB) { it := db.NewIter(nil); db.Close(); it.First() }, ""},
	} {
		fsys := &tablesFS{openedFS: openedFS{FS: files}}
		db := openLazily(t, fsys)
		tt.use(db)
		if got := strings.Join(slices.Sorted(slices.Values(fsys.opened)), " "); got != tt.want {
			t.Errorf("%s: %q was opened, want %q", name, got, tt.want)
		}
		db.Close() // it can be closed
		if n := fsys.open.Load(); n != 0 {
			t.Errorf("%s: %d files are open after Close", name, n)
		}
	}
}

// With LazyTables, a DB does not read another directory that takes the name of its own, and does not report it as
// corruption.
func TestLazyTablesOfAReplacedDirectory(t *testing.T) {
	t.Parallel()
	for _, mapped := range []bool{false, true} {
		parent := t.TempDir()
		dir, other, old := filepath.Join(parent, "db"), filepath.Join(parent, "b"), filepath.Join(parent, "old")
		writeSame(t, dir, 'a')
		writeSame(t, other, 'b')
		db := openDir(t, dir, &database.Options{LazyTables: true, Reader: table.ReaderOptions{Mapped: mapped}})
		get := func() error { _, err := db.Get([]byte("key000000")); return err }
		noError(t, os.Rename(dir, old))
		if err := get(); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, table.ErrCorrupt) {
			t.Errorf("Get without the directory = %v, want ErrNotExist", err)
		}
		noError(t, os.Rename(other, dir))
		if err, want := get(), dir+": replaced since the database was opened"; err == nil || errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("Get = %v, want %s", err, want)
		}
		noError(t, errors.Join(os.Rename(dir, other), os.Rename(old, dir)))
		if err := get(); err != nil {
			t.Errorf("Get = %v, want a value", err)
		}
		checkSame(t, db)
	}
}

// The caller may change its options after Open.
func TestLazyTablesKeepTheirOptions(t *testing.T) {
	t.Parallel()
	l := layout{options: table.WriterOptions{Compression: otherSnappy{table.Snappy}}}
	l.table(t, 1, set("a", 1, strings.Repeat("a", 1000)))
	o := &database.Options{LazyTables: true, Reader: table.ReaderOptions{Codecs: []table.Codec{otherSnappy{table.Snappy}}}}
	db := openFS(t, l.end(t), o)
	o.Reader.Codecs[0] = nil
	checkGet(t, db.View, "a", strings.Repeat("a", 1000), true)
}

// otherSnappy is Snappy with another id.
type otherSnappy struct{ table.Codec }

func (otherSnappy) ID() byte { return 77 }
