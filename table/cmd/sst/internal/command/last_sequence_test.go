package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// What is written to a new database is newer than all that the old one had, also deletions that the new one
// leaves out: a merge with an older copy keeps it.
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
			if got := mustSST(t, "scan", both); got != "k\tNEW\n" {
				t.Errorf("the merge of both has %q, want what was written last", got)
			}
		})
	}
}

// writeTo opens a database of goleveldb for write.
func writeTo(t *testing.T, dir string, o *opt.Options, write func(db *leveldb.DB) error) {
	t.Helper()
	db, err := leveldb.OpenFile(dir, o)
	noError(t, err)
	noError(t, errors.Join(write(db), db.Close()))
}
