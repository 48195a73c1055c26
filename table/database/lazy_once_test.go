package database_test

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// oneTable returns a database with one table, 000002.ldb.
func oneTable(t *testing.T) fstest.MapFS {
	t.Helper()
	var l layout
	l.table(t, 1, set("a", 1, "1"), set("b", 2, "2"))
	return l.end(t)
}

// Goroutines that use a table at the same time open it once. If that fails for a reason other than corruption, the
// next use tries again.
func TestLazyTablesAreOpenedOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before  func(n int) error
		damaged bool
		opened  int
	}{
		"a sound table":           {opened: 1},
		"a damaged table":         {damaged: true, opened: 1},
		"a table that vanishes":   {before: func(int) error { return fs.ErrNotExist }, damaged: true, opened: 1},
		"an error for two times":  {before: func(n int) error { return []error{fs.ErrPermission, fs.ErrPermission, nil}[n-1] }, opened: 3},
		"a panic at the first":    {before: func(n int) error { panicIf(n == 1); return nil }, opened: 2},
		"a panic after the first": {before: func(n int) error { panicIf(n == 2); return []error{fs.ErrPermission, nil, nil}[n-1] }, opened: 3},
	} {
		files := oneTable(t)
		if tt.damaged && tt.before == nil {
			clear(files["000002.ldb"].Data)
		}
		fsys := &tablesFS{openedFS: openedFS{FS: files}, before: tt.before}
		db := openLazily(t, fsys)
		var users sync.WaitGroup
		for i := range 8 {
			users.Go(func() {
				value, err := "", error(nil)
				for range 4 { // until it is open
					if value, err = useAgain(db, i%2 == 0); err == nil || errors.Is(err, table.ErrCorrupt) {
						break
					}
				}
				if errors.Is(err, table.ErrCorrupt) != tt.damaged || err == nil && value != "2" {
					t.Errorf("%s: %q, %v", name, value, err)
				}
			})
		}
		users.Wait()
		if err := db.Close(); len(fsys.opened) != tt.opened || err != nil || fsys.open.Load() != 0 {
			t.Errorf("%s: opened %d times, want %d; Close = %v, then %d files are open", name, len(fsys.opened), tt.opened, err, fsys.open.Load())
		}
	}
}

var errPanicked = errors.New("panicked")

func panicIf(is bool) {
	if is {
		panic(errPanicked)
	}
}

// useAgain returns the value of key b of oneTable, by a lookup or an iterator. It returns a panic as an error.
func useAgain(db *database.DB, byGet bool) (value string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	if byGet {
		v, err := db.Get([]byte("b"))
		return string(v), err
	}
	it := db.NewIter(&table.IterOptions{Lower: []byte("b"), Upper: []byte("b\x00")})
	defer it.Close() // its error is returned
	it.First()
	return string(it.Value()), it.Error()
}

// An error other than corruption fails the lookup or move in which it occurs, without a call of OnLoss.
func TestLazyTablesAreTriedAgain(t *testing.T) {
	t.Parallel()
	fsys := &tablesFS{openedFS: openedFS{FS: oneTable(t)}, before: func(n int) error { return []error{fs.ErrPermission, fs.ErrPermission, nil, nil}[n-1] }}
	db := openLazily(t, fsys)
	check := func(err error) {
		if !errors.Is(err, fs.ErrPermission) || errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "000002.ldb: permission denied") {
			t.Errorf("%v, want an error that names 000002.ldb and is not damage", err)
		}
	}
	_, err := db.Get([]byte("b"))
	check(err)
	it := db.NewIter(&table.IterOptions{OnLoss: func(l table.Loss) bool { t.Errorf("OnLoss(%v)", l); return true }})
	defer it.Close() // it has no error
	if it.First() {
		t.Error("First = true")
	}
	check(it.Error())
	if !it.First() || string(it.Key()) != "a" || it.Error() != nil {
		t.Errorf("First = %q, %v; want a", it.Key(), it.Error())
	}
	checkGet(t, db.View, "b", "2", true)
}

// Close waits for a table that is being opened, and no file stays open.
func TestLazyTablesAreClosedMeanwhile(t *testing.T) {
	t.Parallel()
	for range 20 {
		begun, goOn := make(chan bool), make(chan bool)
		fsys := &tablesFS{openedFS: openedFS{FS: oneTable(t)}, before: func(int) error {
			begun <- true
			<-goOn
			return nil
		}}
		db := openLazily(t, fsys)
		var users sync.WaitGroup
		users.Go(func() {
			if value, err := db.Get([]byte("b")); string(value) != "2" && !errors.Is(err, table.ErrClosed) {
				t.Errorf("Get = %q, %v; want 2 or ErrClosed", value, err)
			}
		})
		<-begun
		users.Go(func() {
			if err := db.Close(); err != nil || fsys.open.Load() != 0 {
				t.Errorf("Close = %v, then %d files are open", err, fsys.open.Load())
			}
		})
		close(goOn)
		users.Wait()
		if _, err := db.Get([]byte("a")); !errors.Is(err, table.ErrClosed) || len(fsys.opened) != 1 || fsys.open.Load() != 0 {
			t.Errorf("Get = %v; %q was opened, %d files are open", err, fsys.opened, fsys.open.Load())
		}
	}
}
