package table

import (
	"context"
	"errors"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// A pagedPolicy is a filter.TablePolicy with the optional methods of filters that are read by the page.
type pagedPolicy interface {
	OpenPaged(tail []byte, size uint64) (filter.PagedFilter, error)
	PagedTail() int
}

// byPage returns the policy if its filters are read by the page, and else nil.
func byPage(p namedPolicy) pagedPolicy {
	if paged, ok := p.(pagedPolicy); ok && paged.PagedTail() > 0 {
		return paged
	}
	return nil
}

// openPages opens a table filter whose pages lookups read.
func (f metaReader) openPages(filters *layout.Filters, b *metaBlock, p pagedPolicy) error {
	tail := make([]byte, p.PagedTail())
	if err := f.ReadEnd(b.kind, b.Handle, tail); err != nil {
		return err
	}
	pages, err := p.OpenPaged(tail, b.Length)
	if err != nil {
		return f.Damaged(b.kind, b.Handle, err)
	}
	n, size := pages.Pages()
	if size <= 0 || n > b.Length/uint64(size) {
		return f.Corrupt(b.kind, b.Handle, "%d pages of %d bytes in %d bytes", n, size, b.Length)
	}
	filters.Pages, f.Pages = pages, &tablefile.Pages{Handle: b.Handle, N: n, Size: size}
	return nil
}

// checkTable consults the table filter, which there is, for a filter key. It returns ErrNotFound if that rules the key
// out, and otherwise whether it was consulted.
func (s *sieve) checkTable(filterKey []byte, o *tablefile.ReadOptions) (checked bool, err error) {
	mayContain := true
	if s.Table != nil {
		mayContain, checked = s.mayContain(wholeTable, filterKey)
	} else if mayContain, checked, err = s.mayContainPaged(wholeTable, filterKey, o); err != nil {
		return false, err
	}
	if !mayContain {
		return true, ErrNotFound
	}
	return checked, nil
}

// mayContainPaged is mayContain for a table filter that is read by the page. If the page cannot be read, the key's data
// block may contain it. Without data blocks that is an error, as the end of ctx always is.
func (s *sieve) mayContainPaged(i int, filterKey []byte, o *tablefile.ReadOptions) (mayContain, checked bool, err error) {
	if s.Pages == nil || filterKey == nil || s.trust.Load() == distrusted {
		return true, false, nil
	}
	m := tablefile.TakeScratch()
	defer m.Put()
	hash := s.Pages.Hash(filterKey)
	page, err := s.file.Page(s.Pages.Page(hash), o, m, s.Pages.CheckPage)
	if err != nil {
		return true, false, s.pageError(o.Ctx, err)
	}
	mayContain = s.inPage(page, hash, i, filterKey)
	mayContain, checked = s.record(mayContain, true)
	return mayContain, checked, nil
}

// inPage reports whether the page of a filter key may contain it.
func (s *sieve) inPage(page []byte, hash uint64, i int, filterKey []byte) bool {
	return s.Pages.InPage(page, hash) && (s.Never == nil || i == wholeTableByStart || !s.Never.Contains(filterKey))
}

// pageError returns the error of a lookup whose page cannot be read, or nil if a data block answers it.
func (s *sieve) pageError(ctx context.Context, err error) error {
	if m := s.o.Metrics; m != nil {
		m.FilterPageErrors.Add(1)
	}
	if s.file.Index.N == 0 || errors.Is(err, ErrClosed) || ctx != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// tableContains reports whether the table filter contains a filter key or a prefix, also as an exception. A page that
// cannot be read contains all.
func (s *sieve) tableContains(filterKey []byte) bool {
	if s.Table != nil {
		return s.Table.Contains(filterKey)
	}
	contains, err := s.pageContains(filterKey)
	return contains || err != nil
}

// pageContains is tableContains for a filter that is read by the page.
func (s *sieve) pageContains(filterKey []byte) (bool, error) {
	m := tablefile.TakeScratch()
	defer m.Put()
	hash := s.Pages.Hash(filterKey)
	page, err := s.file.Page(s.Pages.Page(hash), &tablefile.ReadOptions{NoFill: true}, m, s.Pages.CheckPage)
	return err == nil && s.Pages.InPage(page, hash), err
}

// MayContain is [Reader.MayContain] with an error. It differs for a filter that is read by the page, where a read can
// fail: if there is an error, mayContain is false, and nothing is known of the key.
func (l Lookups) MayContain(key []byte) (mayContain bool, err error) {
	if m := l.r.o.Metrics; m != nil {
		m.Lookups.Add(1)
	}
	t, err := l.r.table()
	if err == nil {
		_, _, err = t.lookup(query{key: key, match: maybe}, &l.o)
	}
	if err == ErrNotFound {
		return false, nil
	}
	return err == nil, err
}

// MayContainHashed is [Reader.MayContainHashed] with the errors of [Lookups.MayContain].
func (l Lookups) MayContainHashed(k *HashedKey) (mayContain bool, err error) {
	if l.r.PagedFilter() {
		return l.MayContain(k.key)
	}
	return l.r.MayContainHashed(k), nil
}

// PagedFilter reports whether the table filter is read by the page: lookups can then read although they consult
// filters only.
func (r *Reader) PagedFilter() bool {
	t, err := r.table()
	return err == nil && t.sieve.Pages != nil
}
