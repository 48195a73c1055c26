package table

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// A Reader looks up keys in a table and iterates over it. It is safe for concurrent use. It keeps the index and the
// filters in memory, decompressed, and after many lookups also a search tree over the index. A Reader from Open holds
// an open file until Close, unless the file is mapped.
type Reader struct {
	*source
	lookups tablefile.ReadOptions // of lookups and iterators: see With
}

// A source is a table that a Reader shares with the Readers from its With and DontFillCache. Its first use opens it.
type source struct {
	opened   atomic.Pointer[openTable] // nil before the first use, and after Close of a mapped file
	firstUse sync.Mutex                // held while the table is opened, and by Close

	o           ReaderOptions // with defaults
	fileOptions tablefile.Options
	src         io.ReaderAt // nil after Close of a mapped file
	size        int64
	isFile      bool // Open or OpenFS has opened it: Close closes it, and its filters are validated
	closed      atomic.Bool
}

// Bytes returns a source for the NewReader of a table in memory, which must not change. Readers use the bytes in place.
func Bytes(b []byte) io.ReaderAt { return tablefile.Bytes(b) }

// NewReader returns a Reader of the first size bytes of r, which must be safe for concurrent use and must not change.
// If o is nil, the defaults are used. Close does not close r. If r has one of these methods, a Reader uses it:
//
//	// ReadAtContext is like ReadAt, and returns soon when ctx is done, for example from an object store.
//	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
//
//	// Slice returns n bytes of memory, which must stay readable and unchanged while a Reader uses them.
//	Slice(off int64, n int) ([]byte, error)
//
// A corrupt footer or index is a [*CorruptionError], a corrupt filter an error of FilterErr. With a Slice, only the
// footer is read at first, and a corrupt index fails the first lookup. Unlike Open, NewReader does not validate
// FilterKey: Verify does.
func NewReader(r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	return (&source{src: r, size: size}).ready(o)
}

// ready sets the options and opens the table. If the source hands out its bytes, it only reads the footer: the table
// is then opened at its first use.
func (s *source) ready(o *ReaderOptions) (*Reader, error) {
	err := s.o.set(o)
	if err != nil {
		return nil, err
	}
	s.fileOptions = s.o.file()
	if _, slices := s.src.(tablefile.Slicer); slices {
		err = new(tablefile.File).Init(s.src, s.size, &s.fileOptions, &s.closed)
	} else {
		_, err = s.open()
	}
	if err != nil {
		return nil, err
	}
	return &Reader{source: s}, nil
}

// open reads the index and the filters, unless the table is open.
func (s *source) open() (t *openTable, err error) {
	s.firstUse.Lock()
	defer s.firstUse.Unlock()
	if t := s.opened.Load(); t != nil {
		return t, nil
	}
	if s.closed.Load() {
		return nil, ErrClosed
	}
	mapped, _ := s.src.(*tablefile.Mapping)
	err = mapped.Guard(func() (err error) {
		b := tablefile.TakeScratch()
		defer b.Put()
		var m tablefile.Metaindex
		if t, m, err = s.readIndex(b); err != nil {
			return err
		}
		return t.openMeta(m, b)
	})
	if err != nil {
		return nil, err
	}
	t.file.DropTail()
	if !s.isFile || t.file.Index.N == 0 {
		t.sieve.trust.Store(trusted)
	}
	if c := s.o.Cache; c != nil && c.c.Budget > 0 {
		t.file.Cache(&c.c, s.o.CacheKey, s.o.Comparer.Name(), s.o.TailSum)
	}
	s.opened.Store(t)
	return t, nil
}

// Open opens the named file and returns a Reader of its table. If o is nil, the defaults are used. Close closes the
// file. If name is not a regular file, Open returns an error without blocking.
//
// To detect a FilterKey other than the writer's, the Reader checks the filters with some keys of the table, before it
// first relies on them. If they rule one out, they are not used, as FilterErr reports.
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

// Most tables of up to smallFile bytes have their index and filters in the last smallTail bytes, which are read at
// once. Those of larger tables would not fit, and reading them at once saves little.
const (
	smallFile = 256 << 10
	smallTail = 8 << 10
)

// openFile opens the table in a file, which Close closes.
func openFile(name string, f file, info fs.FileInfo, o *ReaderOptions) (r *Reader, err error) {
	opened := false
	defer func() { // also if a Comparer or policy panics
		if !opened {
			err = errors.Join(err, f.Close())
		}
	}()
	named := *cmp.Or(o, &ReaderOptions{})
	if named.Name = name; named.TailSize == 0 && info.Size() <= smallFile {
		named.TailSize = smallTail
	}
	r, err = (&source{src: f, size: info.Size(), isFile: true}).ready(&named)
	opened = err == nil
	return r, err
}

// A file is a table file from Open or OpenFS.
type file interface {
	io.ReaderAt
	io.Closer
}

// FilterErr returns why a filter of the table is not used, or nil. Lookups are then slower, with the same results.
// Reasons:
//
//   - The filter, its exceptions, the metaindex or the properties are corrupt.
//   - No policy in the options has the filter's name ([ErrUnknownFilter]).
//   - A filter rules out a key of the table, so FilterKey is probably wrong (tables from Open).
//   - Index and filters could not be read at their first use, for example after Close of a mapped file.
//
// The error joins all reasons, like the error of Verify.
func (r *Reader) FilterErr() error {
	t, err := r.table()
	if err != nil {
		return err
	}
	var all []error
	for _, err := range []error{t.sieve.err, t.sieve.unusable()} {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			all = append(all, joined.Unwrap()...)
		} else {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// Filters returns the filters in use: see FilterErr. Filters of a mapped file must not be used after Close.
func (r *Reader) Filters() layout.Filters {
	t, err := r.table()
	if err != nil {
		return layout.Filters{}
	}
	filters := t.sieve.Filters
	if t.sieve.unusable() != nil {
		filters = layout.Filters{BlocksEntry: filters.BlocksEntry, TableEntry: filters.TableEntry, NeverEntry: filters.NeverEntry}
	}
	return filters
}

// FilterOnly reports whether the table has only a filter, also one without a policy in the options.
func (r *Reader) FilterOnly() bool {
	t, err := r.table()
	return err == nil && t.filterOnly || errors.Is(err, ErrUnknownFilter) // it has nothing else
}

// Close closes the Reader, and the file that Open has opened. Concurrent calls return a result or ErrClosed, later
// ones ErrClosed. Iterators fail when they seek or reach another data block. Values from Get remain valid.
func (r *Reader) Close() error {
	if r.closed.Swap(true) {
		return ErrClosed
	}
	r.firstUse.Lock()
	defer r.firstUse.Unlock()
	if t := r.opened.Load(); t != nil && r.o.Cache != nil {
		t.file.Uncache()
	}
	if _, mapped := r.src.(*tablefile.Mapping); mapped {
		r.opened.Store(nil) // the file is unmapped when nothing uses it
		r.src = nil
	} else if r.isFile {
		return wrap(r.src.(file).Close())
	}
	return nil
}

// OpenFS is like [Open] for a file of fsys. The file must be regular and have a ReadAt that is safe for concurrent
// use, like the files of os.DirFS and embed.FS. It is never mapped. For a table that is embedded as []byte, NewReader
// with [Bytes] takes less memory.
func OpenFS(fsys fs.FS, name string, o *ReaderOptions) (*Reader, error) {
	f, info, err := regular.OpenFS(fsys, name)
	if err != nil {
		return nil, wrap(err)
	}
	return openFile(name, f, info, o)
}
