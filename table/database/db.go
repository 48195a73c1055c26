package database

import (
	"errors"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/table"
)

// A DB is a database as it was when it was opened. Its View is that of the last write. A DB is safe
// for concurrent use, and lookups take no lock, except to add a block to a Cache. [Open] and [OpenFS]
// return one.
type DB struct {
	View
	tables []Table
}

// contents is what the Views of a DB have in common. It does not change, but for closed.
type contents struct {
	order    table.Comparer // of user keys
	internal table.Comparer // of internal keys
	memory   memory         // the writes of the logs
	runs     []run          // those of level 0, the newest first, and one of each further level
	inTables uint64         // no table has a higher sequence number, says the MANIFEST
	closed   atomic.Bool
}

// A run has tables that do not overlap.
type run = dbread.Run[*openedTable]

// A Table is a table of a database, as the MANIFEST describes it.
type Table struct {
	Level  int    // tables of level 0 can have the same keys; in any other level their ranges do not overlap
	Number uint64 // of the file
	Name   string // of the file in the directory
	Size   int64  // bytes

	Smallest, Largest table.InternalKey // the first and the last key
}

// Tables returns the tables of the database, by levels: in level 0 the newest file first, in any
// other level in the order of their keys. The caller must not change them.
func (db *DB) Tables() []Table { return db.tables }

// LastSequence returns the highest sequence number that the database has given to a write. 0: it
// has no writes. With IgnoreLogs it is the one in the MANIFEST.
func (db *DB) LastSequence() uint64 { return db.sequence }

// At returns the database as of a sequence number: without the writes that have higher ones. Any
// number ≥ LastSequence stands for all writes.
//
// An engine drops old versions of keys when it compacts tables, but for those that its own snapshots
// need. A key whose older version was dropped is absent from the View, or shows an even older
// version. So At is right only for a sequence number that the engine kept a snapshot of, or if no
// table was compacted since.
func (db *DB) At(sequence uint64) View {
	return View{contents: db.contents, sequence: min(sequence, db.sequence)}
}

// Close closes the tables. It may be called while other methods run, which may then return
// [table.ErrClosed]. After Close, lookups, moves of iterators that read a table, and a second Close
// return that error. Values that Get has returned stay valid.
func (db *DB) Close() error {
	if !db.closed.CompareAndSwap(false, true) {
		return table.ErrClosed
	}
	return db.closeTables()
}

// closeTables closes the Readers.
func (c *contents) closeTables() (err error) {
	for i := range c.runs {
		for _, t := range c.runs[i].Tables {
			err = errors.Join(err, t.Close())
		}
	}
	return err
}
