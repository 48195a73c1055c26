package set

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/table"
)

// open opens the table, and compares it with the manifest.
func (h *handle) open(ctx context.Context) error {
	h.epoch, h.limit = h.replaced.Load(), h.filterBits.Load()
	src, err := h.source(ctx)
	if err != nil {
		return err
	}
	share := h.s.o.Reader.Cache != nil
	r, err := h.newReader(src, share)
	if err == nil && share && !h.known {
		r.Close()
		r, err = h.newReader(src, false)
	}
	if err != nil {
		return err
	}
	h.tail = nil // the Reader has its own copy
	h.filterErr, h.reader, h.paged = h.filterErrOf(r), r, r.Filters().Pages != nil
	return nil
}

// source returns the Reader's source: a mapped file, or the handle after reading the tail.
func (h *handle) source(ctx context.Context) (src io.ReaderAt, err error) {
	size := h.Size
	if m, maps := h.s.src.(Mapper); maps && h.s.o.Reader.Mapped {
		err = h.call(ctx, func(ctx context.Context) (err error) {
			src, size, err = m.Map(ctx, h.Name)
			return err
		})
	}
	switch {
	case err != nil:
		return nil, h.errorf("mapping %d bytes: %w", h.Size, err)
	case src == nil: // Mapped is not set, or the table cannot be mapped
		return h, h.readTail(ctx, h.endSize(h.tailSize.Load(), false))
	case size != h.Size:
		return nil, h.mismatch("size", "%d bytes in the table, %d in the manifest", size, h.Size)
	}
	h.mapped = true
	return src, nil
}

// newReader opens a Reader and compares the table with the manifest. If share is set, the Reader shares blocks in
// the Cache with all Readers of the table. If the table turns out not to be known, the caller must close such a
// Reader before it reads a block.
func (h *handle) newReader(src io.ReaderAt, share bool) (r *table.Reader, err error) {
	o := h.s.o.Reader
	if h.limit != everyBit {
		o.TableFilterPolicies = h.s.policiesFor(h.limit)
	}
	o.Name, o.CacheKey = h.Name, fmt.Sprintf("member %d", h.number)
	if share { // with the TailSum: only Verify compares the SHA-256 with the table
		o.CacheKey = fmt.Sprintf("%s %s %d", h.SHA256, h.TailSum, h.Size)
	}
	if r, err = table.NewReader(src, h.Size, &o); err != nil {
		return nil, err
	}
	sound := false
	defer func() { // also if a policy panics
		if !sound {
			r.Close() // closes no file
		}
	}()
	err = h.check(r)
	sound = err == nil
	return r, err
}

// largeTail is a tail's size in bytes. Before memory for a larger tail is allocated, a small read checks the table's
// size.
const largeTail = 16 << 20

// holdsPages reports whether the pages of a paged filter are in memory. Readers hold them if the policy is InMemory
// of package paged, whose PagedTail is 0. Verify always does.
func (s *Set) holdsPages(verifies bool) bool {
	return slices.ContainsFunc(s.o.Reader.TableFilterPolicies, func(p filter.TablePolicy) bool {
		paged, ok := p.(interface{ PagedTail() int })
		return ok && (verifies || paged.PagedTail() == 0)
	})
}

// endSize returns the number of bytes at the end of the table that are read to open it: the tail and, if holdsPages,
// the pages of a filter before it. Verify also reads pages that no policy reads. The manifest does not say which
// filters have pages, so more may be read than needed if a filter has none and cannot be narrowed.
func (m *member) endSize(tail int64, verifies bool) int64 {
	isBefore := m.FilterSize >= tail // certainly; a smaller filter may be too
	if m.FilterBits == 0 && (m.s.holdsPages(verifies) || verifies && isBefore) {
		tail += min(m.FilterSize, m.Size-tail)
	}
	return tail
}

// readTail reads the last size bytes of the table: its filters, metaindex, index and footer. The file must end where
// the manifest says. A sparse file can be as large as the manifest says, so memory for a large tail is checked first.
func (h *handle) readTail(ctx context.Context, size int64) error {
	if size > largeTail {
		if err := h.readEnd(ctx, make([]byte, 2)); err != nil {
			return err
		}
	}
	if size > math.MaxInt-1 {
		return h.errorf("a tail of %d bytes does not fit in this system's memory", size)
	}
	if err := alloc.CheckLarge(uint64(size) + 1); err != nil {
		return h.errorf("a tail of %d bytes %w", size, err)
	}
	p := make([]byte, size+1)
	h.tail = p[:size]
	return h.readEnd(ctx, p)
}

// readEnd fills p, except for its last byte, with the end of the table. Reading the last byte must fail, since the
// table ends before it.
func (h *handle) readEnd(ctx context.Context, p []byte) error {
	want := len(p) - 1
	off := h.Size - int64(want)
	n, err := h.read(ctx, p, off)
	switch {
	case n == len(p):
		return h.mismatch("size", "more than %d bytes in the table", h.Size)
	case err != io.EOF: // a wrapped io.EOF can be a connection's
		return h.errorf("reading %d bytes at %d: %w", len(p), off, err)
	case n < want && n > 0:
		return h.mismatch("size", "%d bytes in the table, %d in the manifest", off+int64(n), h.Size)
	case n < want:
		return h.mismatch("size", "at most %d bytes in the table, %d in the manifest", off, h.Size)
	}
	return nil
}

// ReadAt is ReadAtContext for callers without a context, such as Reader.Verify.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	return h.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext reads the table. While the table is being opened, it reads only the table's end.
func (h *handle) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if h.tail != nil {
		return h.readFromTail(p, off)
	}
	n, err := h.readFull(ctx, p, off)
	if err == nil || ctx.Err() == nil {
		h.recordResult(err)
	}
	return n, err
}

// recordLookup records the error of a lookup in a mapped table that could not be read, since such reads bypass the
// handle. Other parts of the table may still be readable, so only opening it again clears the error. The file of
// another table with a corrupt block is closed, so that the next lookup finds a file that is put back. That requires
// that the table can be identified: otherwise lookups would fail in its intact blocks too.
func (h *handle) recordLookup(err error) {
	if err == nil || err == table.ErrNotFound {
		return
	}
	if !h.mapped {
		if h.known && errors.Is(err, table.ErrCorrupt) {
			closeFile(h.s.src, h.Name)
		}
		return
	}
	for _, other := range []error{table.ErrFilterOnly, table.ErrClosed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return
		}
	}
	if errors.As(err, new(*alloc.Error)) { // too little memory for a block
		return
	}
	h.recordResult(err)
}

// readFull reads len(p) bytes of the table. The end of the file is an error.
func (h *handle) readFull(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := h.read(ctx, p, off)
	if n == len(p) {
		return n, nil
	}
	return n, h.errorf("reading %d bytes at %d: %w", len(p), off, noEOF(err))
}

// readFromTail reads the end of the table from memory.
func (h *handle) readFromTail(p []byte, off int64) (int, error) {
	start := h.Size - int64(len(h.tail))
	if off < start {
		return 0, h.mismatch("tailSize",
			"opening reads bytes at %d, but a tail of %d bytes starts at %d", off, len(h.tail), start)
	}
	return bytes.NewReader(h.tail).ReadAt(p, off-start)
}
