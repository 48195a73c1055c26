package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
)

// A compacted file that goleveldb has not removed is not mistaken for the database's table.
func TestOnlyTable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "db")
	_, err := liveGoleveldb(dir)
	errtest.NoError(t, err)
	errtest.NoError(t, os.WriteFile(filepath.Join(dir, "000001.ldb"), []byte("compacted"), 0o666))
	got, err := onlyTable(dir)
	errtest.NoError(t, err)
	want, err := os.ReadFile("../../../table/testdata/databases/goleveldb.ldb")
	errtest.NoError(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("a table of %d bytes, want the golden one of %d", len(got), len(want))
	}
}
