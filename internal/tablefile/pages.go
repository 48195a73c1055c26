package tablefile

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// Pages locates the pages of a table filter that is read page by page.
type Pages struct {
	Handle        // of the filter
	N      uint64 // number of pages
	Size   int    // of a page, in bytes

	Check func(page []byte, n uint64) error // called after page n is read; an error means that the page is corrupt
}

// ReadEnd fills p with the end of the block at h, and checks that the block is uncompressed.
func (f *File) ReadEnd(kind Kind, h Handle, p []byte) error {
	if h.Length > uint64(f.o.MaxBlockSize) || h.Length < uint64(len(p)) {
		return f.Corrupt(kind, h, "%d bytes, not %d to %d", h.Length, len(p), f.o.MaxBlockSize)
	}
	end := make([]byte, len(p)+format.TrailerLen)
	if err := f.read(noContext, kind, end, h.End()-uint64(len(end))); err != nil {
		return err
	}
	if id := end[copy(p, end)]; id != 0 {
		return f.Corrupt(kind, h, "compression id is %d, not 0", id)
	}
	return nil
}

// place returns the location of page n.
func (p *Pages) place(n uint64) Handle { return Handle{p.Offset + n*uint64(p.Size), uint64(p.Size)} }

// CachedPage returns page n if it is in the cache, or nil.
func (f *File) CachedPage(n uint64) []byte {
	if f.cached == nil || n >= f.Pages.N { // a user's policy may return any n
		return nil
	}
	c := f.Cached(f.Index.N + int(n))
	if c == nil {
		return nil
	}
	page := c.Block(f.o.Order)
	return page.Value(0)
}

// Page returns page n, which is valid until s is used again. If the page is not cached, Page reads and checks it,
// and adds it to the cache.
func (f *File) Page(n uint64, o *ReadOptions, s *Scratch) ([]byte, error) {
	if page := f.CachedPage(n); page != nil {
		return page, nil
	}
	page, err := f.readPage(n, o, s)
	if err != nil {
		return nil, err
	}
	if err := f.Pages.Check(page, n); err != nil {
		return nil, f.Damaged(TableFilterBlock, f.Pages.place(n), err)
	}
	if i := f.Index.N + int(n); f.cached != nil && f.admits(i, o.NoFill) && f.cache.fits(len(page)) {
		f.cache.add(&cacheEntry{block: rowblock.CacheValue(page), file: f.cachedFile, counts: f.o.Counters, number: i})
	}
	return page, nil
}

// readPage reads page n. If the source or the bytes read ahead contain it, the page is not copied.
func (f *File) readPage(n uint64, o *ReadOptions, s *Scratch) (page []byte, err error) {
	h := f.Pages.place(n)
	if m := f.o.Counters; m != nil {
		m.PagesRead.Add(1)
	}
	switch end := h.Offset + h.Length; {
	case n >= f.Pages.N:
		return nil, fmt.Errorf("table: page %d is outside a filter of %d pages", n, f.Pages.N)
	case f.slices != nil:
		return f.slice(o.Ctx, TableFilterBlock, h.Offset, f.Pages.Size)
	case s.ahead.bytes != nil && s.ahead.has(h.Offset, end):
		return s.ahead.bytes[h.Offset-s.ahead.offset:][:f.Pages.Size], nil
	}
	if s.stored, err = sized(s.stored, f.Pages.Size); err != nil {
		return nil, err
	}
	return s.stored, f.read(o.Ctx, TableFilterBlock, s.stored, h.Offset)
}

// AheadPage is like Page, for a page that ahead contains.
func (f *File) AheadPage(n uint64, ahead Ahead, noFill bool) ([]byte, error) {
	return f.Page(n, &ReadOptions{NoFill: noFill}, &Scratch{ahead: ahead})
}
