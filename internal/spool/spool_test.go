package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
)

// fill adds runs of entries of all sizes to f, and returns the entries as "key=value".
func fill(t *testing.T, f *File, runs int) (all []Run, want [][]string) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	for i := range runs {
		var entries []string
		for n := range 300 * i {
			key := fmt.Sprintf("%s%04d", strings.Repeat("k", n/100), n)[min(n, 1):]
			value := strings.Repeat("v", r.IntN(3)*r.IntN(1000))
			if n == 200 {
				value = strings.Repeat("v", 10*blockSize)
			}
			errtest.NoError(t, f.Append([]byte(key), []byte(value)))
			entries = append(entries, key+"="+value)
		}
		run, err := f.End()
		errtest.NoError(t, err)
		all, want = append(all, run), append(want, entries)
	}
	return all, want
}

func readAll(r *Reader) (entries []string, err error) {
	for more := r.First(); more; more = r.Next() {
		entries = append(entries, fmt.Sprintf("%s=%s", r.Key(), r.Value()))
	}
	if r.Next() {
		return nil, errors.New("Next is true after the end")
	}
	return entries, r.Error()
}

// Runs of any entries are read as they were written, several at a time.
func TestRuns(t *testing.T) {
	f := File{Dir: t.TempDir()}
	runs, want := fill(t, &f, 4)
	var readers []*Reader
	for _, run := range runs {
		readers = append(readers, f.Open(run))
	}
	for i := range runs {
		got, err := readAll(readers[i])
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("run %d (-want +got):\n%.2000s", i, diff)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// Without entries there is no file.
func TestEmptyRun(t *testing.T) {
	f := File{Dir: filepath.Join(t.TempDir(), "missing")}
	run, err := f.End()
	if entries, readErr := readAll(f.Open(run)); len(entries) > 0 || errors.Join(err, readErr) != nil {
		t.Errorf("%q, %v, %v, want nothing", entries, err, readErr)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestDirectoryIsMissing(t *testing.T) {
	f := File{Dir: filepath.Join(t.TempDir(), "missing")}
	if _, err := f.Put(nil); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "temporary file: in ") {
		t.Errorf("Put = %v", err)
	}
}

// If a file was truncated or changed, Next fails at the first incomplete or changed block.
func TestDamage(t *testing.T) {
	for want, damage := range map[string]func(f *File) error{
		io.ErrUnexpectedEOF.Error():        func(f *File) error { return f.Truncate(f.size - 1) },
		"was changed after it was written": func(f *File) error { _, err := f.WriteAt([]byte("x"), f.size-1); return err },
	} {
		f := File{Dir: t.TempDir()}
		runs, all := fill(t, &f, 3)
		errtest.NoError(t, damage(&f))
		got, err := readAll(f.Open(runs[2]))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if n := len(got); n == 0 || n >= len(all[2]) || cmp.Diff(all[2][:n], got) != "" {
			t.Errorf("%d entries before the error, want some of %d", n, len(all[2]))
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Get uses the memory of buf if the block fits.
func TestGet(t *testing.T) {
	f := File{Dir: t.TempDir()}
	defer f.Close()
	buf := make([]byte, 5)
	for _, want := range []string{"abc", "", "abcde", "abcdef"} {
		place, err := f.Put([]byte(want))
		if err := errors.Join(err, f.Flush()); err != nil || len(place) != PlaceLen {
			t.Fatal(len(place), err)
		}
		got, err := f.Get(place, buf)
		if err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
		if inBuf := cap(got) == cap(buf); inBuf != (len(want) <= len(buf)) {
			t.Errorf("%q: the memory of buf is used: %v", want, inBuf)
		}
	}
}

// Places beyond 2 GiB are right, also on 32-bit processors.
func TestPlacesInLargeFiles(t *testing.T) {
	f := File{Dir: t.TempDir(), size: math.MaxInt32}
	defer f.Close()
	for _, want := range []uint64{math.MaxInt32, math.MaxInt32 + 3} {
		place, err := f.Put([]byte("abc"))
		if got := binary.LittleEndian.Uint64(place); err != nil || got != want {
			t.Errorf("a block is at %d, %v, want %d", got, err, want)
		}
	}
}
