package table_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// openFiles counts the open files of a directory, where the system tells. Other tests run at
// the same time, and open files of their own.
func openFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, fd := range fds {
		name, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err == nil && strings.HasPrefix(name, dir+"/") {
			n++
		}
	}
	return n
}

// openPanicking opens a table with a policy that panics.
func openPanicking(t *testing.T, name string) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	table.Open(name, &table.ReaderOptions{FilterPolicies: []filter.Policy{namelessPolicy{}}})
}

func TestFilesAreClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name, short := filepath.Join(dir, "a.ldb"), filepath.Join(dir, "short.ldb")
	if err := os.WriteFile(short, []byte("short"), 0o666); err != nil {
		t.Fatal(err)
	}
	filtered := filepath.Join(dir, "filtered.ldb")
	if err := os.WriteFile(filtered, build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, numbered(1)), 0o666); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := create(t, name).Close(); err != nil {
			t.Fatal(err)
		}
		if err := create(t, name).Abort(); err != nil {
			t.Fatal(err)
		}
		table.Create(name, &table.WriterOptions{BlockSize: -1})
		table.Open(short, nil)
		openPanicking(t, filtered)
		r, err := table.Open(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := openFiles(t, dir); n != 0 {
		t.Errorf("%d open files, want 0", n)
	}
}

func TestOpenFiles(t *testing.T) {
	t.Parallel()
	if _, err := table.Open(filepath.Join(t.TempDir(), "missing.ldb"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of no file = %v, want fs.ErrNotExist", err)
	}
	if r, err := table.Open(t.TempDir(), nil); err == nil || r != nil || errors.Is(err, table.ErrCorrupt) {
		t.Errorf("Open of a directory = %v, %v; want an error that is no ErrCorrupt", r, err)
	}
	short := filepath.Join(t.TempDir(), "short.ldb")
	if err := os.WriteFile(short, []byte("short"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r, err := table.Open(short, nil); !errors.Is(err, table.ErrCorrupt) || r != nil {
		t.Errorf("Open of 5 bytes = %v, %v; want nil and ErrCorrupt", r, err)
	}
}
