// Package source opens tables, logs and directories of databases, and reads each of them as
// one sorted set of entries.
package source

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
)

// InternalKeys says whether keys are internal keys, which end in a trailer of sequence
// number and kind.
type InternalKeys int

// Auto detects it from the keys.
const (
	Auto InternalKeys = iota
	Yes
	No
)

// Options say how to open tables.
type Options struct {
	InternalKeys InternalKeys
	Order        Order // order of user keys
	AllTables    bool  // for a directory, also read tables and logs that the MANIFEST does not list
	NoLogs       bool  // for a directory, ignore its logs
	OneTable     bool  // open a single table, not a directory or a log

	// Note, if not nil, is called with notes for the user, such as what is not read.
	Note func(string)

	// Lookups says that keys are looked up, and nothing is scanned.
	Lookups bool

	// ScanOnly saves memory if no keys are looked up: the layout and the filters, which grow
	// with the file, are not kept in memory.
	ScanOnly bool

	// AsksPrefix has filters read, also with ScanOnly: a scan asks them for a prefix.
	AsksPrefix bool

	// Strict has the first damage end a scan or a lookup. Without it, they pass over what is
	// damaged: see Loss.
	Strict bool

	// Repair has tables of a database read that its MANIFEST has lost: see findLost. No MANIFEST is damage.
	Repair bool

	// FindMore has logs read on behind damage where the next record is. Engines, and commands that
	// show what these do, skip up to 32 KiB there.
	FindMore bool

	// Salvage, if not nil, finds the pairs of a damaged table of a directory. They are read, but what can
	// be missing is a Loss all the same.
	Salvage func(f *File, keys InternalKeys) (Salvaged, error)

	// MaxBlock is the largest size of a block. 0: the default of a Reader.
	MaxBlock int

	// Outputs are files that the command writes. They are not opened for reading.
	Outputs output.Files

	// WrapReader, if not nil, wraps the file of each table, to show progress.
	WrapReader func(io.ReaderAt) io.ReaderAt

	// ReadOnce, if not nil, says that Verify will check the table. What Open reads is kept for it, and ReadOnce
	// is called with the number of bytes of each further read.
	ReadOnce func(n int64)

	listed    TableFile // what the listing of a directory says of the table
	fewBlocks bool      // the order is detected by few data blocks, and others are checked when a lookup misses
	form      *form     // what was detected of the table before; nil: it has yet to be
}

// inManifest reports whether the MANIFEST of a database lists the table, so that its keys are internal keys.
func (o Options) inManifest() bool { return o.listed.Meta != nil && o.InternalKeys != No }

// inDatabase reports whether the table is in a directory, and a manifest lists it or its name is one that engines
// give to tables.
func (o Options) inDatabase() bool { return o.listed.Line != nil || o.listed.hasEngineName() }

// A File is an open table.
type File struct {
	form
	Path   string
	Size   int64
	Src    io.ReaderAt   // the contents of the file
	Empty  bool          // there are no data blocks
	Layout *table.Layout // where the blocks are; nil with Options.ScanOnly

	Reader  *table.Reader
	Metrics *table.Metrics // metrics of the Reader
	Options *table.ReaderOptions

	// Damage says why there is no Reader, and possibly no Layout. Open then fails.
	Damage error

	// ForeignErr says what a damaged file is, such as text, if no blocks are found in it.
	ForeignErr error

	inSet      bool // it is one of the tables of a set
	inDatabase bool // it has internal keys, in a database of LevelDB
	file       io.Closer
	filters    Filters
	declared   Order        // what the user or a MANIFEST says of the order
	sorted     *sortedTable // the sorted copy that the Reader reads, if there is one
	once       *readOnce    // Src, for Verify; else nil

	hiddenFrom uint64 // lookups show lower sequence numbers only; 0: all

	unchecked bool // some data blocks were not examined to detect the order
	missed    bool // a lookup has missed since
}

// A stored says how keys are stored.
type stored struct {
	Internal bool           // they are internal keys
	Order    table.Comparer // order of user keys; table.AnyOrder: unknown
}

// order returns the order of the stored keys.
func (s stored) order() table.Comparer {
	if s.Internal {
		return table.InternalComparer(s.Order)
	}
	return s.Order
}

// seekKey returns a stored key that is ≤ all versions of a user key, or nil for nil.
func (s stored) seekKey(user []byte) []byte {
	if user == nil || !s.Internal {
		return user
	}
	return table.SearchKey(nil, user, table.MaxSequence)
}

// FilterKey returns the key that filters hold for a stored key: the user key of an internal
// key.
func (s stored) FilterKey(key []byte) []byte {
	if s.Internal {
		return table.InternalFilterKey(key)
	}
	return key
}

// A form is what is detected of a table when it is opened first, and holds when it is opened again.
type form struct {
	size int64 // if it is another one, so is the table
	stored
	OrderNote      string // why the order is not as expected, for messages; or ""
	FilterUnusable bool   // the filter excludes keys that the table has, so it is not used

	// Rewritten says that goleveldb's recovery wrote the table: with internal keys, but with
	// order and filter as for plain keys. Then the Reader can only scan the table. For
	// lookups it must be sorted again.
	Rewritten bool

	// FilterHasUserKeys says that the filter holds user keys, although the keys are not
	// treated as internal keys.
	FilterHasUserKeys bool
}

// Comparer returns the order of the stored keys.
func (f *File) Comparer() table.Comparer {
	if f.Rewritten {
		return f.Order
	}
	return f.order()
}

// Compare compares stored keys.
func (f *File) Compare(a, b []byte) int { return f.Options.Comparer.Compare(a, b) }

// Separator formats a separator.
func (f *File) Separator(key []byte) string {
	k, ok := table.ParseInternalKey(key)
	if !f.Internal || !ok {
		return wire.Quote(key)
	}
	return fmt.Sprintf("%s, sequence %d", wire.Quote(k.UserKey), k.Sequence)
}

// Close closes the file.
func (f *File) Close() error {
	var err error
	if f.Reader != nil && f.sorted == nil {
		err = f.Reader.Close()
	}
	f.once.close()
	return errors.Join(err, f.sorted.close(), f.file.Close())
}

// readSorted sorts pairs of the table into an order of user keys, and makes the Reader read the sorted copy. Of pairs
// with equal keys, it keeps the first, and calls repeated for the others.
func (f *File) readSorted(pairs iter.Seq2[input.Pair, error], keys stored, repeated func(key []byte)) (err error) {
	unsorted := f.Reader
	f.stored, f.Rewritten, f.Damage, f.filters = keys, false, nil, Filters{}
	f.Options.Comparer = f.Comparer()
	if f.sorted, err = newSortedTable(pairs, keys, repeated); err != nil {
		return f.Wrap(err)
	}
	f.Reader = f.sorted.Reader
	_, none := f.Reader.FirstKey()
	f.Empty = errors.Is(none, table.ErrNotFound)
	if unsorted != nil {
		err = unsorted.Close()
	}
	if err == nil && f.Layout != nil {
		f.Layout, err = table.ReadLayout(f.sorted.src, f.sorted.size, f.Options)
	}
	return f.Wrap(err)
}

// A FileError names the file that an error is about.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the error without the file.
func (e *FileError) Unwrap() error { return e.Err }

// Wrap adds the path to an error.
func (f *File) Wrap(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, table.ErrFilterOnly) {
		err = filterOnlyError{f.asked()}
	}
	return &FileError{Path: f.Path, Err: f.explainOrderError(err)}
}

// asked returns what to give to sst get to ask for a key: the set, if the table is one of several.
func (f *File) asked() string {
	if f.inSet {
		return filepath.Dir(f.Path)
	}
	return f.Path
}

// FilterNote says why a filter of the table is not used, or returns "".
func (f *File) FilterNote() string {
	switch {
	case f.FilterUnusable:
		return "not used: it excludes keys that the table has"
	case f.filters.Err != nil:
		return "not used: " + f.filters.Reason()
	}
	return ""
}
