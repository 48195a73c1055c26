package table

import (
	"context"
	"errors"
	"slices"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// askPages consults the table filters that are read by the page for all keys of their parts, and leaves those that they
// do not rule out. It reads a page once, and neighbors together. The error ends the batch.
func (b *batch) askPages(ctx context.Context) error {
	for i := range b.parts {
		b.parts[i].addPageRuns()
	}
	if err := b.doRuns(ctx); err != nil {
		return err
	}
	for i := range b.parts {
		if p := &b.parts[i]; p.passed != nil {
			slices.Sort(p.passed)
			p.Keys = p.passed
		}
	}
	return nil
}

// addPageRuns adds the reads of the pages that the part's keys can be in, unless they are in the Cache, or in memory of
// the source: lookups of single keys then read nothing.
func (p *tableBatch) addPageRuns() {
	if p.len() == 0 {
		return
	}
	t, err := p.Reader.table()
	if err != nil || t.sieve.Pages == nil || t.refused != nil || t.file.HandsOut() || t.file.Closed.Load() {
		return // lookUp reports an error
	}
	p.t, p.passed = t, []int{}
	var wanted []wantedKey
	for i := range p.len() {
		k := p.key(i)
		filterKey := filterKeyOf(t.o.FilterKey, p.keys[k.number])
		if filterKey == nil {
			p.passed = append(p.passed, k.number)
			continue
		}
		k.block = int(t.sieve.Pages.Page(t.sieve.Pages.Hash(filterKey)))
		if page := t.file.CachedPage(uint64(k.block)); page != nil {
			p.askPage(page, k)
		} else {
			wanted = append(wanted, k)
		}
	}
	p.addRuns(wanted, tablefile.TableFilterBlock, t.pageSpan)
}

// pageSpan returns where a page is.
func (t *openTable) pageSpan(page int) (start, end uint64, err error) {
	start, end = t.file.Pages.Span(uint64(page), uint64(page))
	return start, end, nil
}

// checkPage consults a page that was read for its keys.
func (p *tableBatch) checkPage(keys []wantedKey, ahead tablefile.Ahead) {
	page, err := p.t.file.AheadPage(uint64(keys[0].block), ahead, p.o.DontFillCache, p.t.sieve.Pages.CheckPage)
	if err != nil {
		p.noPage(err, keys)
		return
	}
	for _, k := range keys {
		p.askPage(page, k)
	}
}

// askPage consults the page of a key.
func (p *tableBatch) askPage(page []byte, k wantedKey) {
	s := &p.t.sieve
	filterKey := filterKeyOf(p.t.o.FilterKey, p.keys[k.number])
	if s.trust.Load() != distrusted {
		answer := s.inPage(page, s.Pages.Hash(filterKey), wholeTable, filterKey)
		if answer, _ = s.record(answer, true); !answer {
			if m := p.t.o.Metrics; m != nil {
				m.Lookups.Add(1)
			}
			return
		}
	}
	p.passed = append(p.passed, k.number)
}

// noPage leaves the keys of a page that cannot be read to their data blocks, or without an answer if there are none.
func (p *tableBatch) noPage(err error, keys []wantedKey) {
	if err := p.t.sieve.pageError(context.Background(), err); err != nil {
		if !errors.Is(err, ErrCorrupt) {
			p.ended = err
		}
		p.fail(err, keys...)
		return
	}
	for _, k := range keys {
		p.passed = append(p.passed, k.number)
	}
}
