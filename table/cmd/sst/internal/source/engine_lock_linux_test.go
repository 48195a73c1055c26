package source

import (
	"os"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"

	"github.com/sievetable/sievetable/internal/versions"
)

// The process that has a database open is found until it closes it.
func TestLockHolderHasTheDatabaseOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if pid := versions.LockHolder(dir); pid != 0 {
		t.Errorf("LockHolder of no database = %d, want 0", pid)
	}
	db, err := leveldb.OpenFile(dir, nil)
	noError(t, err)
	if pid := versions.LockHolder(dir); pid != os.Getpid() {
		t.Errorf("LockHolder of an open database = %d, want %d", pid, os.Getpid())
	}
	noError(t, db.Close())
	if pid := versions.LockHolder(dir); pid != 0 {
		t.Errorf("LockHolder of a closed database = %d, want 0", pid)
	}
}
