package table

import (
	"io"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

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
