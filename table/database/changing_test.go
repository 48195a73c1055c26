package database_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// A compactedFS is a database that an engine compacts each time a file other than CURRENT and the MANIFEST is
// opened, until it reaches the last state.
type compactedFS struct {
	states []fs.FS
	opened int // MANIFESTs
}

func (c *compactedFS) Open(name string) (fs.File, error) {
	switch {
	case strings.HasPrefix(name, "MANIFEST"):
		c.opened++
	case name != "CURRENT" && len(c.states) > 1:
		c.states = c.states[1:]
	}
	return c.states[0].Open(name)
}

// Stat does not compact.
func (c *compactedFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.states[0], name) }

// compactions returns n states of a database. Each has no tables and logs of the previous one.
func compactions(t *testing.T, n int) *compactedFS {
	t.Helper()
	c := new(compactedFS)
	for i := range uint64(n) {
		l := layout{next: 10 * (i + 1), files: fstest.MapFS{}}
		l.table(t, 1, set("a", 2*i+1, fmt.Sprint("a of ", i)))
		l.write(t, batch(set("b", 2*i+2, fmt.Sprint("b of ", i))))
		c.states = append(c.states, l.end(t))
	}
	return c
}

// If the database changes while Open reads it, Open tries again, and returns one consistent state.
func TestOpenWhileAnEngineCompacts(t *testing.T) {
	t.Parallel()
	for n := range 19 {
		c := compactions(t, n+1)
		db := openFS(t, c, nil)
		checkGet(t, db.View, "a", fmt.Sprint("a of ", n), true)
		checkGet(t, db.View, "b", fmt.Sprint("b of ", n), true)
		if c.opened != n+1 {
			t.Errorf("%d states: %d tries", n+1, c.opened)
		}
	}
}

// Open gives up if an error persists, or if the database changes too often.
func TestOpenGivesUp(t *testing.T) {
	t.Parallel()
	c := compactions(t, 100)
	if _, err := database.OpenFS(c, ".", nil); err == nil || c.opened != 20 {
		t.Errorf("Open = %v after %d tries, want an error after 20", err, c.opened)
	}
	c = compactions(t, 1)
	delete(c.states[0].(fstest.MapFS), "000010.ldb")
	if _, err := database.OpenFS(c, ".", nil); !errors.Is(err, table.ErrCorrupt) || c.opened != 2 {
		t.Errorf("Open = %v after %d tries, want ErrCorrupt after 2", err, c.opened)
	}
}

// A droppedFS is a database that changes each time a log is opened, before it is opened.
type droppedFS struct {
	states []fs.FS
	read   int // listings of the directory
}

func (d *droppedFS) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".log") && len(d.states) > 1 {
		d.states = d.states[1:]
	}
	return d.states[0].Open(name)
}

func (d *droppedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	d.read++
	return fs.ReadDir(d.states[0], name)
}

// goleveldb can drop empty logs, one after another, before it names the next log in the MANIFEST. The log that the
// MANIFEST names can then be missing in two attempts.
func TestOpenWhileAnEngineDropsEmptyLogs(t *testing.T) {
	t.Parallel()
	var l layout
	l.table(t, 1, set("a", 1, "old"))
	dropped := []string{l.write(t), l.write(t), l.write(t, batch(set("a", 2, "new")))}
	named := l.end(t)
	without := func(files fstest.MapFS, names ...string) fstest.MapFS {
		files = maps.Clone(files)
		for _, name := range names {
			delete(files, name)
		}
		return files
	}
	after := layout{next: 20, files: fstest.MapFS{}}
	after.table(t, 1, set("a", 2, "new"))
	after.write(t, batch(set("b", 3, "newest")))
	d := &droppedFS{states: []fs.FS{
		without(named, dropped[1:]...), without(named, dropped[0], dropped[2]), after.end(t),
	}}
	db := openFS(t, d, nil)
	checkGet(t, db.View, "a", "new", true)
	checkGet(t, db.View, "b", "newest", true)
	if d.read != 3 {
		t.Errorf("%d attempts, want 3", d.read)
	}
	lost := &droppedFS{states: []fs.FS{without(named, dropped...)}}
	if err := openError(lost, nil); !errors.Is(err, table.ErrCorrupt) || lost.read != 2 {
		t.Errorf("OpenFS = %v after %d attempts, want ErrCorrupt after 2", err, lost.read)
	}
}

// OnLoss is not called for a table or a log that only one attempt misses.
func TestOnLossWhileTheDatabaseChanges(t *testing.T) {
	t.Parallel()
	before, after := layout{}, layout{next: 20, files: fstest.MapFS{}}
	for _, l := range []*layout{&before, &after} {
		m := l.table(t, 1, set("a", 1, "lost"))
		delete(l.files, versions.TableName(m.Number))
		first := l.write(t)
		if l == &before {
			delete(l.files, first)
			l.write(t)
		}
	}
	var lost []string
	openFS(t, &droppedFS{states: []fs.FS{before.end(t), after.end(t)}}, &database.Options{
		OnLoss: func(l table.Loss) bool { lost = append(lost, l.File); return true },
	})
	if want := []string{versions.TableName(20)}; !slices.Equal(lost, want) {
		t.Errorf("OnLoss was called for %q, want %q", lost, want)
	}
}

// A DB can be read even if the engine has deleted all files since.
func TestFilesAreDeleted(t *testing.T) {
	t.Parallel()
	for _, mapped := range []bool{false, true} {
		c := compactions(t, 1)
		dir := onDisk(t, c.states[0])
		db := openDir(t, dir, &database.Options{Reader: table.ReaderOptions{Mapped: mapped}})
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		for _, f := range files {
			err = errors.Join(err, os.Remove(f))
		}
		if err != nil || len(files) < 4 {
			t.Fatal(files, err)
		}
		checkGet(t, db.View, "a", "a of 0", true)
		if got := collect(t, db.View, nil); len(got) != 2 {
			t.Errorf("%d pairs, want 2", len(got))
		}
	}
}

// After Close, everything that needs the database returns ErrClosed. Values remain valid.
func TestClose(t *testing.T) {
	t.Parallel()
	db := openFS(t, compactions(t, 1).states[0], nil)
	value, err := db.Get([]byte("a"))
	it := db.NewIter(nil)
	noError(t, errors.Join(err, db.Close()))
	for _, key := range []string{"a", "b", "c"} {
		_, getErr := db.Get([]byte(key))
		dst, appendErr := db.At(1).AppendGet([]byte("dst"), []byte(key))
		manyErr := db.GetMany(t.Context(), [][]byte{[]byte(key)}, nil, nil)
		for _, err := range []error{getErr, appendErr, manyErr} {
			if !errors.Is(err, table.ErrClosed) || string(dst) != "dst" {
				t.Errorf("key %s: %v, %q, want ErrClosed", key, err, dst)
			}
		}
	}
	for range 2 {
		if it.First() || !errors.Is(it.Error(), table.ErrClosed) {
			t.Errorf("First = %v, want ErrClosed", it.Error())
		}
		it = db.NewIter(&table.IterOptions{Lower: []byte("b")}) // only of writes in memory
	}
	for _, err := range db.All(nil) {
		if !errors.Is(err, table.ErrClosed) {
			t.Errorf("All: %v, want ErrClosed", err)
		}
	}
	if err := db.Close(); !errors.Is(err, table.ErrClosed) || string(value) != "a of 0" {
		t.Errorf("Close = %v, want ErrClosed; the value is %q", err, value)
	}
}

// Goroutines that use a DB while another one closes it get results or ErrClosed.
func TestCloseMeanwhile(t *testing.T) {
	t.Parallel()
	for range 20 {
		db := openFS(t, compactions(t, 1).states[0], nil)
		var users sync.WaitGroup
		started := make(chan bool)
		for range 4 {
			users.Go(func() {
				n, err := useOnce(db)
				started <- true
				for err == nil && n == 4 {
					n, err = useOnce(db)
				}
				if !errors.Is(err, table.ErrClosed) {
					t.Errorf("%d pairs, %v, want 4", n, err)
				}
			})
		}
		for range 4 {
			<-started
		}
		noError(t, db.Close())
		users.Wait()
	}
}

// useOnce reads the two pairs twice, and returns the number of pairs found.
func useOnce(db *database.DB) (n int, err error) {
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	err = db.GetMany(context.Background(), keys, nil, func(int, []byte) error { n++; return nil })
	for _, iterErr := range db.All(nil) {
		if n++; iterErr != nil {
			return n, errors.Join(err, iterErr)
		}
	}
	return n, err
}
