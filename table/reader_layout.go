package table

import (
	"io"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// ApproximateOffset returns about where in the file key is, or would be, in bytes. The
// difference of two offsets is about the size of the entries between the two keys in the
// file. ApproximateOffset searches the index and reads nothing. It works also after Close, but not
// for a mapped file.
//
// The offset is that of the only data block that can have the key, or of the metaindex if
// key is > all keys. It is 0 if the index cannot be read.
func (r *Reader) ApproximateOffset(key []byte) int64 {
	t, err := r.table()
	if err != nil {
		return 0
	}
	var h tablefile.Handle
	err = t.file.Guard(func() error {
		i, err := t.file.Index.Search(key)
		if h = t.file.Footer.Metaindex; err == nil && i < t.file.Index.N {
			h, err = t.file.Index.Handle(i)
		}
		return err
	})
	if err != nil {
		return 0
	}
	return int64(h.Offset)
}

// FirstKey returns the first key of the table. The slice is the caller's. If the table has
// no entries, the error is ErrNotFound. FirstKey reads a data block.
func (r *Reader) FirstKey() ([]byte, error) { return r.keyAt((*Iter).First) }

// LastKey returns the last key of the table. The slice is the caller's. If the table has no
// entries, the error is ErrNotFound. LastKey reads a data block.
func (r *Reader) LastKey() ([]byte, error) { return r.keyAt((*Iter).Last) }

// keyAt returns a copy of the key that a move of an Iter finds.
func (r *Reader) keyAt(move func(*Iter) bool) ([]byte, error) {
	it := r.NewIter(nil)
	if !move(it) {
		if err := it.Close(); err != nil {
			return nil, err
		}
		return nil, ErrNotFound
	}
	key := it.Key()
	if len(key) < maxClonedKey { // a longer one may be in a buffer of the Iter, which ends here
		key = append([]byte{}, key...)
	}
	return slices.Clip(key), it.Close()
}

// maxClonedKey is the length from which on a key is not copied. Close does not put the block of
// such a key into a pool, as it is longer than maxPooledBlock. The copy of a key that is as
// long as its block would take as much memory as the block.
const maxClonedKey = 1 << 20

// MemorySize returns how many bytes of memory the Reader keeps until it is closed and dropped:
// its index, its filters, and with a Cache where to find each data block. It grows when lookups
// have paid for a faster search of the index. Bytes that the source hands out do not count, and
// blocks in the Cache are counted by Cache.Size. The figure is exact but for some hundred bytes,
// and for the opened form of filters of a policy in the options.
func (r *Reader) MemorySize() int64 {
	size := int64(unsafe.Sizeof(*r))
	if t := r.opened.Load(); t != nil {
		size += t.memorySize()
	}
	return size
}

// memorySize returns how many bytes of memory the open table takes.
func (t *openTable) memorySize() int64 {
	size := int64(unsafe.Sizeof(*t)) + t.file.Memory()
	if t.file.HandsOut() {
		return size
	}
	if t.sieve.Blocks != nil {
		size += int64(t.sieve.BlocksEntry.Length)
	}
	if t.sieve.Never != nil {
		size += int64(t.sieve.NeverEntry.Length)
	}
	return size + t.sieve.TableSize
}

// ReadLayout reads the footer and the index of a table, the first size bytes of r. It works
// for tables in any order: of the options it uses only Name, Codecs, MaxBlockSize, SkipChecksums,
// FilterPolicies and TableFilterPolicies. o may be nil. The Layout keeps r, which must be safe
// for concurrent use.
//
// Damage in footer or index is a *CorruptionError. If ReadLayout can decode the handles of the
// footer, it returns a Layout together with the error. That Layout has no Data.
func ReadLayout(r io.ReaderAt, size int64, o *ReaderOptions) (*layout.Layout, error) {
	opts := new(ReaderOptions)
	if err := opts.set(o); err != nil {
		return nil, err
	}
	opts.Comparer, opts.TailSize = AnyOrder, 0
	f := metaReader{File: new(tablefile.File), o: opts}
	var fileOptions tablefile.Options
	opts.setFile(&fileOptions)
	err := f.Init(r, size, &fileOptions, new(atomic.Bool)) // it stays open
	if f.Footer.Index.Length == 0 {
		return nil, err // of the footer
	}
	f.DropIndex()
	return layout.New(f.File, f.openFilters, err)
}

// Layout returns the layout of the table. It reads the index again only if the source hands out its
// bytes, which can change. Damage in the index is a *CorruptionError, with a Layout that has no Data.
func (r *Reader) Layout() (*layout.Layout, error) {
	if r.closed.Load() {
		return nil, ErrClosed
	}
	t, err := r.table()
	if err != nil {
		return nil, err
	}
	f := metaReader{File: t.file.Clone(), o: t.o}
	if f.HandsOut() {
		f.DropIndex()
	}
	return layout.New(f.File, f.openFilters, nil)
}
