//go:build unix

package database_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/mappings"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// fewFilesEnv has the directory of a database, for a process with a low limit of open files.
const fewFilesEnv = "SIEVETABLE_TEST_FEW_FILES"

// A database with more tables than the process may open or map has the same results as any other.
func TestMoreTablesThanFiles(t *testing.T) {
	long.NoRace(t)
	if dir := os.Getenv(fewFilesEnv); dir != "" {
		readWithFewFiles(t, dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	writeManyTables(t, dir)
	cmd := tabletest.Self(t, fewFilesEnv+"="+dir, "-test.run=^TestMoreTablesThanFiles$")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

const manyTables = 300

// writeManyTables writes a database in which table i has the keys 2i and 2i+1. A table has one byte after its end.
func writeManyTables(t *testing.T, dir string) {
	t.Helper()
	c := newChanged(t)
	for i := range manyTables {
		c.table(t, 2, set(numberedKey(2*i), 7, fmt.Sprint(2*i)), set(numberedKey(2*i+1), 7, fmt.Sprint(2*i+1)))
	}
	for name, f := range c.end(t) {
		if name == "000150.ldb" {
			f.Data = append(f.Data, 0)
		}
		noError(t, os.WriteFile(filepath.Join(dir, name), f.Data, 0o666))
	}
}

func numberedKey(i int) string { return fmt.Sprintf("n%06d", i) }

func readWithFewFiles(t *testing.T, dir string) {
	const most = 64
	noError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most}))
	if _, err := os.ReadFile(filepath.Join(dir, "CURRENT")); err != nil { // the first call opens files of the runtime
		t.Fatal(err)
	}
	const readers = 4
	for name, test := range map[string]struct {
		fsys     fs.FS
		lazy     bool
		mapped   bool
		mappings int64
		more     int // open files
	}{
		"files":                 {},
		"files at first use":    {lazy: true},
		"files of an fs.FS":     {fsys: os.DirFS(dir)},
		"mapped":                {mapped: true, mappings: 1000},
		"mapped beyond a bound": {mapped: true, mappings: 100},
		"mapped at first use":   {lazy: true, mapped: true, mappings: 100, more: readers - 1}, // all tried the last mapping
	} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(mappings.SetLimit(mappings.Taken() + test.mappings))
			before := openFilesOf(t)
			o := &database.Options{LazyTables: test.lazy, Reader: table.ReaderOptions{Mapped: test.mapped}}
			open := func() (*database.DB, error) { return database.Open(dir, o) }
			if test.fsys != nil {
				open = func() (*database.DB, error) { return database.OpenFS(test.fsys, ".", o) }
			}
			db, err := open()
			noError(t, err)
			var lookups sync.WaitGroup
			for g := range readers {
				lookups.Go(func() {
					for i := range 2 * manyTables {
						n := (i*7 + g*100) % (2 * manyTables)
						if v, err := db.Get([]byte(numberedKey(n))); err != nil || string(v) != fmt.Sprint(n) {
							t.Errorf("Get(%d) = %q, %v", n, v, err)
						}
					}
				})
			}
			lookups.Wait()
			if open := openFilesOf(t) - before; open > most/4+test.more {
				t.Errorf("%d files are open, want at most %d", open, most/4+test.more)
			}
			n := 0
			for _, err := range db.All(nil) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil || n < 2*manyTables || openFilesOf(t) != before {
				t.Errorf("%d entries, Close = %v, %d files stay open", n, err, openFilesOf(t)-before)
			}
			if _, err := db.Get([]byte(numberedKey(0))); !errors.Is(err, table.ErrClosed) {
				t.Errorf("Get after Close = %v, want ErrClosed", err)
			}
		})
	}
}

// openFilesOf returns the number of open files of the process.
func openFilesOf(t *testing.T) int {
	t.Helper()
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		if names, err := os.ReadDir(dir); err == nil {
			return len(names)
		}
	}
	t.Skip("the open files cannot be counted here")
	return 0
}
