package database_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A changed is a database for a test to change. It has table 000002.ldb on level 1, 000003.ldb on level 0, and the
// logs 000004.log and 000005.log.
type changed struct {
	layout
	t   *testing.T
	one versions.Table // 000002.ldb
}

func newChanged(t *testing.T) *changed {
	c := &changed{t: t}
	c.one = c.table(t, 1, set("a", 1, "1"), set("m", 2, "2"))
	c.table(t, 0, set("b", 3, "3"))
	c.write(t, batch(set("c", 4, "4")), batch(set("d", 5, "5")))
	c.write(t, batch(set("e", 6, "6")))
	return c
}

// changedFiles returns the files of a changed database. change changes its layout, and edit its files. Either can be
// nil.
func changedFiles(t *testing.T, change func(c *changed), edit func(files fstest.MapFS)) fstest.MapFS {
	c := newChanged(t)
	if change != nil {
		change(c)
	}
	files := c.end(t)
	if edit != nil {
		edit(files)
	}
	return files
}

// relist lists a table once more, with changes.
func (c *changed) relist(m versions.Table, change func(m *versions.Table)) {
	change(&m)
	c.list(m)
}

func internal(user string, sequence uint64) []byte { return set(user, sequence, "").Append(nil) }

// damages are changes for which Open fails, and their errors.
var damages = map[string]struct {
	change func(c *changed)         // of the layout
	edit   func(files fstest.MapFS) // of its files
	want   string
}{
	"a MANIFEST that is missing": {nil, func(files fstest.MapFS) { delete(files, "MANIFEST-000001") }, "CURRENT names MANIFEST-000001, which does not exist: restore the file"},
	"no name in CURRENT":         {nil, func(files fstest.MapFS) { files["CURRENT"].Data = nil }, `CURRENT is empty`},
	"an empty MANIFEST":          {nil, func(files fstest.MapFS) { files["MANIFEST-000001"].Data = nil }, "MANIFEST-000001: no version edit"},
	"damage in the MANIFEST":     {nil, func(files fstest.MapFS) { files["MANIFEST-000001"].Data[20] ^= 1 }, "MANIFEST-000001: offset 0: checksum mismatch"},
	"a hole in the MANIFEST": {nil, func(files fstest.MapFS) {
		m := files["MANIFEST-000001"]
		m.Data = append(append(m.Data, make([]byte, 10)...), m.Data...)
	}, "MANIFEST-000001: 99 bytes after a header of zeros are not read, and may list tables: restore the file"},
	"a sequence number that is none": {func(c *changed) { c.last = 1 << 56 }, nil, "MANIFEST-000001: the last sequence number, 72057594037927936, exceeds the maximum of 72057594037927935"},
	"another order of keys":          {func(c *changed) { c.user = backward }, nil, `MANIFEST-000001: unknown comparator "backward": add the table.Comparer`},
	"a range without internal keys":  {func(c *changed) { c.relist(c.one, func(m *versions.Table) { m.Smallest = []byte("a") }) }, nil, `MANIFEST-000001: table 000002: its range has the key "a", which is not an internal key`},
	"a range that is backward": {func(c *changed) { c.relist(c.one, func(m *versions.Table) { m.Smallest = internal("n", 1) }) }, nil,
		`MANIFEST-000001: table 000002: its first key "n" @ 1 is after its last key "m" @ 2`},
	"ranges that overlap": {func(c *changed) {
		c.table(c.t, 1, set("b", 7, ""), set("c", 8, ""))
	}, nil, `MANIFEST-000001: level 1: table 000002 ends with key "m" @ 2, and table 000006 after it begins with "b" @ 7: their ranges overlap`},
	"a table on two levels": {func(c *changed) { c.relist(c.one, func(m *versions.Table) { m.Level = 2 }) }, nil, "MANIFEST-000001: table 000002 is listed twice"},
	"a table that is missing": {nil, func(files fstest.MapFS) { delete(files, "000002.ldb") },
		"000002.ldb does not exist, but MANIFEST-000001 lists it: restore the file"},
	"a table that was cut":           {nil, func(files fstest.MapFS) { files["000002.ldb"].Data = files["000002.ldb"].Data[:50] }, "000002.ldb: size is 50, but "},
	"a table that was cut by a byte": {nil, func(files fstest.MapFS) { files["000002.ldb"].Data = files["000002.ldb"].Data[:126] }, "000002.ldb: size is 126, but MANIFEST-000001 lists 127: restore the file"},
	"a table that is none":           {nil, func(files fstest.MapFS) { clear(files["000002.ldb"].Data) }, "not a LevelDB table, or truncated: restore the file"},
	"more bytes behind a table that is none": {nil, func(files fstest.MapFS) { files["000002.ldb"].Data = make([]byte, 128) },
		"000002.ldb: size is 128, but MANIFEST-000001 lists 127, where no table ends: "},
	"a last sequence number that is too low": {func(c *changed) { c.last = 2 }, nil, `MANIFEST-000001: the last sequence number is 2, but 000003.ldb has the key "b" @ 3 : set: restore the file`},
	"a table of goleveldb's recovery":        {func(c *changed) { c.addRecovered("aaaa") }, nil, "000006.ldb: index block: separator "},
	"a log that is missing": {nil, func(files fstest.MapFS) { delete(files, "000004.log") },
		"000004.log does not exist, but the MANIFEST names it or an earlier log, so writes may be lost: restore it, or set IgnoreLogs"},
	"a log that was cut": {nil, func(files fstest.MapFS) { files["000004.log"].Data = files["000004.log"].Data[:30] },
		"000004.log: offset 24: writes between its end and the next log are missing: the write with sequence number 5 is lost: restore the file"},
	"damage in a log": {nil, func(files fstest.MapFS) { files["000004.log"].Data[9] ^= 1 }, "000004.log: offset 0: checksum mismatch"},
	"two damaged parts of a log": {func(c *changed) { c.write(c.t, []byte("no batch"), batch(set("g", 9, "")), []byte("none")) }, nil,
		"or set IgnoreLogs\n000006.log: offset 38: batch of 4 bytes, shorter than its header of 12"},
	"a batch that is none":       {func(c *changed) { c.write(c.t, []byte("no batch")) }, nil, "000006.log: offset 0: batch of 8 bytes, shorter than its header of 12"},
	"a pipe in place of a table": {nil, func(files fstest.MapFS) { files["000002.ldb"].Mode = fs.ModeNamedPipe }, "000002.ldb: a named pipe, not a regular file"},
}

// Missing and corrupt files are errors that name the file and the fault.
func TestOpenErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opened := &openedFS{FS: changedFiles(t, tt.change, tt.edit)}
			_, err := database.OpenFS(opened, ".", nil)
			if err == nil || !strings.HasPrefix(err.Error(), "database: ") || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("OpenFS = %v, want %s", err, tt.want)
			}
			known := name == "another order of keys" || name == "a pipe in place of a table"
			if errors.Is(err, table.ErrCorrupt) == known || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("OpenFS = %v, want ErrCorrupt", err)
			}
			if n := opened.open.Load(); n != 0 {
				t.Errorf("%d files are open after the error", n)
			}
			openError(opened, &database.Options{OnLoss: isTrue}) // other tests check the losses
			if n := opened.open.Load(); n != 0 {
				t.Errorf("%d files are open after a DB with losses was closed", n)
			}
			want := strings.TrimPrefix(err.Error(), "database: ")
			if name == "a last sequence number that is too low" { // the log is read first, with other numbers
				want = "000004.log: offset 0: writes before this log are missing"
			}
			checkLazyError(t, opened, want, !known)
		})
	}
}

// checkLazyError checks that with LazyTables, the first lookup returns an error about a table that Open returns without
// it. Open returns all other errors.
func checkLazyError(t *testing.T, files *openedFS, want string, isCorrupt bool) {
	t.Helper()
	db, err := database.OpenFS(files, ".", &database.Options{LazyTables: true, OnLoss: func(l table.Loss) bool {
		if strings.HasSuffix(l.File, ".ldb") {
			t.Errorf("OnLoss(%v)", l)
		}
		return false
	}})
	if ofTable := strings.HasSuffix(fileNames.FindString(want), ".ldb"); ofTable != (err == nil) {
		t.Errorf("OpenFS with LazyTables = %v, of a table: %v", err, ofTable)
	}
	if err == nil {
		err = firstErrorOf(db)
		db.Close() // it was only read
	}
	got := strings.TrimPrefix(fmt.Sprint(err), "database: ")
	if !strings.HasPrefix(got, want) || errors.Is(err, table.ErrCorrupt) != isCorrupt || errors.Is(err, table.ErrNotFound) {
		t.Errorf("with LazyTables: %v, want %s", err, want)
	}
	if n := files.open.Load(); n != 0 {
		t.Errorf("%d files are open", n)
	}
}

// addRecovered adds a table of level 0 with the separators of the bytewise order, as goleveldb's recovery
// writes them.
func (c *changed) addRecovered(user string) {
	key := internal(user, 7)
	contents := tabletest.Build(c.t, nil, []workload.Pair{{Key: key}})
	c.add(0, contents, key, key)
}

// An openedFS counts open files.
type openedFS struct {
	fs.FS
	before func(name string) error // called before a file is opened, which fails with its error; can be nil
	read   func(name string) error // the same, before a file is read
	open   atomic.Int64
}

func (o *openedFS) Open(name string) (fs.File, error) {
	if o.before != nil {
		if err := o.before(name); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	f, err := o.FS.Open(name)
	if r, ok := f.(regular.File); ok && err == nil {
		o.open.Add(1)
		return &openedFile{r, name, o}, nil
	}
	return f, err
}

type openedFile struct {
	regular.File
	name string
	fs   *openedFS
}

func (f *openedFile) ReadAt(p []byte, off int64) (int, error) {
	if f.fs.read != nil {
		if err := f.fs.read(f.name); err != nil {
			return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
		}
	}
	return f.File.ReadAt(p, off)
}

func (f *openedFile) Close() error {
	f.fs.open.Add(-1)
	return f.File.Close()
}

// A directory without CURRENT and MANIFEST, or a missing directory, is not a database.
func TestOpenOfNoDatabase(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), t.TempDir() + "/none"} {
		if _, err := database.Open(dir, nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "CURRENT") {
			t.Errorf("Open = %v, want ErrNotExist", err)
		}
	}
	lost := fstest.MapFS{"a db/MANIFEST-000001": {}}
	if _, err := database.OpenFS(lost, "a db", nil); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), `"sst scan `+format.ShellPath("a db")+`"`) {
		t.Errorf("Open without CURRENT = %v, want ErrNotExist and sst scan", err)
	}
	if _, err := database.OpenFS(nil, ".", nil); err == nil || !strings.Contains(err.Error(), "nil file system") {
		t.Errorf("OpenFS of nil = %v", err)
	}
	for _, dir := range []string{"../db", "/db", ""} {
		if _, err := database.OpenFS(fstest.MapFS{}, dir, nil); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("OpenFS(%q) = %v, want ErrInvalid", dir, err)
		}
	}
}

// Options that the database sets itself, or that are out of range, are errors.
func TestOpenRefusesOptions(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]database.Options{
		"database: Reader.Name must not be set":      {Reader: table.ReaderOptions{Name: "n"}},
		"database: Reader.CacheKey must not be set":  {Reader: table.ReaderOptions{CacheKey: "k"}},
		"database: Reader.TailSum must not be set":   {Reader: table.ReaderOptions{TailSum: [32]byte{1}}},
		"database: Reader.Comparer must not be set":  {Reader: table.ReaderOptions{Comparer: table.BytewiseComparer}},
		"database: Reader.FilterKey must not be set": {Reader: table.ReaderOptions{FilterKey: internalkey.UserKey}},
		"database: nil Comparer in Comparers":        {Comparers: []table.Comparer{nil}},
		"table: MaxBlockSize is -1":                  {Reader: table.ReaderOptions{MaxBlockSize: -1}},
	} {
		if _, err := database.OpenFS(new(layout).end(t), ".", &o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("OpenFS = %v, want %s", err, want)
		}
	}
}
