package openfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/regular"
)

var noError = errtest.NoError

// openerOf returns an open function for a new directory with n files: "0", "1" and so on.
func openerOf(t *testing.T, n int) func(string) (regular.File, fs.FileInfo, error) {
	dir := t.TempDir()
	for i := range n {
		noError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte{byte(i)}, 0o666))
	}
	return func(name string) (regular.File, fs.FileInfo, error) {
		return regular.Open(filepath.Join(dir, name))
	}
}

// A slot is freed if opening the file panics, as an fs.FS may.
func TestPanicOfOpenFreesTheSlot(t *testing.T) {
	t.Parallel()
	panics, open := true, openerOf(t, 1)
	c := New(1, func(name string) (regular.File, fs.FileInfo, error) {
		if panics {
			panic("open")
		}
		return open(name)
	}, nil)
	if errtest.PanicOf(func() { c.Acquire(t.Context(), "0") }) == nil {
		t.Error("Acquire does not panic")
	}
	if n := len(c.slots); n != 0 {
		t.Fatalf("%d slots are taken after the panic, want 0", n)
	}
	panics = false
	f, err := c.Acquire(t.Context(), "0")
	noError(t, err)
	f.Release()
	c.ForgetAll()
}

// If all slots are in use, a read waits for the next free slot, even if others wait too.
func TestReadsWaitForSlots(t *testing.T) {
	t.Parallel()
	open := openerOf(t, 4)
	synctest.Test(t, func(t *testing.T) {
		c := New(1, open, nil)
		first, err := c.Acquire(t.Context(), "0")
		noError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Acquire(ctx, "1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("open while another file is read: %v, want DeadlineExceeded", err)
		}
		var reads sync.WaitGroup
		for i := range 4 {
			reads.Go(func() {
				f, err := c.Acquire(t.Context(), fmt.Sprint(i))
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Second)
				f.Release()
			})
		}
		synctest.Wait()
		start := time.Now()
		first.Release()
		reads.Wait()
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("four reads of a second, one at a time, took %v", took)
		}
		c.ForgetAll()
		if len(c.slots) != 0 {
			t.Errorf("%d files are open at the end", len(c.slots))
		}
	})
}

// A file that is forgotten while it is being opened may be the old one, so it is not kept.
func TestForgetWhileOpening(t *testing.T) {
	t.Parallel()
	open := openerOf(t, 1)
	c := New(2, open, nil)
	c.open = func(name string) (regular.File, fs.FileInfo, error) {
		defer c.Forget(name)
		return open(name)
	}
	f, err := c.Acquire(t.Context(), "0")
	noError(t, err)
	f.Release()
	if _, known := c.known.Load("0"); known || len(c.slots) != 0 {
		t.Errorf("known: %t, %d files are open, want none", known, len(c.slots))
	}
}

// Close of a file that is not known, such as a forgotten one, adds nothing that stays in memory.
func TestCloseOfAnUnknownFile(t *testing.T) {
	t.Parallel()
	c := New(1, openerOf(t, 1), nil)
	f, err := c.Acquire(t.Context(), "0")
	noError(t, err)
	f.Release()
	c.Forget("0")
	c.Close("0")
	if _, known := c.known.Load("0"); known || len(c.slots) != 0 {
		t.Errorf("known: %t, %d files are open, want none", known, len(c.slots))
	}
}

// A read takes no lock, so it can find a file that another goroutine has just closed. Then it opens the file again.
func TestReadFindsAClosedFile(t *testing.T) {
	t.Parallel()
	c := New(1, openerOf(t, 1), nil)
	f, err := c.Acquire(t.Context(), "0")
	noError(t, err)
	f.Release()
	c.Close("0")
	c.named("0").kept.Store(f) // as the read has loaded it before Close
	_, err = c.ReadAt(t.Context(), "0", make([]byte, 1), 0)
	noError(t, err)
	if len(c.slots) != 0 {
		t.Errorf("%d files are open, want none", len(c.slots))
	}
}

// To open another file, one that was not read again is closed.
func TestFilesInUseStayOpen(t *testing.T) {
	t.Parallel()
	open := openerOf(t, 3)
	for range 50 { // the order of eviction is random otherwise
		c := New(2, open, nil)
		for _, name := range []string{"0", "1", "0", "2"} {
			_, err := c.ReadAt(t.Context(), name, make([]byte, 1), 0)
			noError(t, err)
		}
		if c.named("0").kept.Load() == nil || c.named("1").kept.Load() != nil {
			t.Fatal("file 0, which was read twice, is closed instead of file 1")
		}
		c.ForgetAll()
	}
}

// If two reads open one file at the same time, one of the two is kept, and the other is closed when its read has
// ended.
func TestFileOpenedTwiceAtOnceIsKeptOnce(t *testing.T) {
	t.Parallel()
	open := openerOf(t, 1)
	c := New(2, open, nil)
	var kept *File
	c.open = func(name string) (regular.File, fs.FileInfo, error) {
		c.open = open
		var err error
		if kept, err = c.openFile(t.Context(), c.named(name)); err != nil {
			t.Error(err)
		}
		return open(name)
	}
	other, err := c.openFile(t.Context(), c.named("0"))
	if err != nil || kept == nil {
		t.Fatal(err)
	}
	isClosed := func(f *File) bool {
		_, err := f.ReadAt(make([]byte, 1), 0) // Stat has another error on Windows
		return errors.Is(err, os.ErrClosed)
	}
	kept.Release()
	other.Release()
	if isClosed(kept) || !isClosed(other) || len(c.slots) != 1 {
		t.Errorf("after the reads: closed %t and %t, want the second only; %d open files, want 1", isClosed(kept), isClosed(other), len(c.slots))
	}
	c.ForgetAll()
	if !isClosed(kept) || len(c.slots) != 0 {
		t.Errorf("at the end: closed %t, %d open files", isClosed(kept), len(c.slots))
	}
}

// A different file is noticed by its number, its size or its time.
func TestAnotherFileIsNoticed(t *testing.T) {
	t.Parallel()
	when := time.Now()
	for name, test := range map[string]struct {
		file, contents string
		when           time.Time
		want           bool
	}{
		"the same":         {"first", "34", when, true},
		"another":          {"other", "34", when, false},
		"of another size":  {"first", "345", when, false},
		"of another time":  {"first", "34", when.Add(time.Second), false},
		"of an older time": {"first", "34", when.Add(-time.Second), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := writtenInfo(t, filepath.Join(dir, "first"), "12", when)
			second := writtenInfo(t, filepath.Join(dir, test.file), test.contents, test.when)
			if got := sameFile(first, second); got != test.want {
				t.Errorf("a file and %s: same %t, want %t", name, got, test.want)
			}
		})
	}
}

// writtenInfo writes a file, and returns its FileInfo while it is open.
func writtenInfo(t *testing.T, file, contents string, when time.Time) fs.FileInfo {
	t.Helper()
	noError(t, errors.Join(os.WriteFile(file, []byte(contents), 0o666), os.Chtimes(file, when, when)))
	f, info, err := regular.Open(file)
	noError(t, err)
	f.Close()
	return info
}

// Reads of many files continue while files are forgotten, and each reads its own file. At the end all files are
// closed. A file that is read again and again stays open.
func TestManyReads(t *testing.T) {
	t.Parallel()
	const files = 8
	open := openerOf(t, files)
	for most := 1; most <= files+1; most += 2 {
		c := New(most, open, nil)
		read := func(i int) {
			var b [1]byte
			if _, err := c.ReadAt(t.Context(), fmt.Sprint(i), b[:], 0); err != nil || int(b[0]) != i {
				t.Errorf("file %d has %d, %v", i, b[0], err)
			}
		}
		var reads sync.WaitGroup
		for g := range 8 {
			rng := rand.New(rand.NewPCG(28, uint64(g)))
			reads.Go(func() {
				for range 500 {
					switch i := rng.IntN(files); rng.IntN(40) {
					case 0:
						c.Close(fmt.Sprint(i))
					case 1:
						c.Forget(fmt.Sprint(i))
					default:
						read(i)
					}
				}
			})
		}
		reads.Wait()
		if _, _, err := open("none"); err == nil {
			t.Error("there is a file none")
		}
		if _, err := c.Acquire(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open of no file: %v, want ErrNotExist", err)
		}
		if c.waiting.Load() != 0 || len(c.slots) != c.kept.Len() || c.kept.Len() > most {
			t.Errorf("%d wait, %d files are open, %d are kept", c.waiting.Load(), len(c.slots), c.kept.Len())
		}
		c.ForgetAll()
		if len(c.slots) != 0 || c.kept.Len() != 0 {
			t.Errorf("%d files are open at the end, %d are kept", len(c.slots), c.kept.Len())
		}
	}
}
