package dbfile

import (
	"os"
	"path/filepath"
	"testing"
)

// A name that is in use gets a number.
func TestOutputName(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "users.v1.ldb")
	for _, want := range []string{"users.v1.repaired.ldb", "users.v1-2.repaired.ldb", "users.v1-3.repaired.ldb"} {
		name := OutputName(path, ".repaired.ldb")
		if name != filepath.Join(dir, want) {
			t.Errorf("free name %s, want %s", name, want)
		}
		noError(t, os.WriteFile(name, nil, 0o666))
	}
}
