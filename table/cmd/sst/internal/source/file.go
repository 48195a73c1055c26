// Package source opens tables, by themselves or in the directory of a database,
// and searches them as one.
package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
)

// InternalKeys says whether the keys of tables are internal keys, which end in a
// trailer of sequence number and kind.
type InternalKeys int

// The answers, of which Auto has the tables looked at.
const (
	Auto InternalKeys = iota
	Yes
	No
)

// Options say how tables are opened.
type Options struct {
	InternalKeys InternalKeys
	Order        Order // of users' keys
	AllTables    bool  // of a directory, also tables and logs that its database does not list
	NoLogs       bool  // of a directory, leave out its logs
	OneTable     bool  // no directory, and no log
	InManifest   bool  // the table is one that a database lists: its keys are internal keys
	Size         int64 // of the table, where the file may be longer. 0: the file's

	// Note is called with what is not seen of a Source, for people. nil: nothing.
	Note func(string)

	// ScanOnly says that entries are only gone through: the layout and the filters are not
	// kept in memory, which grow with the file, and lookups do without them.
	ScanOnly bool

	// MaxBlock is how many bytes a block may take. 0: what a Reader takes.
	MaxBlock int

	// Outputs are files that are written to. They are not opened.
	Outputs output.Files

	// WrapReader is put around the file of each table: to count what is read. nil: nothing.
	WrapReader func(io.ReaderAt) io.ReaderAt
}

// A File is a table that is open.
type File struct {
	Path           string
	Size           int64
	Internal       bool           // its keys are internal keys
	Order          table.Comparer // of users' keys; table.AnyOrder if it is not known
	OrderNote      string         // that it is not the order it should be, for people; or ""
	FilterUnusable bool           // its filter holds something else than keys, and is not used
	Src            io.ReaderAt    // what the table is read from
	Empty          bool           // it has no data blocks
	Layout         *table.Layout  // where its blocks are; nil if opened to be gone through

	// Rewritten says that goleveldb's recovery wrote the table anew, with internal keys
	// where the order and the filter are those of users' keys. Then the Reader has the
	// entries, and lookups need what is sorted.
	Rewritten bool

	// FilterHasUserKeys says that the filter holds users' keys, though the keys are not to be read
	// as internal keys.
	FilterHasUserKeys bool

	Reader  *table.Reader
	Metrics *table.Metrics // of the Reader
	Options *table.ReaderOptions

	// Damage is why there is no Reader, and perhaps no Layout. Open fails then.
	Damage error

	// ForeignErr is what a damaged file is taken for, if no blocks are found in it: text, say.
	ForeignErr error

	file     *os.File
	filters  Filters
	declared Order        // what is said of its order
	sorted   *sortedTable // what the Reader is of, if the file had to be sorted
}

// Open opens the table in a file. Errors name the file.
func Open(path string, o Options) (*File, error) {
	f, err := OpenDamaged(path, o)
	if err != nil {
		return nil, err
	}
	if f.Damage != nil {
		return nil, errors.Join(cmp.Or(f.ForeignErr, f.Damage), f.Close())
	}
	return f, nil
}

// OpenDamaged opens as much of a table as can be. What surely was never meant to be one is
// an error.
func OpenDamaged(path string, o Options) (*File, error) {
	f, err := openRegular(path, o.Outputs)
	if err != nil {
		return nil, err
	}
	err = f.open(o)
	if errors.Is(err, table.ErrCorrupt) {
		f.Damage = f.Wrap(err)
		var sure bool
		if sure, err = f.foreignError(); !sure {
			f.ForeignErr, err = f.Wrap(err), nil
		}
	}
	if err != nil {
		return nil, errors.Join(f.Wrap(err), f.Close())
	}
	return f, nil
}

// openRegular opens a file that can be read at any place, and is none of the outputs.
func openRegular(path string, outputs output.Files) (*File, error) {
	file, info, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	if err := outputs.Check(path, info); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &File{Path: path, Size: info.Size(), Src: file, file: file}, nil
}

func (f *File) open(o Options) (err error) {
	if o.WrapReader != nil {
		f.Src = o.WrapReader(f.Src)
	}
	if o.Size > 0 && o.Size < f.Size && hasMagicAt(f.Src, o.Size) {
		f.Size = o.Size
	}
	f.Metrics = new(table.Metrics)
	f.Options = &table.ReaderOptions{Codecs: codecs.All(), Metrics: f.Metrics, MaxBlockSize: o.MaxBlock}
	f.declareOrder(o.Order)
	layout, err := table.ReadLayout(f.Src, f.Size, f.Options)
	if err != nil {
		return err
	}
	f.Layout = layout
	f.Empty = len(f.Layout.Data) == 0
	if err := f.detectKeys(o); err != nil {
		return err
	}
	f.detectOrder()
	if o.ScanOnly {
		large := f.Layout.Index.Length > 1<<20
		f.Layout, f.filters.Blocks, f.filters.Table = nil, nil, nil
		if large {
			runtime.GC() // so that they are gone before a Reader has as much
		}
	}
	f.Options.Comparer = f.Comparer()
	if f.Internal && !f.Rewritten {
		f.Options.FilterKey = table.InternalFilterKey
	}
	f.Options.IgnoreFilter = f.FilterUnusable || o.ScanOnly
	f.Reader, err = table.NewReader(f.Src, f.Size, f.Options)
	return err
}

// Comparer is the order of the file's keys, as they are stored.
func (f *File) Comparer() table.Comparer {
	if f.Internal && !f.Rewritten {
		return table.InternalComparer(f.Order)
	}
	return f.Order
}

// Compare compares keys as they are stored.
func (f *File) Compare(a, b []byte) int { return f.Options.Comparer.Compare(a, b) }

// seekKey is what all versions of a user's key come after.
func (f *File) seekKey(user []byte) []byte {
	if !f.Internal {
		return user
	}
	return table.SeekKey(nil, user, table.MaxSequence)
}

// FilterKey is what of a key the filters hold: of an internal key the user's.
func (f *File) FilterKey(key []byte) []byte {
	if f.Internal {
		return table.InternalFilterKey(key)
	}
	return key
}

// Separator is a key of the index as text.
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
	return errors.Join(err, f.sorted.close(), f.file.Close())
}

// sortAgain has the Reader find what is in the table in another order of users' keys.
func (f *File) sortAgain(user table.Comparer) (err error) {
	unsorted := f.Reader
	f.Order, f.Rewritten, f.filters = user, false, Filters{}
	f.Options.Comparer = f.Comparer()
	f.sorted, err = newSortedTable(pairs(unsorted), user, f.Internal)
	if err == nil {
		f.Reader, err = f.sorted.Reader, unsorted.Close()
	}
	if err == nil && f.Layout != nil {
		f.Layout, err = table.ReadLayout(f.sorted.src, f.sorted.size, f.Options)
	}
	return f.Wrap(err)
}

// pairs returns the entries of a table.
func pairs(r *table.Reader) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		it := r.NewIter(&table.IterOptions{ReadAhead: readAhead})
		for it.Next() {
			if !yield(input.Pair{Key: it.Key(), Value: it.Value()}, nil) {
				break
			}
		}
		if err := it.Close(); err != nil {
			yield(input.Pair{}, err)
		}
	}
}

// Wrap says in an error which file it is about.
func (f *File) Wrap(err error) error {
	if err == nil {
		return nil
	}
	return &FileError{Path: f.Path, Err: f.explainOrderError(err)}
}

// FilterNote says why a filter of the table is not in use, or nothing.
func (f *File) FilterNote() string {
	switch {
	case f.FilterUnusable:
		return "not used: it excludes keys that the table has"
	case f.filters.Err != nil:
		return "not used: " + f.filters.Reason()
	}
	return ""
}
