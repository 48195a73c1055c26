package table

import (
	"context"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// openPages opens a table filter that lookups read by the page.
func (t *openTable) openPages(filters *layout.Filters, b *metaBlock) error {
	p := byPage(b.policy)
	tail := make([]byte, p.PagedTail())
	if err := t.file.ReadEnd(b.Kind, b.Handle, tail); err != nil {
		return err
	}
	pages, n, size, err := openPaged(p, tail, b.Length)
	if err != nil {
		return t.file.Damaged(b.Kind, b.Handle, err)
	}
	filters.Pages, t.file.Pages = pages, &tablefile.Pages{Handle: b.Handle, N: n, Size: size, Check: pages.CheckPage}
	return nil
}

// openPaged returns the filter of length bytes that ends with tail, the number of its pages, and their size.
func openPaged(p pagedPolicy, tail []byte, length uint64) (pages filter.PagedFilter, n uint64, size int, err error) {
	if pages, err = p.OpenPaged(tail, length); err != nil {
		return nil, 0, 0, err
	}
	if n, size = pages.Pages(); size <= 0 || n > length/uint64(size) {
		err = fmt.Errorf("%d pages of %d bytes in %d bytes", n, size, length)
	}
	return pages, n, size, err
}

// checkedPages returns the paged filter of contents that are in memory, if each page is sound. It checks them since
// the policy's TableFilter takes a corrupt page to contain all keys, where a lookup that reads the page fails.
func checkedPages(p pagedPolicy, contents []byte) (filter.PagedFilter, error) {
	pages, count, size, err := openPaged(p, contents[max(0, len(contents)-p.PagedTail()):], uint64(len(contents)))
	for n := uint64(0); n < count && err == nil; n++ {
		err = pages.CheckPage(contents[n*uint64(size):][:size], n)
	}
	if err != nil {
		return nil, err
	}
	return pages, nil
}

// checkTable consults the table filter for a filter key. scope is wholeTable or wholeTableByStart. If the filter rules
// the key out, it returns ErrNotFound, otherwise whether the filter was consulted. If a page cannot be read, the key
// may be in its data block. If there are no data blocks, or ctx is done, it returns an error.
func (s *sieve) checkTable(scope int, filterKey []byte, o *tablefile.ReadOptions) (checked bool, err error) {
	mayContain := true
	switch {
	case s.Pages == nil:
		mayContain, checked = s.mayContain(scope, filterKey)
	case filterKey != nil && s.trust.Load() != distrusted:
		contains, err := s.pageContains(filterKey, o)
		if err != nil {
			return false, s.pageError(o.Ctx, 1, err)
		}
		mayContain, checked = s.record(contains && (scope == wholeTableByStart || !s.Never.Contains(filterKey)), true)
	}
	if !mayContain {
		return true, ErrNotFound
	}
	return checked, nil
}

// pageError counts n lookups whose page cannot be read. It returns their error, or nil if they can go on in data
// blocks.
func (s *sieve) pageError(ctx context.Context, n int, err error) error {
	if m := s.o.Metrics; m != nil {
		m.FilterPageErrors.Add(uint64(n))
	}
	if s.file.Index.N == 0 || errors.Is(err, ErrClosed) || ctx != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

// tableContains reports whether the table filter contains a filter key or a prefix, even if that is an exception. A
// corrupt page contains all.
func (s *sieve) tableContains(filterKey []byte) (contains bool, err error) {
	if s.Table != nil {
		return s.Table.Contains(filterKey), nil
	}
	if contains, err = s.pageContains(filterKey, &tablefile.ReadOptions{NoFill: true}); errors.Is(err, ErrCorrupt) {
		return true, nil
	}
	return contains, err
}

// pageContains reports whether a paged table filter contains a filter key or a prefix.
func (s *sieve) pageContains(filterKey []byte, o *tablefile.ReadOptions) (bool, error) {
	m := tablefile.TakeScratch()
	defer m.Put()
	hash := s.Pages.Hash(filterKey)
	page, err := s.file.Page(s.Pages.Page(hash), o, m)
	return err == nil && s.Pages.InPage(page, hash), err
}

// addPageRuns checks the part's keys in filter pages that are in the Cache, and adds reads of the other pages. The
// keys that the pages do not rule out are collected in passed.
func (p *tableBatch) addPageRuns() {
	t := p.t
	if t.startLookups(len(p.Keys), exact) != nil {
		return // lookUp reports it
	}
	p.passed = []int{}
	var wanted []wantedKey
	for _, number := range p.Keys {
		k := wantedKey{number: number, part: p}
		filterKey := filterKeyOf(t.o.FilterKey, p.keys[k.number])
		if filterKey == nil {
			p.passUnchecked(k)
			continue
		}
		k.block = int(t.sieve.Pages.Page(t.sieve.Pages.Hash(filterKey)))
		if page := t.file.CachedPage(uint64(k.block)); page != nil {
			p.checkPage(page, k)
		} else {
			wanted = append(wanted, k)
		}
	}
	p.addRuns(wanted, tablefile.TableFilterBlock)
}

// checkPageRun checks keys in their filter page, which ahead has read.
func (p *tableBatch) checkPageRun(keys []wantedKey, ahead tablefile.Ahead) {
	page, err := p.t.file.AheadPage(uint64(keys[0].block), ahead, p.noFill)
	if err != nil {
		p.noPage(err, keys)
		return
	}
	for _, k := range keys {
		p.checkPage(page, k)
	}
}

// checkPage checks a key in its filter page.
func (p *tableBatch) checkPage(page []byte, k wantedKey) {
	s := &p.t.sieve
	filterKey := filterKeyOf(p.t.o.FilterKey, p.keys[k.number])
	answer, checked := s.record(s.Pages.InPage(page, s.Pages.Hash(filterKey)) && !s.Never.Contains(filterKey), true)
	switch {
	case !checked:
		p.passUnchecked(k)
	case answer:
		p.passed = append(p.passed, k.number)
	}
}

// passUnchecked leaves keys to their data blocks without consulting the filter, so an absent key is not counted as a
// false positive.
func (p *tableBatch) passUnchecked(keys ...wantedKey) {
	if p.unchecked == nil {
		p.unchecked = map[int]bool{}
	}
	for _, k := range keys {
		p.passed = append(p.passed, k.number)
		p.unchecked[k.number] = true
	}
}

// noPage leaves the keys of an unreadable page to their data blocks. If there are none, it fails the lookups.
func (p *tableBatch) noPage(err error, keys []wantedKey) {
	if err := p.t.sieve.pageError(context.Background(), len(keys), err); err != nil {
		if !errors.Is(err, ErrCorrupt) {
			p.ended = err
		}
		p.fail(err, keys...)
		return
	}
	p.passUnchecked(keys...)
}
