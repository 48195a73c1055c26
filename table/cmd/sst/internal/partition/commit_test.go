package partition

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/set"
)

// If a table cannot get its name, the manifest stays as it was: it never lists a table that is not there.
func TestManifestComesLast(t *testing.T) {
	t.Parallel()
	same, dir := t.TempDir(), t.TempDir()
	write(t, options(same), 25, "new")
	write(t, options(dir), 25, "old")
	blocked := names(t, same)[1] // the name that a table will have
	if err := os.Mkdir(filepath.Join(dir, blocked), 0o777); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, set.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	w, err := Create(t.Context(), options(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	appendKeys(t, w, 25, "new")
	if _, err := w.Commit(); err == nil {
		t.Error("Commit: no error, though a table has no name")
	}
	after, err := os.ReadFile(filepath.Join(dir, set.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("the manifest (-before +after):\n%s", diff)
	}
}

// unfinished is a table whose Close fails.
type unfinished struct{ TableWriter }

var errUnfinished = errors.New("no space left")

func (unfinished) Close() (set.Table, error) { return set.Table{}, errUnfinished }

// An error of the last table is that of Commit, and there is no manifest.
func TestCommitOfAnUnfinishedTable(t *testing.T) {
	t.Parallel()
	o := options(t.TempDir())
	newTable := o.NewTable
	o.NewTable = func(w io.Writer) (TableWriter, error) {
		to, err := newTable(w)
		return unfinished{to}, err
	}
	w, err := Create(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	appendKeys(t, w, 5, "v")
	if _, err := w.Commit(); !errors.Is(err, errUnfinished) {
		t.Errorf("Commit: %v, want %v", err, errUnfinished)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if left := names(t, o.Dir); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Whether a layer fits is checked again at its end, as the set can be another one by then.
func TestLayerIsCheckedAtItsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, options(dir), 5, "v")
	before, misfit, checks := listing(t, dir), errors.New("does not fit any more"), 0
	w, err := CreateLayer(t.Context(), options(dir), func(*set.Manifest) error {
		if checks++; checks > 1 {
			return misfit
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	appendKeys(t, w, 5, "w")
	if _, err := w.Commit(); !errors.Is(err, misfit) {
		t.Errorf("Commit: %v, want %v", err, misfit)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// Of Writers that lock a directory, one has the lock at a time.
func TestLockExcludes(t *testing.T) {
	t.Parallel()
	w := &Writer{ctx: t.Context(), o: options(t.TempDir()), fits: anyManifest}
	var holders, violations atomic.Int32
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for range 30 {
				unlock, err := w.lock()
				if err != nil {
					t.Error(err)
					return
				}
				if holders.Add(1) > 1 {
					violations.Add(1)
				}
				time.Sleep(100 * time.Microsecond)
				holders.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if n := violations.Load(); n > 0 {
		t.Errorf("%d times another one had the lock too", n)
	}
}

// A Writer that waits for the lock ends with its context.
func TestLockEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := &Writer{ctx: ctx, o: options(t.TempDir()), fits: anyManifest}
	other, err := filelock.Open(w.path(lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(10*time.Second, func() { other.Close() }).Stop() // or it would wait without end
	defer other.Close()
	cancel()
	if _, err := w.lock(); !errors.Is(err, context.Canceled) {
		t.Errorf("lock: %v, want %v", err, context.Canceled)
	}
}

// A spool that lost some of its entries is an error.
func TestSpoolIsCut(t *testing.T) {
	t.Parallel()
	var r recorder
	c := newCutter(10, t.TempDir(), r.start)
	for _, key := range strings.Split("abcdef", "") {
		if err := c.Append([]byte(key), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.spool.out.Flush(), c.spool.file.Truncate(10)); err != nil {
		t.Fatal(err)
	}
	if err := c.finish(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("finish = %v, want %v", err, io.ErrUnexpectedEOF)
	}
}
