package table

import (
	"io"
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// ApproximateOffset returns the offset in the file of the data block that can contain key, or of the metaindex after
// the last key. It reads nothing. It is 0 if the index cannot be read, or with AnyOrder.
func (r *Reader) ApproximateOffset(key []byte) int64 {
	t, err := r.table()
	if err != nil || t.refused != nil {
		return 0
	}
	var h tablefile.Handle
	err = t.file.Mapped.Guard(func() error {
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

// MemorySize returns the memory in bytes that index and filters take, without the source's own bytes and the Cache.
// It grows once many lookups have built a search tree.
func (r *Reader) MemorySize() int64 {
	size := int64(unsafe.Sizeof(*r) + unsafe.Sizeof(*r.source))
	t := r.opened.Load()
	if t == nil {
		return size
	}
	if size += int64(unsafe.Sizeof(*t)) + t.file.Memory(); t.file.HandsOut() {
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

// ReadLayout reads footer and index of the table in the first size bytes of r, whatever the order of its keys. If o
// is nil, the defaults are used. The Layout keeps r, which must be safe for concurrent use. If footer or index are
// corrupt, it returns a [*CorruptionError] and, if possible, a Layout without Data.
func ReadLayout(r io.ReaderAt, size int64, o *ReaderOptions) (*layout.Layout, error) {
	opts := new(ReaderOptions)
	if err := opts.set(o); err != nil {
		return nil, err
	}
	opts.Comparer, opts.TailSize = AnyOrder, 0
	t := &openTable{o: opts}
	fileOptions := opts.file()
	err := t.file.Init(r, size, &fileOptions, new(atomic.Bool)) // it stays open
	if t.file.Footer.Index.Length == 0 {
		return nil, err // of the footer
	}
	t.file.DropIndex()
	l := layout.New(&t.file, t.openFilters)
	if err == nil {
		err = l.ReadData()
	}
	return l, err
}

// Layout returns the layout of the table. If the index is corrupt, it returns a [*CorruptionError] and, if possible, a
// Layout without Data.
func (r *Reader) Layout() (*layout.Layout, error) {
	l, err := r.Tail()
	if err == nil {
		err = l.ReadData()
	}
	return l, err
}

// Tail is Layout without Data, which takes time and memory for each data block.
func (r *Reader) Tail() (*layout.Layout, error) {
	if r.closed.Load() {
		return nil, ErrClosed
	}
	t, err := r.table()
	if err != nil {
		return nil, err
	}
	clone := &openTable{file: t.file.Clone(), o: t.o}
	return layout.New(&clone.file, clone.openFilters), nil
}
