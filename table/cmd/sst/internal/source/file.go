// Package source opens tables, by themselves or in the directory of a database,
// and searches them as one.
package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
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
	AllTables    bool // of a directory, also those that its database does not list

	// Through says that entries are only gone through: the layout and the filters are not
	// kept in memory, which grow with the file, and lookups do without them.
	Through bool

	// MaxBlock is how many bytes a block may take. 0: what a Reader takes.
	MaxBlock int

	// Outputs are files that are written to. They are not opened.
	Outputs output.Files

	// Watch is put around the file of each table: to count what is read. nil: nothing.
	Watch func(io.ReaderAt) io.ReaderAt
}

// A File is a table that is open.
type File struct {
	Path     string
	Size     int64
	Internal bool          // its keys are internal keys
	Opaque   bool          // its filter holds something else than keys, and is not used
	Src      io.ReaderAt   // what the table is read from
	Empty    bool          // it has no data blocks
	Layout   *table.Layout // where its blocks are; nil if opened to be gone through

	// UserFilter says that the filter holds users' keys, though the keys are not to be read
	// as internal keys.
	UserFilter bool

	Reader  *table.Reader
	Metrics *table.Metrics // of the Reader
	Options *table.ReaderOptions

	// Damage is why there is no Reader, and perhaps no Layout. Open fails then.
	Damage error

	// Seems is what a damaged file is taken for, if no blocks are found in it: text, say.
	Seems error

	file    *os.File
	filters Filters
}

// Open opens the table in a file. Errors name the file.
func Open(path string, o Options) (*File, error) {
	f, err := OpenDamaged(path, o)
	if err != nil {
		return nil, err
	}
	if f.Damage != nil {
		return nil, errors.Join(cmp.Or(f.Seems, f.Damage), f.Close())
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
		if sure, err = f.foreign(); !sure {
			f.Seems, err = f.Wrap(err), nil
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
	if o.Watch != nil {
		f.Src = o.Watch(f.Src)
	}
	f.Metrics = new(table.Metrics)
	f.Options = &table.ReaderOptions{Codecs: codecs.All(), Metrics: f.Metrics, MaxBlockSize: o.MaxBlock}
	if f.Layout, err = table.ReadLayout(f.Src, f.Size, f.Options); err != nil {
		return err
	}
	f.Empty = len(f.Layout.Data) == 0
	if err := f.find(o.InternalKeys); err != nil {
		return err
	}
	if o.Through {
		f.Layout, f.filters.Blocks, f.filters.Whole = nil, nil, nil
		runtime.GC() // so that they are gone before a Reader has as much
	}
	if f.Internal {
		f.Options.Comparer = table.InternalComparer(table.BytewiseComparer)
		f.Options.FilterKey = table.InternalFilterKey
	}
	f.Options.IgnoreFilter = f.Opaque || o.Through
	f.Reader, err = table.NewReader(f.Src, f.Size, f.Options)
	return err
}

// Compare is the order of the file's keys.
func (f *File) Compare(a, b []byte) int {
	if f.Options.Comparer != nil {
		return f.Options.Comparer.Compare(a, b)
	}
	return table.BytewiseComparer.Compare(a, b)
}

// BlockOrder is Compare in the form that package block has it.
func (f *File) BlockOrder() block.Order {
	if f.Internal {
		return block.Order{Compare: f.Options.Comparer.Compare, Suffix: internalTrailer}
	}
	return block.Order{}
}

// internalTrailer is how many bytes an internal key has behind the user's.
const internalTrailer = 8

// User is what of a key the filters hold: of an internal key the user's.
func (f *File) User(key []byte) []byte {
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
	return fmt.Sprintf("%s, sequence %d", wire.Quote(k.User), k.Sequence)
}

// Close closes the file.
func (f *File) Close() error {
	var err error
	if f.Reader != nil {
		err = f.Reader.Close()
	}
	return errors.Join(err, f.file.Close())
}

// Wrap says in an error which file it is about.
func (f *File) Wrap(err error) error {
	if err == nil {
		return nil
	}
	return &FileError{Path: f.Path, Err: err}
}

// Unused says why a filter of the table is not in use, or nothing.
func (f *File) Unused() string {
	switch {
	case f.Opaque:
		return "not in use: it denies the table's own keys"
	case f.filters.Err != nil:
		return "not in use: " + f.filters.Why()
	}
	return ""
}
