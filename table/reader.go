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
)

// A Reader looks up keys in a table, and iterates over it. It has the index and the filters in
// memory as they are in the file, but decompressed, and many lookups build a search tree of the index
// beside it. It is safe for concurrent use. Lookups take no lock, except to add a block to a Cache. A
// Reader from Open holds an open file until Close, unless the file is mapped. [Open] and [NewReader]
// return one.
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

// NewReader returns a Reader of a table: the first size bytes of r. r must be safe for
// concurrent use, and the bytes must not change. NewReader reads the footer, the index, the
// metaindex and the filters; of a [SliceReaderAt] it reads the footer only. If o is nil, all options
// are the defaults. An option out of its range is an error. Close does not close r.
//
// Damage in the footer, or a wrong checksum of the index, is a *CorruptionError. Damage in an entry
// of the index is an error of the lookups that come to it. A filter that cannot be used is no error
// here, unless the table has nothing else: see FilterErr. Of a SliceReaderAt, only damage in the
// footer is an error here; the rest is an error of the first method that needs it. An error of r is
// in the chain of the error, so that errors.Is finds it. Unlike Open, NewReader does not notice a
// wrong FilterKey: Verify does.
func NewReader(r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	t, err := newReader(r, size, o)
	if err != nil {
		return nil, err
	}
	return t.ready()
}

// newReader returns a Reader of a table that is not opened yet.
func newReader(src io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	// The caller may change its slices before the table is opened.
	opts.FilterPolicies, opts.TableFilterPolicies = slices.Clone(opts.FilterPolicies), slices.Clone(opts.TableFilterPolicies)
	opts.Codecs, opts.FilterPrefixes = slices.Clone(opts.Codecs), slices.Clone(opts.FilterPrefixes)
	r := &Reader{o: opts, src: src, size: size}
	r.fileOptions = r.o.fileOptions()
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

// Open opens the file name and returns a Reader of the table, as NewReader does. Close closes the
// file. If there is no file of that name, the error is fs.ErrNotExist: errors.Is finds it. Only
// regular files can be opened. Anything else of that name, such as a pipe, is an error: Open closes
// it again, and does not wait for it.
//
// When a filter of the table denies a key for the first time, the Reader reads the first data block.
// If a filter denies one of the first keys there, up to 8, no filter is used, and FilterErr says so.
//
// With ReaderOptions.Mapped, Open reads the footer only, and the first use reads index and filters.
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

// FilterErr returns why a filter of the table is not in use. It is nil if all filters are in
// use, if the table has none, or if IgnoreFilter is set. The reasons are:
//
//   - The filter is damaged, or the metaindex is. One damaged filter of a filter block is no reason:
//     its data block may contain every key, and Verify reports it.
//   - The exceptions of the table filter are damaged. Then none of them is used, but the filter is.
//   - The properties are damaged, which name the function of the prefixes that filters hold. Then
//     filters are asked for keys only.
//   - No policy in FilterPolicies or TableFilterPolicies has its name.
//   - The table cannot be opened, for example since a mapped file is closed. The next call tries
//     again.
//   - It denies one of the table's first keys, if Open has opened the table. Most likely FilterKey is not
//     the one that the table was written with. Then no other filter of the table is used either.
//
// Without the filter, lookups have the same results and are slower, and MayContain is of little
// use. A table with a filter only cannot be opened without it: Open and NewReader fail or, if they
// read the footer only, the first use does. A filter that is in use can still be wrong: Verify checks
// all keys.
func (r *Reader) FilterErr() error {
	t, err := r.table()
	if err != nil {
		return err
	}
	return errors.Join(t.sieve.err, t.sieve.unusable())
}

// Filters returns the filters that lookups check. What is nil is not in the table, or not in use:
// see FilterErr. They may be used after Close, but not those of a mapped file, whose use can also
// fault: see ReaderOptions.Mapped.
func (r *Reader) Filters() Filters {
	t, err := r.table()
	if err != nil {
		return Filters{}
	}
	filters := t.sieve.Filters
	if t.sieve.unusable() != nil {
		filters.Table, filters.Blocks, filters.Never, filters.Prefix = nil, nil, nil, nil
	}
	return filters
}

// Close closes the Reader, and the file if Open has opened it. After Close, lookups, Verify,
// Properties, FirstKey, LastKey and a second Close return ErrClosed. Iters fail with ErrClosed when
// they seek or come to another block. Values that Get and Find have returned stay valid. Close may be
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
