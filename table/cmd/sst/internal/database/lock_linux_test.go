package database

import (
	"os"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
)

// The process that has a database open is found as long as it has it open.
func TestHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if pid := LockHolder(dir); pid != 0 {
		t.Errorf("Holder of no database = %d, want 0", pid)
	}
	db, err := leveldb.OpenFile(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if pid := LockHolder(dir); pid != os.Getpid() {
		t.Errorf("Holder of an open database = %d, want %d", pid, os.Getpid())
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if pid := LockHolder(dir); pid != 0 {
		t.Errorf("Holder of a closed database = %d, want 0", pid)
	}
}
