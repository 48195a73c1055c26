package database_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// For an option out of range, Create returns an error and leaves nothing behind.
func TestCreateRefusesOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		options database.WriterOptions
		want    string
	}{
		{"TableSize", database.WriterOptions{TableSize: -1}, "database: TableSize is -1: must be 0 to 1099511627776"},
		{"a TableSize too large", database.WriterOptions{TableSize: 1<<40 + 1}, "database: TableSize is 1099511627777"},
		{"a Mode of a file type", database.WriterOptions{Mode: fs.ModeDir | 0o755}, "database: Mode is drwxr-xr-x: must be permissions"},
		{"FilterKey", database.WriterOptions{Table: table.WriterOptions{FilterKey: internalkey.UserKey}}, "database: Table.FilterKey must not be set"},
		{"FilterOnly", database.WriterOptions{Table: table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}}, "database: Table.FilterOnly must not be set"},
		{"Never", database.WriterOptions{Table: table.WriterOptions{Never: func(func([]byte, error) bool) {}}}, "database: Table.Never must not be set"},
		{"internal keys", database.WriterOptions{Table: table.WriterOptions{Comparer: table.InternalComparer(nil)}}, `database: Table.Comparer is "leveldb.InternalKeyComparator": must be the order of user keys`},
		{"any order", database.WriterOptions{Table: table.WriterOptions{Comparer: table.AnyOrder}}, `database: Table.Comparer is "sievetable.AnyOrder"`},
		{"an option of the tables", database.WriterOptions{Table: table.WriterOptions{BlockSize: -1}}, "table: BlockSize is -1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parent := t.TempDir()
			w, err := database.Create(filepath.Join(parent, "db"), &tt.options)
			if w != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Create = %v, %v, want %s", w, err, tt.want)
			}
			errtest.Empty(t, parent)
		})
	}
}

// Create refuses a database, and any other directory that has files.
func TestCreateRefusesDirectories(t *testing.T) {
	t.Parallel()
	db := write(t, nil, versionsOf(10))
	want, _ := read(t, db, table.BytewiseComparer)
	file := filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(file, nil, 0o666))
	for path, want := range map[string]string{
		db:                               "already exists, and is not an empty directory",
		file:                             "already exists, and is not an empty directory",
		filepath.Join(file, "db"):        "not a directory",
		filepath.Join(db, "missing/new"): "no such file or directory",
		"":                               "not the name of a new directory",
	} {
		if w, err := database.Create(path, nil); w != nil || err == nil || !strings.HasPrefix(err.Error(), "database: create ") || !strings.HasSuffix(err.Error(), want) && runtime.GOOS != "windows" { // there, the system's errors are others
			t.Errorf("Create(%q) = %v, %v, want %s", path, w, err, want)
		}
	}
	if got, _ := read(t, db, table.BytewiseComparer); len(got) != len(want) {
		t.Errorf("the database has %d entries, and %d before", len(got), len(want))
	}
}

// If files appear in the directory while the Writer is at work, Close leaves it unchanged.
func TestCloseRefusesADirectoryThatIsThere(t *testing.T) {
	t.Parallel()
	w, parent := create(t, nil)
	dir := filepath.Join(parent, "db")
	other := write(t, nil, versionsOf(10))
	noError(t, os.Rename(other, dir))
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("Close = %v, want that it is there", err)
	}
	if names, err := filepath.Glob(filepath.Join(parent, "*")); err != nil || len(names) != 1 {
		t.Errorf("%q, %v, want one name", names, err)
	}
	if entries, _ := read(t, dir, table.BytewiseComparer); len(entries) == 0 {
		t.Error("the database that was there has no entries")
	}
}

// An error of Append is returned by all later calls and by Close. No directory is created.
func TestWriterErrors(t *testing.T) {
	t.Parallel()
	key := func(user string, sequence uint64) internalkey.Key { return set(user, sequence, "").Key }
	for _, tt := range []struct {
		name   string
		before []internalkey.Key
		wrong  internalkey.Key
		want   string
		is     error
	}{
		{"the order of user keys", []internalkey.Key{key("a", 0), key("b", 0)}, key("a", 0), `table: keys are not in increasing order: "a" @ 0 : set after "b" @ 0 : set`, table.ErrOrder},
		{"a key twice", []internalkey.Key{key("a", 0)}, key("a", 0), `table: keys are not in increasing order: "a" @ 0 : set after "a" @ 0 : set`, table.ErrOrder},
		{"the order of versions", []internalkey.Key{key("a", 5)}, key("a", 7), `table: keys are not in increasing order: "a" @ 7 : set after "a" @ 5 : set`, table.ErrOrder},
		{"a kind of another engine", nil, internalkey.Key{UserKey: []byte("a"), Kind: 7}, `database: key "a" @ 0 : kind 7: must be a set or delete with a sequence number ≤ 72057594037927935`, nil},
		{"a sequence number", nil, key("a", internalkey.MaxSequence+1), `database: key "a" @ 72057594037927936 : set: must be a set or delete`, nil},
	} {
		for _, size := range []int64{1, 1 << 20} { // whether or not the previous key is the last one of a table
			t.Run(fmt.Sprintf("%s, TableSize %d", tt.name, size), func(t *testing.T) {
				w, parent := create(t, &database.WriterOptions{TableSize: size})
				for _, k := range tt.before {
					noError(t, w.AppendInternal(k, nil))
				}
				err := w.AppendInternal(tt.wrong, nil)
				if err == nil || !strings.HasPrefix(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
					t.Errorf("AppendInternal = %v, want %s", err, tt.want)
				}
				if again := w.Append([]byte("z"), nil); again != err {
					t.Errorf("Append = %v, want the same error again", again)
				}
				if again := w.Close(); !errors.Is(again, err) {
					t.Errorf("Close = %v, want the same error again", again)
				}
				errtest.Empty(t, parent)
			})
		}
	}
}

// After Close and Abort, a Writer is closed. The database of Close remains.
func TestWriterAfterTheEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*database.Writer) error{"Close": (*database.Writer).Close, "Abort": (*database.Writer).Abort} {
		w, parent := create(t, nil)
		if err := errors.Join(w.Append([]byte("a"), nil), end(w)); err != nil {
			t.Errorf("%s = %v", name, err)
		}
		if err := w.Append([]byte("b"), nil); err != table.ErrClosed {
			t.Errorf("Append after %s = %v, want ErrClosed", name, err)
		}
		if err := w.Close(); err != table.ErrClosed {
			t.Errorf("Close after %s = %v, want ErrClosed", name, err)
		}
		if err := w.Abort(); err != nil {
			t.Errorf("Abort after %s = %v", name, err)
		}
		if name == "Abort" {
			errtest.Empty(t, parent)
		} else if entries, _ := read(t, filepath.Join(parent, "db"), nil); len(entries) != 1 {
			t.Errorf("%d entries after %s, want 1", len(entries), name)
		}
	}
}

// Another goroutine may abort a Writer at any time: there is then no database, or a complete one.
func TestAbortOfAnotherGoroutine(t *testing.T) {
	t.Parallel()
	for range 20 {
		w, parent := create(t, &database.WriterOptions{TableSize: 1000, Table: table.WriterOptions{Concurrency: 2}})
		var err error
		aborted := make(chan error, 1)
		var n int
		for err == nil && n <= 100_000 {
			switch n {
			case 1000:
				go func() { aborted <- w.Abort() }()
			case 100_000:
				aborted <- <-aborted // it has ended before the last key
			}
			err = w.Append(fmt.Appendf(nil, "%06d", n), nil)
			n++
		}
		if err := <-aborted; err != nil {
			t.Error(err)
		}
		if !errors.Is(err, table.ErrClosed) && !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Append of key %d = %v, want ErrClosed", n, err)
		}
		if err := w.Close(); err != table.ErrClosed {
			t.Errorf("Close = %v, want ErrClosed", err)
		}
		errtest.Empty(t, parent)
	}
}

// If a Comparer panics, half a database is not published.
func TestWriterAfterAPanic(t *testing.T) {
	t.Parallel()
	order := &panickingOrder{Comparer: table.BytewiseComparer}
	w, parent := create(t, &database.WriterOptions{Table: table.WriterOptions{Comparer: order}})
	noError(t, w.Append([]byte("a"), nil))
	order.panics = true
	if errtest.PanicOf(func() { w.Append([]byte("b"), nil) }) == nil {
		t.Error("Append does not panic")
	}
	const want = "database: an earlier call panicked"
	for _, err := range []error{w.Append([]byte("c"), nil), w.Close()} {
		if err == nil || err.Error() != want {
			t.Errorf("Append or Close = %v, want %s", err, want)
		}
	}
	errtest.Empty(t, parent)
}
