// Package dbfile opens single files of databases and sets: tables and logs. It finds out what a file is, what its keys
// are, and in which order they come.
package dbfile

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
	"github.com/sievetable/sievetable/table/set"
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

// Options say how to open a file.
type Options struct {
	InternalKeys InternalKeys
	Order        Order // order of user keys

	// ScanOnly saves memory if no keys are looked up: the layout and the filters, which grow
	// with the file, are not kept in memory.
	ScanOnly bool

	// AsksPrefix has filters kept, also with ScanOnly: a scan consults them for a prefix.
	AsksPrefix bool

	// FewBlocks has the order detected by few data blocks. Others are checked when a lookup misses.
	FewBlocks bool

	// AnyKind takes keys for internal keys whatever their kinds are.
	AnyKind bool

	// KeepBlocks keeps the data blocks that lookups read in a Cache, which all files share.
	KeepBlocks bool

	// TempDir is the directory of temporary files; "": that of the system.
	TempDir string

	// MaxBlock is the largest size of a block. 0: the default of a Reader.
	MaxBlock int

	// Outputs are files that the command writes. They are not opened for reading.
	Outputs output.Files

	// Unread, if not nil, is called for what the disk cannot read of a table or a log, which then counts as damaged.
	// It may be called concurrently. If it is nil, that is an error.
	Unread func(path string, at int64, err error)

	// WrapReader, if not nil, wraps the file of each table, to show progress.
	WrapReader func(io.ReaderAt) io.ReaderAt

	// ReadOnce, if not nil, says that Verify will check the table. What Open reads is kept for it, and ReadOnce
	// is called with the number of bytes of each further read.
	ReadOnce func(n int64)

	Meta     *versions.Table // the entry of the table in the MANIFEST; nil: it is not listed
	Line     *set.Table      // its line in the manifest of its set; nil: there is no set
	Numbered bool            // it is in a directory, and its name is one that engines give to tables
	Form     *Form           // what was detected of the table before; nil: it has yet to be
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
	Empty  bool           // there are no data blocks
	Layout *layout.Layout // where the blocks are; nil with Options.ScanOnly

	Reader  *table.Reader
	Options *table.ReaderOptions

	Declared   Order  // what the user or a MANIFEST says of the order
	HiddenFrom uint64 // lookups show lower sequence numbers only; 0: all

	// Damage says why there is no Reader, and possibly no Layout. Open then fails.
	Damage error

	// ForeignErr says what a damaged file is, such as text, if no blocks are found in it.
	ForeignErr error

	inSet      bool // it is one of the tables of a set
	ofDatabase bool // it is in a directory of tables, or a MANIFEST lists it
	file       io.Closer
	filters    Filters
	sorted     *SortedTable // the sorted copy that the Reader reads, if there is one
	once       *readOnce    // Src, for Verify; else nil

	unchecked bool // some data blocks were not examined to detect the order
	missed    bool // a lookup has missed since
}

// Comparer returns the order of the stored keys.
func (f *File) Comparer() table.Comparer {
	if f.Rewritten {
		return f.Order
	}
	return f.Stored.Comparer()
}

// InDatabase reports whether the table has internal keys, in a database of LevelDB.
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
	f.once.close()
	return errors.Join(err, f.sorted.Close(), f.file.Close())
}

// ReadSorted sorts pairs of the table into an order of user keys, and makes the Reader read the sorted copy. Of pairs
// with equal keys, it keeps the first, and calls repeated for the others. tempDir is as for NewSortedTable.
func (f *File) ReadSorted(pairs iter.Seq2[input.Pair, error], keys Stored, repeated func(key []byte), tempDir string) (err error) {
	unsorted := f.Reader
	f.Stored, f.Rewritten, f.Damage, f.filters = keys, false, nil, Filters{}
	f.Options.Comparer = f.Comparer()
	if f.sorted, err = NewSortedTable(pairs, keys, repeated, tempDir); err != nil {
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
		asked := f.Path // what to give to sst get to ask for a key: the set, if the table is one of several
		if f.inSet {
			asked = files.Dir(f.Path)
		}
		err = filterOnlyError{asked}
	}
	if c, ok := err.(*table.CorruptionError); ok && !f.Declared.Trusted && errors.Is(c, table.ErrOrder) { // another order is likelier
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

// Parse sets e to an entry with a stored key, of which it splits an internal one.
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

// A Stored says how keys are stored.
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

// SeekKey returns a stored key that is ≤ all versions of a user key, or nil for nil.
func (s Stored) SeekKey(user []byte) []byte {
	if user == nil || !s.Internal {
		return user
	}
	return internalkey.SearchKey(nil, user, internalkey.MaxSequence)
}

// FilterKey returns the key that filters hold for a stored key: the user key of an internal
// key.
func (s Stored) FilterKey(key []byte) []byte {
	if s.Internal {
		return internalkey.UserKey(key)
	}
	return key
}

// A Form is what is detected of a table when it is opened first, and holds when it is opened again.
type Form struct {
	FileSize int64 // if it is another one, so is the table
	Stored
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
