package table

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/wire"
)

// A Reader looks keys up in a table. It is safe for concurrent use, and its
// lookups take no lock: apart from being closed it never changes.
type Reader struct {
	o            ReaderOptions
	src          io.ReaderAt
	name         string   // what Open opened; else ""
	file         *os.File // src, if Open opened it
	footer       footer
	footerOffset uint64 // where the footer starts: blocks lie below it
	order        block.Order

	index     *index
	slots     []atomic.Pointer[block.Packed] // of the data blocks; nil if there is no cache
	tenant    *tenant                        // of the cache
	filter    *filter.BlockReader            // nil if there is none, or none in use
	places    []filter.Span                  // of the data blocks in the filter
	filterErr error

	tableFilter filter.TableFilter // nil if there is none, or none in use

	filterPart, tableFilterPart Part // what the filters are listed as, and where

	closed atomic.Bool
}

// NewReader returns a Reader of the table that is the first size bytes of r,
// which must be safe for concurrent use and not change. It reads footer, index,
// metaindex and filter, and keeps index and filter in memory. nil options are
// the defaults; impossible ones are an error. Close does not close r.
//
// A table that is damaged in footer or index is a *CorruptionError. A filter
// that cannot be used is not: see FilterErr. An error of r, while any of these
// parts is read, is in the chain of the one returned.
func NewReader(r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	return openReader("", r, size, o)
}

// openReader is NewReader of the file name.
func openReader(name string, r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	t, err := newReader(name, r, size, o)
	if err != nil {
		return nil, err
	}
	if err := t.openMeta(); err != nil {
		return nil, err
	}
	t.src = r
	return t, nil
}

// newReader returns a Reader that has its index, but no filter. It still has the
// end of the file in memory.
func newReader(name string, r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	t, err := sizedReader(name, r, size, o)
	if err == nil {
		err = t.openIndex()
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// sizedReader returns a Reader that has nothing of the file yet but its end.
func sizedReader(name string, r io.ReaderAt, size int64, o *ReaderOptions) (*Reader, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, errors.New("table: no reader")
	}
	if size < 0 {
		return nil, fmt.Errorf("table: size is %d, want 0 or more", size)
	}
	t := &Reader{name: name, o: opts, order: BlockOrder(opts.Comparer)}
	if size < format.FooterLen {
		return nil, t.corrupt(FooterBlock, Handle{0, uint64(size)}, "file of %d bytes, want at least %d", size, format.FooterLen)
	}
	t.src, t.footerOffset = readTail(r, size, int64(opts.TailSize)), uint64(size)-format.FooterLen
	return t, nil
}

// Open returns a Reader of the file name, which Close closes. See NewReader. It
// refuses what is not a regular file: a pipe, say, could make it wait for ever.
func Open(name string, o *ReaderOptions) (*Reader, error) {
	f, info, err := regular.Open(name)
	if err != nil {
		return nil, wrap(err)
	}
	r, err := openReader(f.Name(), f, info.Size(), o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.file = f
	return r, nil
}

// openIndex reads the index, by way of the footer.
func (r *Reader) openIndex() error {
	var buf [format.FooterLen]byte
	if err := r.readAt(FooterBlock, buf[:], r.footerOffset); err != nil {
		return err
	}
	var err error
	if r.footer, err = decodeFooter(buf[:], r.footerOffset); err != nil {
		return r.damaged(FooterBlock, r.footerHandle(), err)
	}
	if r.index, err = r.readIndex(r.footer.index); err != nil {
		return err
	}
	if r.o.Cache != nil && r.o.Cache.budget > 0 {
		r.slots = make([]atomic.Pointer[block.Packed], r.index.len())
		r.tenant = &tenant{metrics: r.o.Metrics}
	}
	return r.checkOverlap()
}

// footerHandle is where the footer is.
func (r *Reader) footerHandle() Handle { return Handle{r.footerOffset, format.FooterLen} }

// openMeta reads the metaindex, if it is wanted, and the filter.
func (r *Reader) openMeta() error {
	if r.o.IgnoreFilter && r.index.len() > 0 {
		return nil
	}
	metaindex, err := r.readMetaindex()
	if err == nil {
		if err := r.checkEmpty(metaindex); err != nil {
			return err
		}
		err = r.readFilters(metaindex)
	}
	if !errors.Is(err, ErrCorrupt) && !errors.Is(err, errUnknownFilter) {
		return err
	}
	if !r.o.IgnoreFilter {
		r.filterErr = err
	}
	return nil
}

// checkOverlap checks that metaindex, index and data blocks share no bytes.
func (r *Reader) checkOverlap() error {
	f := r.footer
	if f.index.overlaps(f.metaindex) {
		return r.corrupt(FooterBlock, r.footerHandle(), "index at %d overlaps metaindex at %d", f.index.Offset, f.metaindex.Offset)
	}
	for _, h := range []Handle{f.metaindex, f.index} {
		if d, ok := r.index.overlapping(h); ok {
			return r.corrupt(IndexBlock, f.index, "data block at %d overlaps the block at %d", d.Offset, h.Offset)
		}
	}
	return nil
}

// checkEmpty checks that an index without entries is an index. That of a table
// without filter and its metaindex look alike, so that a footer with the two
// handles swapped would read as an empty table. But the separators in such a
// metaindex are not names of meta blocks.
func (r *Reader) checkEmpty(metaindex *block.Iter) error {
	if r.index.len() > 0 {
		return nil
	}
	for metaindex.Next() {
		if name := metaindex.Key(); !format.MetaName.Match(name) {
			return r.corrupt(IndexBlock, r.footer.index, "no data blocks, but the metaindex lists one as %s", wire.Quote(name))
		}
	}
	return nil
}

// FilterErr returns why a filter of the table, by data blocks or whole, is not in
// use: because it, or the metaindex that lists it, is damaged, or no policy is
// known by its name. It is nil if all are in use, the table has none, or
// IgnoreFilter was set. Without the filter, lookups give the same answers and are
// only slower. That it is nil does not say that the filter is right: Verify checks
// that.
func (r *Reader) FilterErr() error { return r.filterErr }

// Close ends the Reader: from now on its methods return ErrClosed, and so do its
// Iters when they seek or would have to read. Values that Get returned stay valid. A second Close
// is ErrClosed.
func (r *Reader) Close() error {
	if r.closed.Swap(true) {
		return ErrClosed
	}
	if r.slots != nil {
		r.o.Cache.removeAll(r.tenant)
	}
	if r.file == nil {
		return nil
	}
	return wrap(r.file.Close())
}
