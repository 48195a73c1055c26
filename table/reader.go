package table

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// A Reader looks up keys in a table and iterates over it. It keeps the table's index and filters in memory,
// decompressed. After enough lookups it also builds a search tree over the index. A Reader is safe for
// concurrent use. Lookups take no lock, except to add a block to a Cache. A Reader from Open holds an open
// file until Close, unless the file is mapped.
type Reader struct {
	opened   atomic.Pointer[openTable] // nil: it was not used yet, or it is closed
	firstUse sync.Mutex                // is held while the table is opened, and by Close

	o              ReaderOptions // with defaults
	fileOptions    tablefile.Options
	src            io.ReaderAt // nil: a mapped file that is closed
	size           int64
	file           file // that Open or OpenFS has opened; nil if the Reader is from NewReader
	checkFilterKey bool // filters that deny one of the table's first keys are not used
	closed         atomic.Bool
}

// NewReader returns a Reader of the table in the first size bytes of r. r must be safe for concurrent use,
// and the bytes must not change. If o is nil, the defaults are used. Close does not close r.
//
// NewReader loads the footer, index, metaindex and filters. For a [SliceReaderAt] it loads only the footer,
// and defers the rest to first use.
//
// If the footer is corrupt, or the checksum of the index is wrong, NewReader returns a *CorruptionError. A
// corrupt index entry is reported by the lookups that reach it, and a filter that cannot be used by
// FilterErr, unless the table has nothing else. If r fails, its error is in the chain of the error. Unlike
// Open, NewReader does not notice a wrong FilterKey: Verify does.
func NewReader(r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	t, err := newReader(r, size, o)
	if err != nil {
		return nil, err
	}
	return t.ready()
}

// newReader returns a Reader of a table that is not opened yet.
func newReader(src io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	r := &Reader{src: src, size: size}
	if err := r.o.set(o); err != nil {
		return nil, err
	}
	// The caller may change its slices before the table is opened.
	r.o.FilterPolicies, r.o.TableFilterPolicies = slices.Clone(r.o.FilterPolicies), slices.Clone(r.o.TableFilterPolicies)
	r.o.Codecs, r.o.FilterPrefixes = slices.Clone(r.o.Codecs), slices.Clone(r.o.FilterPrefixes)
	r.o.setFile(&r.fileOptions)
	return r, nil
}

// ready opens the table, or reads the footer only if the source hands out its bytes: the table is then opened at its
// first use.
func (r *Reader) ready() (*Reader, error) {
	var err error
	if _, slices := r.src.(SliceReaderAt); slices {
		err = new(tablefile.File).Init(r.src, r.size, &r.fileOptions, &r.closed)
	} else {
		_, err = r.open()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// table returns the open table.
func (r *Reader) table() (*openTable, error) {
	if t := r.opened.Load(); t != nil {
		return t, nil
	}
	return r.open()
}

// open opens the table, unless it is open.
func (r *Reader) open() (t *openTable, err error) {
	r.firstUse.Lock()
	defer r.firstUse.Unlock()
	if t := r.opened.Load(); t != nil {
		return t, nil
	}
	if r.closed.Load() {
		return nil, ErrClosed
	}
	if t, err = r.read(); err != nil {
		return nil, err
	}
	if !r.checkFilterKey || t.file.Index.N == 0 {
		t.sieve.trust.Store(trusted)
	}
	if c := r.o.Cache; c != nil && c.c.Budget > 0 {
		t.file.Cache(&c.c, r.o.CacheKey, r.o.Comparer.Name(), r.o.TailSum)
	}
	r.opened.Store(t)
	return t, nil
}

// read reads the index and the filters.
func (r *Reader) read() (t *openTable, err error) {
	err = tablefile.Guard(r.src, func() error {
		if _, mapped := r.src.(*tablefile.Mapping); mapped || r.file == nil || r.o.TailSize > 0 || r.size > tablefile.SmallFile {
			t, err = newOpenTable(r.src, r.size, &r.o, &r.fileOptions, &r.closed)
			return err
		}
		return tablefile.WithTail(r.src, r.size, func(src io.ReaderAt) error {
			t, err = newOpenTable(src, r.size, &r.o, &r.fileOptions, &r.closed)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	t.file.DropTail(r.src)
	return t, nil
}

// Open opens the file name and returns a Reader of its table, like NewReader. Close closes the file. If the
// file does not exist, the error is fs.ErrNotExist. If name is not a regular file, Open returns an error
// without blocking. With ReaderOptions.Mapped, Open loads only the footer.
//
// When a filter rules a key out for the first time, the Reader checks the filters for the first keys of the
// table, up to 8. If a filter rules one of them out, no filter is used, and FilterErr says why.
func Open(name string, o *ReaderOptions) (*Reader, error) {
	f, info, err := regular.Open(name)
	if err != nil {
		return nil, wrap(err)
	}
	if o != nil && o.Mapped {
		if m := tablefile.Map(f, info.Size()); m != nil {
			if err := f.Close(); err != nil {
				return nil, wrap(err)
			}
			return openFile(name, m, info, o)
		}
	}
	return openFile(name, f, info, o)
}

// openFile opens the table in a file, which Close closes.
func openFile(name string, f file, info fs.FileInfo, o *ReaderOptions) (r *Reader, err error) {
	opened := false
	defer func() { // also if a Comparer or policy panics
		if !opened {
			err = errors.Join(err, f.Close())
		}
	}()
	if r, err = newReader(f, info.Size(), o); err != nil {
		return nil, err
	}
	r.o.Name, r.file, r.checkFilterKey = name, f, true
	if r, err = r.ready(); err == nil {
		opened = true
	}
	return r, err
}

// source returns what the Reader reads, or nil if that is a mapped file that is closed.
func (r *Reader) source() io.ReaderAt {
	r.firstUse.Lock()
	defer r.firstUse.Unlock()
	return r.src
}

// A file is what Open and OpenFS have opened.
type file interface {
	io.ReaderAt
	io.Closer
}

// FilterErr returns why a filter of the table is not in use. It returns nil if all filters are in use, if
// the table has none, or if IgnoreFilter is set. The reasons are:
//
//   - The filter or the metaindex is corrupt. If one filter of a filter block is corrupt, only Verify
//     reports it: its data block may contain every key.
//   - The exceptions of the table filter are corrupt. The filter is used without them.
//   - The properties are corrupt, which name the Prefixer. Filters are then checked for whole keys only.
//   - No policy in FilterPolicies or TableFilterPolicies has the filter's name.
//   - The table cannot be opened, for example because a mapped file is closed. The next call tries again.
//   - A filter rules out one of the table's first keys, if Open has opened the table. Most likely FilterKey
//     is not the one that the table was written with. No filter of the table is used then.
//
// Without its filter a table returns the same results more slowly, and MayContain is of little use. A table
// that has only a filter cannot be opened without it. A filter that is in use can still be wrong: Verify
// checks all keys.
func (r *Reader) FilterErr() error {
	t, err := r.table()
	if err != nil {
		return err
	}
	return errors.Join(t.sieve.err, t.sieve.unusable())
}

// Filters returns the filters that lookups consult. A field is nil if the table does not have the filter, or
// if it is not in use: see FilterErr. Filters may be used after Close, except those of a mapped file, whose
// use can also fault: see ReaderOptions.Mapped.
func (r *Reader) Filters() layout.Filters {
	t, err := r.table()
	if err != nil {
		return layout.Filters{}
	}
	filters := t.sieve.Filters
	if t.sieve.unusable() != nil {
		filters.Table, filters.Pages, filters.Blocks, filters.Never, filters.Prefix = nil, nil, nil, nil, nil
		filters.TableSize, filters.TableBits = 0, 0
	}
	return filters
}

// Close closes the Reader, and the file if Open has opened it. After Close, lookups, Verify,
// Properties, FirstKey, LastKey and a second Close return ErrClosed. Iters fail with ErrClosed when
// they seek or reach another block. Values that Get and Find have returned stay valid. Close may be
// called while other methods run: they return a result or ErrClosed.
func (r *Reader) Close() error {
	if r.closed.Swap(true) {
		return ErrClosed
	}
	r.firstUse.Lock()
	defer r.firstUse.Unlock()
	if t := r.opened.Load(); t != nil {
		t.file.Uncache()
	}
	if _, mapped := r.src.(*tablefile.Mapping); mapped {
		r.opened.Store(nil) // the file is unmapped when nothing uses it
		r.src, r.file = nil, nil
	}
	if r.file == nil {
		return nil
	}
	return wrap(r.file.Close())
}

// OpenFS opens the file name of fsys, as Open opens a file of the operating system. Close closes
// it. The file must be a regular one, and have a method ReadAt that is safe for concurrent use,
// as the files of os.DirFS, os.Root.FS and embed.FS have. Of another file read the contents, and
// give them to NewReader. The file is read also with ReaderOptions.Mapped.
func OpenFS(fsys fs.FS, name string, o *ReaderOptions) (*Reader, error) {
	f, info, err := regular.OpenFS(fsys, name)
	if err != nil {
		return nil, wrap(err)
	}
	return openFile(name, f, info, o)
}
