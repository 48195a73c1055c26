package tempfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Errors name the directory of a temporary file, not the file.
func TestTempFileErrors(t *testing.T) {
	dir := t.TempDir()
	var f File
	if err := f.Create(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Create = %v", err)
	} else {
		checkNameless(t, err, filepath.Join(dir, "missing"))
	}
	f = File{}
	if err := f.Create(dir); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, write := f.Write([]byte("x"))
	_, readAt := f.ReadAt(make([]byte, 1), 0)
	for _, err := range []error{write, readAt, f.File.Close()} {
		if err = nameless(err); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%v, want that the file is closed", err)
		}
		checkNameless(t, err, dir)
	}
}

func checkNameless(t *testing.T, err error, dir string) {
	t.Helper()
	if got := err.Error(); !strings.Contains(got, dir) || strings.Contains(got, ".tmp") {
		t.Errorf("%s, want the name of %s alone", got, dir)
	}
}
