package database

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/atomicfile"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// lastLevel is the level of all tables: LevelDB's last one, which engines do not compact for having many tables.
const lastLevel = 6

// A Writer writes a new database, which C++ LevelDB, goleveldb and engines based on them can open. Its methods are
// called in this order:
//
//	(Append | AppendInternal | SetLastSequence)* (Close | Abort)
//
// A Writer is not safe for concurrent use, except for Abort. After an error, all calls but Abort return the same
// error. The same input always gives the same bytes. Memory is a [table.Writer]'s, plus two keys per table.
type Writer struct {
	o     WriterOptions
	user  table.Comparer
	dir   *atomicfile.NewDir
	ended atomic.Bool
	err   error

	table    *table.Writer // that is being written; nil: the next entry starts one
	file     *atomicfile.NewFile
	smallest []byte // its first internal key
	bytes    int64  // of the keys and values in it
	full     int64  // the number of these bytes at which a table is full

	key, last []byte // the last internal key, and the one before
	tables    uint64
	added     []byte // the field of each complete table in the version edit
	sequence  uint64 // ≥ the sequence numbers of all keys
}

// Create returns a Writer of a database in the directory dir, which must be missing or empty.
//
//	w, err := database.Create("users", nil)
//	if err != nil { ... }
//	defer w.Abort() // does nothing after Close
//	... w.Append ...
//	return w.Close()
//
// Close puts the complete directory in place, in one step. Until then, files are in sievetable-*.tmp beside it or, if
// the parent cannot be written, inside it. Only a crash leaves that behind. An empty directory keeps its permissions
// and owner. A symbolic link to one is followed.
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

// Append adds an entry with the sequence number 0, which every snapshot includes. If the keys are not in ascending
// order, the error is [table.ErrOrder]. Key and value have almost 1 GiB at most. After Close or Abort, the error is
// [table.ErrClosed].
func (w *Writer) Append(key, value []byte) error {
	return w.AppendInternal(internalkey.Key{UserKey: key, Kind: internalkey.Set}, value)
}

// AppendInternal adds a version of a user key, or a deletion. It is like Append, but keys are in the order of
// [table.InternalComparer], newest versions first. Sequence must be <= [internalkey.MaxSequence], and Kind
// [internalkey.Set] or [internalkey.Delete].
func (w *Writer) AppendInternal(key internalkey.Key, value []byte) error {
	if w.ended.Load() {
		return table.ErrClosed
	}
	if w.err == nil {
		w.err = errPanicked
		w.err = w.append(key, value)
	}
	return w.err
}

// SetLastSequence makes the database continue after at least this sequence number. Use it if versions were left out,
// as by a compaction, so that no new write gets the number of an older one in a copy of the database.
func (w *Writer) SetLastSequence(sequence uint64) error {
	switch {
	case w.ended.Load():
		return table.ErrClosed
	case w.err == nil && sequence > internalkey.MaxSequence:
		w.err = fmt.Errorf("database: the last sequence number is %d: must be ≤ %d", sequence, uint64(internalkey.MaxSequence))
	}
	w.sequence = max(w.sequence, sequence)
	return w.err
}

// errPanicked is the error of a Writer during a call. It stays if a Comparer, policy or codec panics: half a
// database must not be published.
var errPanicked = errors.New("database: an earlier call panicked")

func (w *Writer) append(key internalkey.Key, value []byte) error {
	if key.Kind > internalkey.Set || key.Sequence > internalkey.MaxSequence {
		return fmt.Errorf("database: key %v: must be a set or delete with a sequence number ≤ %d", key, uint64(internalkey.MaxSequence))
	}
	w.key, w.last = key.Append(w.last[:0]), w.key
	err := w.startTableFor(key.UserKey)
	if err == nil {
		err = w.appendToTable(key, value)
	}
	if errors.Is(err, table.ErrOrder) {
		last, _ := internalkey.Parse(w.last)
		return fmt.Errorf("%w: %v after %v", table.ErrOrder, key, last)
	}
	return err
}

// Close completes the database. If it returns nil, the directory is synced and in place. After an error, there is no
// database, unless only syncing its parent failed.
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

// Abort removes the temporary directory. After Close or Abort it does nothing. If it is called concurrently, a
// running call fails.
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

// firstTable is the number of the first table. The MANIFEST has the previous number.
const firstTable = 2

// startTableFor starts a table if the current one cannot take a user key. A full table is complete, unless user is
// its last user key.
func (w *Writer) startTableFor(user []byte) error {
	if w.table != nil && w.bytes >= w.full {
		switch order := w.user.Compare(internalkey.UserKey(w.last), user); {
		case order > 0:
			return table.ErrOrder
		case order < 0:
			if err := w.finishTable(w.last); err != nil {
				return err
			}
		}
	}
	if w.table == nil {
		return w.startTable()
	}
	return nil
}

func (w *Writer) startTable() (err error) {
	if w.tables == versions.MaxTables {
		return fmt.Errorf("database: more than %d tables: use a larger TableSize than %d", versions.MaxTables, w.o.TableSize)
	}
	if w.file, err = w.dir.Create(versions.TableName(firstTable + w.tables)); err != nil {
		return wrap(err)
	}
	w.table, err = table.NewWriter(w.file, &w.o.Table)
	w.bytes = 0
	return err
}

// appendToTable adds an entry of the internal key w.key to the table.
func (w *Writer) appendToTable(key internalkey.Key, value []byte) error {
	if err := w.table.Append(w.key, value); err != nil {
		return err
	}
	if w.table.Entries() == 1 {
		w.smallest = append(w.smallest[:0], w.key...)
	}
	w.bytes += int64(len(w.key) + len(value))
	w.sequence = max(w.sequence, key.Sequence)
	return nil
}

// finishTable completes the table and puts it on disk.
func (w *Writer) finishTable(largest []byte) error {
	if err := w.table.Close(); err != nil {
		return err
	}
	if err := w.file.Close(); err != nil {
		return wrap(err)
	}
	w.full = predict(w.o.TableSize, w.bytes, w.table.Size())
	w.added = versions.Field{Kind: versions.FieldAdd, Table: versions.Table{
		Level: lastLevel, Number: firstTable + w.tables, Size: uint64(w.table.Size()),
		Smallest: w.smallest, Largest: largest,
	}}.Append(w.added)
	w.table = nil
	if w.tables++; len(w.added) > maxAdded {
		return fmt.Errorf("database: the MANIFEST would have %d bytes for %s, more than %d: use a larger TableSize than %d",
			len(w.added), format.Plural(w.tables, "table"), maxAdded, w.o.TableSize)
	}
	return nil
}

// maxRatio is the highest ratio of compression that predict expects, so that the next table is not much too large if
// it compresses less.
const maxRatio = 8

// predict returns how many bytes of keys and values make a table of about size bytes. In the previous table, before
// such bytes took stored bytes.
//
// The Size of the table being written is of no use here: with several goroutines, it lags behind by some hundred KB.
func predict(size, before, stored int64) int64 {
	return max(1, int64(float64(size)*min(maxRatio, float64(before)/float64(stored))))
}

// manifest is the name of the MANIFEST, as in a new database of the engines.
const manifest = "MANIFEST-000001"

// maxAdded is the maximum size of the tables' fields in the version edit. The MANIFEST is a little larger: it has
// other fields, and 7 bytes for each 32 KiB, since it has the form of a log.
const maxAdded = versions.MaxManifest - versions.MaxManifest/1024

// finish completes the last table, writes MANIFEST and CURRENT, and puts the directory in place.
func (w *Writer) finish() error {
	if w.table != nil {
		if err := w.finishTable(w.key); err != nil {
			return err
		}
	}
	h := versions.Header{Comparer: w.user.Name(), NextFile: firstTable + w.tables, LastSequence: w.sequence}
	err := w.writeFile(manifest, func(to io.Writer) error { return versions.WriteManifest(to, h, w.added) })
	if err == nil {
		err = w.writeFile("CURRENT", func(to io.Writer) error {
			_, err := io.WriteString(to, manifest+"\n")
			return err
		})
	}
	if err == nil {
		err = w.dir.Commit()
	}
	return wrap(err)
}

// writeFile writes a file, and puts it on disk.
func (w *Writer) writeFile(name string, write func(to io.Writer) error) error {
	f, err := w.dir.Create(name)
	if err == nil {
		err = write(f)
	}
	if err == nil {
		err = f.Close()
	}
	return err
}
