package set

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

	"github.com/sievetable/sievetable/internal/regular"
)

// openerOf returns what opens files of a new directory, which has n of them: "0", "1" and so on.
func openerOf(t *testing.T, n int) func(string) (*os.File, fs.FileInfo, error) {
	dir := t.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte{byte(i)}, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) (*os.File, fs.FileInfo, error) { return regular.Open(filepath.Join(dir, name)) }
}

// A read waits for others if as many files as may be open are being read. It gets the next slot, also
// if others wait with it.
func TestReadsWaitForSlots(t *testing.T) {
	t.Parallel()
	open := openerOf(t, 4)
	synctest.Test(t, func(t *testing.T) {
		d := newDirFiles(1)
		first, err := d.open(t.Context(), "0", open)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := d.open(ctx, "1", open); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("open while another file is read: %v, want DeadlineExceeded", err)
		}
		var reads sync.WaitGroup
		for i := range 4 {
			reads.Go(func() {
				o, err := d.open(t.Context(), fmt.Sprint(i), open)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Second)
				o.release()
			})
		}
		synctest.Wait()
		start := time.Now()
		first.release()
		reads.Wait()
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("four reads of a second, one at a time, took %v", took)
		}
		d.forgetAll()
		if len(d.slots) != 0 {
			t.Errorf("%d files are open at the end", len(d.slots))
		}
	})
}

// A file that is forgotten while it is being opened may be the old one: it is not kept.
func TestForgetWhileOpening(t *testing.T) {
	t.Parallel()
	open := openerOf(t, 1)
	d := newDirFiles(2)
	o, err := d.open(t.Context(), "0", func(name string) (*os.File, fs.FileInfo, error) {
		defer d.close(name, true)
		return open(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	o.release()
	if len(d.known) != 0 || len(d.slots) != 0 {
		t.Errorf("%d files are known, %d open, want none", len(d.known), len(d.slots))
	}
}

// Another file is noticed by any of its number, its size and its time.
func TestSameFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
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
		info := func(file, contents string, when time.Time) fs.FileInfo {
			file = filepath.Join(dir, file)
			if err := errors.Join(os.WriteFile(file, []byte(contents), 0o666), os.Chtimes(file, when, when)); err != nil {
				t.Fatal(err)
			}
			f, info, err := regular.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			return info
		}
		if got := sameFile(info("first", "12", when), info(test.file, test.contents, test.when)); got != test.want {
			t.Errorf("a file and %s: same %t, want %t", name, got, test.want)
		}
	}
}

// Reads of many files go on whatever is forgotten, and each reads its own file. All are closed at the
// end. A file that is asked for again and again stays open.
func TestDirFiles(t *testing.T) {
	t.Parallel()
	const files = 8
	open := openerOf(t, files)
	for most := 1; most <= files+1; most += 2 {
		d := newDirFiles(most)
		read := func(i int) {
			name := fmt.Sprint(i)
			o := d.acquire(name)
			if o == nil {
				var err error
				if o, err = d.open(t.Context(), name, open); err != nil {
					t.Error(err)
					return
				}
			}
			defer o.release()
			var b [1]byte
			if _, err := o.ReadAt(b[:], 0); err != nil || int(b[0]) != i {
				t.Errorf("file %d has %d, %v", i, b[0], err)
			}
		}
		var reads sync.WaitGroup
		for g := range 8 {
			rng := rand.New(rand.NewPCG(28, uint64(g)))
			reads.Go(func() {
				for range 500 {
					if i := rng.IntN(files); rng.IntN(20) == 0 {
						d.close(fmt.Sprint(i), rng.IntN(2) == 0)
					} else {
						read(i)
					}
				}
			})
		}
		reads.Wait()
		if _, _, err := open("none"); err == nil {
			t.Error("there is a file none")
		}
		if _, err := d.open(t.Context(), "none", open); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open of no file: %v, want ErrNotExist", err)
		}
		if d.waiting != 0 || len(d.slots) != d.kept.n || d.kept.n > most {
			t.Errorf("%d wait, %d files are open, %d are kept", d.waiting, len(d.slots), d.kept.n)
		}
		d.forgetAll()
		if len(d.slots) != 0 || d.kept.n != 0 {
			t.Errorf("%d files are open at the end, %d are kept", len(d.slots), d.kept.n)
		}
	}
}
