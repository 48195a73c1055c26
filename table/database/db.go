package database

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// A DB is a snapshot of a database: its View includes all writes. It is safe for concurrent use. Lookups take no
// lock, except to add a block to a Cache.
type DB struct {
	View
	tables []Table
}

// contents are shared by the Views of a DB. Only closed changes.
type contents struct {
	order    table.Comparer // of user keys
	internal table.Comparer // of internal keys
	memory   memory         // the writes of the logs
	runs     []run          // level 0's, the newest first, then one for each further level
	inTables uint64         // according to the MANIFEST, no table has a higher sequence number
	closed   atomic.Bool
}

// A run is a list of tables that do not overlap.
type run = dbread.Run[*openedTable]

// A Table describes a table of a database, as the MANIFEST lists it.
type Table struct {
	Level  int    // tables of level 0 can have the same keys; in any other level their ranges do not overlap
	Number uint64 // of the file
	Name   string // of the file in the directory
	Size   int64  // bytes

	Smallest, Largest internalkey.Key // the first and the last key
}

// Tables returns the tables, by level: level 0 with the newest first, other levels in key order. The caller must not
// modify them.
func (db *DB) Tables() []Table { return db.tables }

// LastSequence returns the highest sequence number of a write, or 0.
func (db *DB) LastSequence() uint64 { return db.sequence }

// At returns the database as of a sequence number. Engines number writes from 1 on, and drop old versions when they
// compact tables. So At is right only if the engine kept a snapshot of that number, or has compacted nothing since.
// Otherwise keys can be absent or have an even older value.
func (db *DB) At(sequence uint64) View {
	return View{contents: db.contents, sequence: min(sequence, db.sequence)}
}

// Close closes the tables. Running methods may return [table.ErrClosed]. After Close, lookups, moves of iterators
// that read a table, and a second Close do. Values that Get has returned stay valid.
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

// A View is a database as of a sequence number. It is safe for concurrent use.
type View struct {
	*contents
	sequence uint64
}

// Get returns the value of key. If the key is absent, Get returns [table.ErrNotFound]. If a table that may contain
// the key is corrupt, the error is a [*merge.HiddenError], which has the newest value in other tables.
//
// Get searches the logs, the tables of level 0 whose range contains the key, and one table of each further level.
// Tables whose filters rule the key out are not read. The value stays valid, even after Close. The caller must not
// modify it. It may be part of a larger buffer: see [table.Reader.Get].
func (v View) Get(key []byte) ([]byte, error) {
	l := newLookup(v, key)
	defer l.end()
	return l.get()
}

// AppendGet is like Get but appends the value to dst, and returns the extended slice. After an error, it returns
// dst. key may alias dst. See [table.Reader.AppendGet] for when it does not allocate.
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

// NewIter returns an iterator over the user keys, without bounds if o is nil. It copies the slices of o, which are
// about user keys. If OnLoss of o returns true, overwritten and deleted entries can reappear. The iterator is not
// safe for concurrent use.
func (v View) NewIter(o *table.IterOptions) *merge.SnapshotIter {
	opts := v.internalOptions(o)
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
func (c *contents) internalOptions(o *table.IterOptions) (internal table.IterOptions) {
	o = cmp.Or(o, &table.IterOptions{})
	internal = *o
	if c.order == table.BytewiseComparer {
		internal.Lower, internal.Upper = format.WithinPrefix(o.Lower, o.Upper, o.Prefix)
	}
	internal.FilterKey, internal.Prefix = bytes.Clone(o.FilterKey), bytes.Clone(o.Prefix)
	internal.OnLoss = userLoss(o.OnLoss)
	if internal.Lower != nil {
		internal.Lower = internalkey.SearchKey(nil, internal.Lower, internalkey.MaxSequence)
	}
	if internal.Upper != nil {
		internal.Upper = internalkey.SearchKey(nil, internal.Upper, internalkey.MaxSequence)
	}
	return internal
}

// userLoss returns a function that calls onLoss with user keys for a loss of internal keys, or nil if onLoss is nil.
func userLoss(onLoss func(table.Loss) bool) func(table.Loss) bool {
	if onLoss == nil {
		return nil
	}
	return func(l table.Loss) bool {
		l.From, l.To, l.OlderShow = internalkey.UserKey(l.From), internalkey.UserKey(l.To), true
		return onLoss(l)
	}
}

// All iterates over the entries of NewIter. An error ends the loop, after an iteration with only the error. Slices
// are valid for one iteration.
func (v View) All(o *table.IterOptions) iter.Seq2[table.Entry, error] {
	return func(yield func(table.Entry, error) bool) {
		it := v.NewIter(o)
		defer it.Close() // its error is the last move's, which is yielded below
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
