package versions

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"golang.org/x/sys/unix"
)

// The process that has a database open is found as long as it has it open.
func TestLockHolderHasTheDatabaseOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if pid := LockHolder(dir); pid != 0 {
		t.Errorf("LockHolder of no database = %d, want 0", pid)
	}
	db, err := leveldb.OpenFile(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if pid := LockHolder(dir); pid != os.Getpid() {
		t.Errorf("LockHolder of an open database = %d, want %d", pid, os.Getpid())
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if pid := LockHolder(dir); pid != 0 {
		t.Errorf("LockHolder of a closed database = %d, want 0", pid)
	}
}

// The device numbers of /proc/locks, of 12 and 20 bits, are those of stat.
func TestDeviceNumbersAreThoseOfStat(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(29, 0))
	for range 1000 {
		major, minor := random.Uint32N(1<<12), random.Uint32N(1<<20)
		if got, want := makeDevice(uint64(major), uint64(minor)), unix.Mkdev(major, minor); got != want {
			t.Errorf("device %d:%d is %#x, want %#x", major, minor, got, want)
		}
	}
}
