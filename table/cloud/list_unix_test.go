//go:build unix

package cloud_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gocloud.dev/blob/fileblob"
)

// List returns no error if a file is removed while the directory is listed.
func TestListWhileAFileIsRemoved(t *testing.T) {
	dir := t.TempDir()
	bucket, err := fileblob.OpenBucket(dir, nil)
	noError(t, err)
	defer bucket.Close()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	noError(t, os.WriteFile(a, nil, 0o666))
	noError(t, os.WriteFile(b, nil, 0o666))
	// fileblob reads a's attributes after the directory, and then b.
	noError(t, syscall.Mkfifo(a+".attrs", 0o666))
	removed := make(chan error, 1)
	go func() {
		w, err := os.OpenFile(a+".attrs", os.O_WRONLY, 0) // waits until fileblob opens it
		err = errors.Join(err, os.Remove(a+".attrs"), os.Remove(b))
		_, failed := w.WriteString("{}")
		removed <- errors.Join(err, failed, w.Close())
	}()
	files, err := newStore(bucket).List(t.Context())
	noError(t, <-removed)
	if err != nil || len(files) != 1 || files[0].Name != "a" {
		t.Errorf("List = %v, %v, want only a", files, err)
	}
}
