package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// writeForRescue has goleveldb write a database of several tables and a log, and returns
// the path of its largest table.
func writeForRescue(t *testing.T, dir string) (largest string) {
	t.Helper()
	writeTo(t, dir, &opt.Options{WriteBuffer: 32 << 10, CompactionTableSize: 32 << 10}, func(db *leveldb.DB) (err error) {
		for i := range 5000 {
			key := fmt.Sprintf("key%06d", i*7919%5000)
			err = errors.Join(err, db.Put([]byte(key), []byte(strings.Repeat(key, 5)), nil))
		}
		return errors.Join(err, db.CompactRange(util.Range{}), db.Put([]byte("last"), []byte("in the log"), nil))
	})
	var size int64
	for line := range strings.Lines(mustSST(t, "verify", dir)) {
		path, _, _ := strings.Cut(line, ": ok")
		if info, err := os.Stat(path); err == nil && filepath.Ext(path) == ".ldb" && info.Size() > size {
			largest, size = path, info.Size()
		}
	}
	return largest
}

// If the MANIFEST is sound, deleted keys stay deleted, though tables with them still exist.
func TestRepairDoesNotBringDeletedRecordsBack(t *testing.T) {
	t.Parallel()
	for range 10 { // goleveldb compacts in goroutines, and does not drop the deletions each time
		repaired, recovered := repairDeleted(t)
		if repaired != 1001 {
			t.Fatalf("%d entries after the repair; want the 1,001 that were not deleted", repaired)
		}
		if recovered > repaired {
			return
		}
	}
	t.Error("goleveldb never recovers what was deleted, so that nothing is tested")
}

// repairDeleted returns the number of entries in a database after sst repair and after goleveldb's repair. 4,000
// entries were deleted, and an obsolete table with some of them is back.
func repairDeleted(t *testing.T) (repaired, recovered int) {
	t.Helper()
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "repaired")
	damaged := writeForRescue(t, dir)
	copied := copyOf(t, dir)
	writeTo(t, copied, nil, func(db *leveldb.DB) (err error) {
		for i := range 4000 {
			err = errors.Join(err, db.Delete(fmt.Appendf(nil, "key%06d", i), nil))
		}
		return errors.Join(err, db.CompactRange(util.Range{}))
	})
	writeFile(t, filepath.Join(copied, filepath.Base(damaged)), readFile(t, damaged))
	mustSST(t, "repair", copied, "-o", to)
	ours, err := entriesOf(leveldb.OpenFile(to, &opt.Options{Strict: opt.StrictAll, ErrorIfMissing: true}))
	noError(t, err)
	theirs, err := entriesOf(leveldb.RecoverFile(copied, nil))
	noError(t, err)
	return len(ours), len(theirs)
}

// Writes to a new database are newer than everything in the old one, including deletions that the new one leaves out.
// So a merge with an older copy keeps them.
func TestNewDatabaseGoesOnBehindTheOldOne(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"repair", "merge --database"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			db, renewed, both := filepath.Join(t.TempDir(), "db"), filepath.Join(t.TempDir(), "new"), filepath.Join(t.TempDir(), "both")
			writeTo(t, db, nil, func(db *leveldb.DB) (err error) {
				for i := range 50 {
					err = errors.Join(err, db.Put([]byte("k"), fmt.Append(nil, i), nil))
				}
				return errors.Join(err, db.Delete([]byte("k"), nil))
			})
			older := copyOf(t, db)
			mustSST(t, append(strings.Fields(command), db, "-o", renewed)...)
			writeTo(t, renewed, nil, func(db *leveldb.DB) error { return db.Put([]byte("k"), []byte("NEW"), nil) })
			mustSST(t, "merge", "--database", "--on-duplicate", "newest", older, renewed, "-o", both)
			checkPrints(t, "k\tNEW\n", "scan", both)
		})
	}
}
