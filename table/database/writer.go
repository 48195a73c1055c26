package database

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/table"
)

// lastLevel is the level of all tables: the last one of LevelDB. No engine moves tables from there
// because they are many.
const lastLevel = 6

// A Writer writes a database: tables, CURRENT and a MANIFEST, which C++ LevelDB, goleveldb and what
// is built on them open like one of their own. Its calls come in this order:
//
//	(Append | AppendInternal | SetLastSequence)* (Close | Abort)
//
// One goroutine at a time may use a Writer, except that any may call Abort at any time. After an
// error, all calls but Abort return the same error again. The memory of a Writer is that
// of a [table.Writer] of one table, and the smallest and the largest key of each table.
//
// The same keys, values and options make the same bytes, with any Concurrency.
type Writer struct {
	o     WriterOptions
	user  table.Comparer
	dir   *atomicfile.NewDir
	ended atomic.Bool
	err   error

	table    *table.Writer // that takes entries; nil: the next entry starts one
	file     *atomicfile.NewFile
	smallest []byte // its first internal key
	bytes    int64  // of the keys and values in it
	full     int64  // how many of them a table takes

	key, last []byte // the last internal key, and the one before
	tables    uint64
	added     []byte // the field of each complete table in the version edit
	sequence  uint64 // ≥ those of all keys
}

// Create returns a Writer of a database in the directory dir, which must be missing or empty:
// nothing is added to a database. The directory appears when Close has written all of it to disk, in
// one step. Until then it is a directory sievetable-….tmp beside it. Abort removes that, and so
// does Close after an error. A process that is killed, or a crash, can leave it behind: remove it
// when no Writer is at work there.
//
// If dir is a mount point, or its parent cannot be written, the temporary directory is inside dir. Close then moves the
// files up, CURRENT last. What a killed process has left there is removed by the next Close.
//
// An empty directory is replaced, and its permissions and owner are kept. If dir is a symbolic link to a directory, that
// is replaced.
//
//	w, err := database.Create("users", nil)
//	if err != nil { … }
//	defer w.Abort() // does nothing after Close
//	… w.Append …
//	return w.Close()
func Create(dir string, o *WriterOptions) (*Writer, error) {
	opts, user, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	d, err := atomicfile.CreateNewDir(dir)
	if err != nil {
		return nil, wrap(err)
	}
	if opts.Mode != 0 {
		if err := d.Chmod(opts.Mode | 0o700); err != nil {
			return nil, wrap(errors.Join(err, d.Abort()))
		}
	}
	return &Writer{o: opts, user: user, dir: d, full: opts.TableSize}, nil
}

// Append adds a pair. Its key must be > the key before, in the order of Table.Comparer of the
// [WriterOptions], or the error is [table.ErrOrder] and names both keys. The empty key is a valid
// first key. Key and value together may have up to a little less than 1 GiB. The pair has the
// sequence number 0: any snapshot of the database sees it. Append does not keep the slices. After
// Close or Abort, the error is [table.ErrClosed].
func (w *Writer) Append(key, value []byte) error {
	return w.AppendInternal(table.InternalKey{UserKey: key, Kind: table.KindSet}, value)
}

// AppendInternal adds a version of a user key, or a deletion: what a database has that is merged or
// compacted. It is like Append, but keys are in the order of [table.InternalComparer]: the versions
// of a user key come with the newest first. Sequence must be ≤ [table.MaxSequence], and Kind one of
// LevelDB's. The database goes on with the sequence number behind the highest one: see SetLastSequence.
func (w *Writer) AppendInternal(key table.InternalKey, value []byte) error {
	if w.ended.Load() {
		return table.ErrClosed
	}
	if w.err == nil {
		w.err = errPanicked
		w.err = w.append(key, value)
	}
	return w.err
}

// SetLastSequence makes the database go on with the sequence number behind this one, if it is higher than
// those of all keys. It is for databases that leave versions out, as a compaction leaves out deletions and
// what was overwritten: without it, a new write could have a lower number than an older write has in a copy
// of the database. It must be ≤ [table.MaxSequence]. Of several calls the highest counts.
func (w *Writer) SetLastSequence(sequence uint64) error {
	switch {
	case w.ended.Load():
		return table.ErrClosed
	case w.err == nil && sequence > table.MaxSequence:
		w.err = fmt.Errorf("database: the last sequence number is %d, want ≤ %d", sequence, uint64(table.MaxSequence))
	}
	w.sequence = max(w.sequence, sequence)
	return w.err
}

// errPanicked is the error of a Writer while a call runs. If a Comparer, policy or codec panics, it
// stays: half a database must not be published.
var errPanicked = errors.New("database: an earlier call panicked")

func (w *Writer) append(key table.InternalKey, value []byte) error {
	if key.Kind > table.KindSet || key.Sequence > table.MaxSequence {
		return fmt.Errorf("database: key %v, want set or delete, and a sequence number ≤ %d", key, uint64(table.MaxSequence))
	}
	w.key, w.last = key.Append(w.last[:0]), w.key
	err := w.startTableFor(key.UserKey)
	if err == nil {
		err = w.appendToTable(key, value)
	}
	if errors.Is(err, table.ErrOrder) {
		last, _ := table.ParseInternalKey(w.last)
		return fmt.Errorf("%w: %v after %v", table.ErrOrder, key, last)
	}
	return err
}

// Close completes the database. If it returns nil, the directory is on disk under its name. If it
// returns an error, which can be that of an earlier Append, the temporary directory is removed. Only
// if its parent directory cannot be synced, the new one stays, though a crash may undo its name. A
// database without keys is a database too. A second Close returns [table.ErrClosed].
func (w *Writer) Close() error {
	if w.ended.Swap(true) {
		return table.ErrClosed
	}
	if w.err == nil {
		w.err = errPanicked
		w.err = w.finish()
	}
	if w.table != nil {
		w.err = errors.Join(w.err, w.table.Abort())
	}
	return errors.Join(w.err, wrap(w.dir.Abort()))
}

// Abort ends the Writer without a database, and removes the temporary directory. After Close or
// Abort it does nothing, so that it can be deferred. Any goroutine may call it at any time: a call of
// another one that runs meanwhile fails, unless it is a Close that has given the directory its name.
func (w *Writer) Abort() error {
	w.ended.Store(true)
	return wrap(w.dir.Abort())
}

// wrap adds the package's name to an error of the operating system, which names the file.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("database: %w", err)
}
