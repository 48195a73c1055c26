package database

import (
	"bytes"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
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
// [table.ErrClosed], and waits for tables that they are opening. After Close, lookups, moves of iterators that read a
// table, and a second Close return that error. Values that Get has returned stay valid.
func (db *DB) Close() error {
	if !db.closed.CompareAndSwap(false, true) {
		return table.ErrClosed
	}
	var err error
	for _, r := range db.runs {
		for _, t := range r.Tables {
			err = errors.Join(err, t.use().Close())
		}
	}
	return err
}

// A View shows the user keys of a database as of a sequence number: each with the value of its newest
// write of that number or a lower one, unless that is a deletion. It is safe for concurrent use, as
// long as its DB is open. A DB has the View of all writes, and [DB.At] returns another.
type View struct {
	*contents
	sequence uint64
}

// Get returns the value of key. If the View does not have the key, the error is [table.ErrNotFound].
// Get searches the writes of the logs, which are in memory, and then each table of level 0 whose range
// includes the key and at most one table of each further level, since an engine can leave a newer version
// in a deeper level. A table whose filters rule the key out costs no read. A write of the logs ends the
// search if its sequence number is above the last one in the MANIFEST.
//
// If a table with the key is corrupt, the error is a [*merge.HiddenError], which has the value of the newest version
// in the other tables.
//
// The value stays valid, also after Close. The caller must not change it. It can be a part of a
// larger buffer, which then stays in memory with it: see [table.Reader.Get].
func (v View) Get(key []byte) ([]byte, error) {
	l := newLookup(v, key)
	defer l.end()
	return l.get()
}

// AppendGet does what Get does, and appends the value to dst. It returns the extended slice, or dst as
// it was after an error. key may be a part of dst. It allocates nothing if dst has enough capacity,
// under the conditions of [table.Reader.AppendGet].
func (v View) AppendGet(dst, key []byte) ([]byte, error) {
	l := newLookup(v, key)
	defer l.end()
	l.reuses = true
	value, err := l.get()
	if err != nil {
		return dst, err
	}
	return format.AppendNotNil(dst, value), nil
}

// NewIter returns an iterator over the user keys and their values, before the first one. If o is nil,
// it shows all of them. Lower, Upper, Prefix and FilterKey of o are of user keys. The iterator copies
// the slices of o. If OnLoss of o returns true, older values show in place of those that a corrupt
// block had, also of keys that were deleted. One goroutine at a time may use the iterator.
func (v View) NewIter(o *table.IterOptions) *merge.SnapshotIter {
	opts := internalOptions(o)
	var its []merge.Iterator
	if len(v.memory.at) > 0 {
		its = append(its, v.memory.iter(opts.Lower, opts.Upper))
	}
	for i := range v.runs {
		// There is no error, since Open has checked the ranges.
		it, _ := v.runs[i].Iter(v.internal, opts.Lower, opts.Upper, func(t *openedTable) (merge.Iterator, error) { return t.use().iter(&opts) })
		if it != nil {
			its = append(its, it)
		}
	}
	it := merge.NewSnapshotIter(v.order, merge.New(v.internal, its...), v.sequence)
	if v.closed.Load() {
		it.Close() // every move fails with table.ErrClosed
	}
	return it
}

// internalOptions returns the options of iterators over internal keys.
func internalOptions(o *table.IterOptions) (internal table.IterOptions) {
	if o == nil {
		return internal
	}
	internal = *o
	internal.FilterKey, internal.Prefix = bytes.Clone(o.FilterKey), bytes.Clone(o.Prefix)
	internal.OnLoss = userLoss(o.OnLoss)
	if o.Lower != nil {
		internal.Lower = table.SearchKey(nil, o.Lower, table.MaxSequence)
	}
	if o.Upper != nil {
		internal.Upper = table.SearchKey(nil, o.Upper, table.MaxSequence)
	}
	return internal
}

// userLoss returns what calls onLoss with user keys for a loss of internal keys. nil stays nil.
func userLoss(onLoss func(table.Loss) bool) func(table.Loss) bool {
	if onLoss == nil {
		return nil
	}
	return func(l table.Loss) bool {
		l.From, l.To, l.OlderShow = table.InternalFilterKey(l.From), table.InternalFilterKey(l.To), true
		return onLoss(l)
	}
}

// All returns the user keys that an iterator with the options o shows, with their values, for a range
// loop. An error ends the loop, after an iteration that has only the error. Key and value are valid
// until the next iteration.
func (v View) All(o *table.IterOptions) iter.Seq2[table.Entry, error] {
	return func(yield func(table.Entry, error) bool) {
		it := v.NewIter(o)
		defer it.Close() // its error is that of the last move, which All has shown
		for ok := it.First(); ok; ok = it.Next() {
			if !yield(table.Entry{Key: it.Key(), Value: it.Value()}, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(table.Entry{}, err)
		}
	}
}
