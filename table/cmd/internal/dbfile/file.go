// Package dbfile opens single files of databases and sets: tables and logs. It detects the kind of a file, and
// the form and the order of its keys.
package dbfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
	"github.com/sievetable/sievetable/table/set"
)

// InternalKeys says whether keys are internal keys, which end in a sequence number and a kind.
type InternalKeys int

// Auto detects it from the keys.
const (
	Auto InternalKeys = iota
	Yes
	No
)

// Options describes how to open a file.
type Options struct {
	InternalKeys InternalKeys
	Order        Order // order of user keys

	// ScanOnly saves memory if no keys are looked up: it does not keep the layout and the filters, which grow
	// with the file.
	ScanOnly bool

	// AsksPrefix keeps the filters even with ScanOnly, since a scan of a prefix consults them.
	AsksPrefix bool

	// FewBlocks detects the order from a few data blocks. More are checked when a lookup misses.
	FewBlocks bool

	// AnyKind accepts internal keys of any kind in detection.
	AnyKind bool

	// KeepBlocks keeps the data blocks that lookups read in a Cache, which all files share.
	KeepBlocks bool

	// TempDir is the directory for temporary files. If it is empty, the system's is used.
	TempDir string

	// MaxBlock is the maximum size of a block. Zero means the Reader's default.
	MaxBlock int

	// Outputs are files that the command writes. They are not opened for reading.
	Outputs output.Files

	// Unread, if not nil, is called for each part of a table or a log that the disk cannot read. The part then
	// counts as damaged. Unread may be called concurrently. If it is nil, a part that cannot be read is an error.
	Unread func(path string, at int64, err error)

	// WrapReader, if not nil, wraps the file of each table, to show progress.
	WrapReader func(io.ReaderAt) io.ReaderAt

	// ReadOnce, if not nil, announces that Verify will check the table. Open keeps the bytes that it reads for
	// Verify, and ReadOnce is called with the number of bytes of each further read.
	ReadOnce func(n int64)

	Meta     *versions.Table // the table's entry in the MANIFEST; nil: not listed
	Line     *set.Table      // its line in the set's manifest; nil: not in a set
	Set      string          // the path of that set
	Numbered bool            // it is in a directory, with a name that engines give to tables
	Form     *Form           // the Form detected before; nil: not yet
}

// InManifest reports whether the MANIFEST of a database lists the table, so that its keys are internal keys.
func (o Options) InManifest() bool { return o.Meta != nil && o.InternalKeys != No }

// inDatabase reports whether the table is in a directory, and a manifest lists it or its name is one that engines
// give to tables.
func (o Options) inDatabase() bool { return o.Line != nil || o.Numbered }

// A File is an open table.
type File struct {
	Form
	Path   string
	Size   int64
	Src    io.ReaderAt    // the contents of the file
	Empty  bool           // the table has no data blocks
	Layout *layout.Layout // where the blocks are; nil with Options.ScanOnly

	Reader  *table.Reader
	Options *table.ReaderOptions

	Declared   Order  // the order that the user or a MANIFEST specifies
	HiddenFrom uint64 // lookups see only lower sequence numbers; 0: all

	// Damage says why there is no Reader, and possibly no Layout. Open then fails. For a repair, it can instead be damage
	// that may hide keys of a table without data blocks.
	Damage error

	// ForeignErr describes a damaged file in which no blocks are found, for example as text.
	ForeignErr error

	set        string // the path of its set; "": not in a set
	ofDatabase bool   // it is in a directory of tables, or a MANIFEST lists it
	file       io.Closer
	filters    Filters
	sorted     *SortedTable // the sorted copy that the Reader reads, if any
	once       *readOnce    // Src, if Verify follows

	unchecked bool // some data blocks were not examined to detect the order
	missed    bool // a lookup has missed since then
}

// Comparer returns the order of the stored keys.
func (f *File) Comparer() table.Comparer {
	if f.Rewritten {
		return f.Order
	}
	return f.Stored.Comparer()
}

// InDatabase reports whether the table is part of a LevelDB database, with internal keys.
func (f *File) InDatabase() bool { return f.Internal && f.ofDatabase }

// Compare compares stored keys.
func (f *File) Compare(a, b []byte) int { return f.Options.Comparer.Compare(a, b) }

// Separator formats a separator.
func (f *File) Separator(key []byte) string {
	k, ok := internalkey.Parse(key)
	if !f.Internal || !ok {
		return format.Quote(key)
	}
	return fmt.Sprintf("%s, sequence %d", format.Quote(k.UserKey), k.Sequence)
}

// Close closes the file.
func (f *File) Close() error {
	var err error
	if f.Reader != nil && f.sorted == nil {
		err = f.Reader.Close()
	}
	return errors.Join(err, f.sorted.Close(), f.file.Close())
}

// ReadSorted sorts the table's pairs, and makes the Reader read the sorted copy. keys describes the stored keys
// and their order. Of pairs with equal keys, it keeps the first, and calls repeated for the others. tempDir is as
// for NewSortedTable.
func (f *File) ReadSorted(pairs iter.Seq2[input.Pair, error], keys Stored, repeated func(key []byte), tempDir string) (err error) {
	unsorted := f.Reader
	f.Stored, f.Rewritten, f.Damage, f.filters = keys, false, nil, Filters{}
	f.Options.Comparer = f.Comparer()
	if f.sorted, err = NewSortedTable(pairs, keys, repeated, tempDir); err != nil {
		return f.Wrap(err)
	}
	f.Reader = f.sorted.Reader
	it := f.Reader.NewIter(nil)
	found := it.First()
	f.Empty = it.Close() == nil && !found
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

// FileName returns the path of the file.
func (e *FileError) FileName() string { return e.Path }

// Unwrap returns the error without the file.
func (e *FileError) Unwrap() error { return e.Err }

// Wrap adds the path to an error.
func (f *File) Wrap(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, table.ErrFilterOnly) {
		err = filterOnlyError{cmp.Or(f.set, f.Path)}
	}
	if c, ok := err.(*table.CorruptionError); ok && !f.Declared.Trusted && errors.Is(c, table.ErrOrder) { // more likely another order
		err = fmt.Errorf("%s: use --comparator (%s at %d: %v)", f.Declared.disorderNote(), c.Block, c.Offset, c.Err)
	}
	return &FileError{Path: f.Path, Err: err}
}

// FilterNote says why a filter of the table is not used, or returns "".
func (f *File) FilterNote() string {
	switch {
	case f.FilterUnusable:
		return "not used: it excludes keys in the table"
	case f.filters.Err != nil:
		return "not used: " + f.filters.Reason()
	}
	return ""
}

// IsSorted reports whether the Reader reads a sorted copy of the table.
func (f *File) IsSorted() bool { return f.sorted != nil }

// An Entry is an entry of a table, or a write of a log.
type Entry struct {
	Key, Value []byte // for an internal key, the user key
	Internal   bool   // the key is an internal key, with Sequence and Kind
	Sequence   uint64
	Kind       internalkey.Kind
}

// Parse sets e to an entry with a stored key. It splits an internal key.
func (e *Entry) Parse(key, value []byte, internal bool) error {
	e.Value = value
	if !internal {
		e.Key, e.Kind = key, internalkey.Set
		return nil
	}
	k, ok := internalkey.Parse(key)
	if !ok {
		return fmt.Errorf("key %s is shorter than 8 bytes, so it is not an internal key: use --internal-keys no", format.Quote(key))
	}
	e.Key, e.Internal, e.Sequence, e.Kind = k.UserKey, true, k.Sequence, k.Kind
	return nil
}

// A Stored describes how keys are stored.
type Stored struct {
	Internal bool           // they are internal keys
	Order    table.Comparer // order of user keys; table.AnyOrder: unknown
}

// Comparer returns the order of the stored keys.
func (s Stored) Comparer() table.Comparer {
	if s.Internal {
		return table.InternalComparer(s.Order)
	}
	return s.Order
}

// SeekKey returns the stored key that is ≤ all versions of a user key. For nil, it returns nil.
func (s Stored) SeekKey(user []byte) []byte {
	if user == nil || !s.Internal {
		return user
	}
	return internalkey.SearchKey(nil, user, internalkey.MaxSequence)
}

// FilterKey returns the key that filters contain for a stored key: the user key of an internal key.
func (s Stored) FilterKey(key []byte) []byte {
	if s.Internal {
		return internalkey.UserKey(key)
	}
	return key
}

// A Form holds the properties that are detected when a table is first opened, and remain valid when it is opened
// again.
type Form struct {
	FileSize int64 // if it has changed, so has the table
	Stored
	OrderNote      string // why the order is not as expected, for messages; "": it is
	FilterUnusable bool   // the filter rules out keys in the table, so it is not used

	// Rewritten says that goleveldb's recovery wrote the table: it has internal keys, but an order and a filter
	// of plain keys. The Reader can only scan such a table. For lookups, it must be sorted again.
	Rewritten bool

	// FilterHasUserKeys says that the filter contains user keys, although the keys are not treated as internal
	// keys.
	FilterHasUserKeys bool
}
