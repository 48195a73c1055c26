package main

import (
	"fmt"
	"path/filepath"
	"testing"

	goleveldb "github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// As README.md says, the tables of a database may contain outdated values, which a DB does not return.
func TestTablesAreStale(t *testing.T) {
	t.Parallel()
	const keys = 2000
	dir := t.TempDir()
	writeTwice(t, dir, keys)
	db, err := database.Open(dir, nil)
	closing(t, db, err)
	var its []merge.Iterator
	for _, m := range db.Tables() {
		r, err := table.Open(filepath.Join(dir, m.Name), &table.ReaderOptions{Comparer: table.InternalComparer(nil)})
		its = append(its, closing(t, r, err).NewIter(nil))
	}
	byHand := merge.NewSnapshotIter(nil, merge.New(table.InternalComparer(nil), its...), internalkey.MaxSequence)
	if old, current := countOld(t, byHand); old != keys || current != 0 {
		t.Errorf("the tables have %d old values and %d current ones, want %d and none", old, current, keys)
	}
	if old, current := countOld(t, db.NewIter(nil)); old != 0 || current != keys {
		t.Errorf("the database has %d old values and %d current ones, want none and %d", old, current, keys)
	}
}

// writeTwice has goleveldb write keys, compact them, and write them again.
func writeTwice(t *testing.T, dir string, keys int) {
	t.Helper()
	db, err := goleveldb.OpenFile(dir, nil)
	noError(t, err)
	defer db.Close()
	for _, value := range []string{"old", "current"} {
		for i := range keys {
			noError(t, db.Put(fmt.Appendf(nil, "key%06d", i), []byte(value), nil))
		}
		if value == "old" {
			noError(t, db.CompactRange(util.Range{}))
		}
	}
}

func countOld(t *testing.T, it *merge.SnapshotIter) (old, current int) {
	t.Helper()
	for ok := it.First(); ok; ok = it.Next() {
		if string(it.Value()) == "old" {
			old++
		} else {
			current++
		}
	}
	noError(t, it.Close())
	return old, current
}
