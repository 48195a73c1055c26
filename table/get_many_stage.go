package table

import (
	"context"
	"errors"
	"slices"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// stageSize is how many keys of a batch are looked up together. Each step is done for all of
// them before the next step. In a step no key depends on another one, so the processor fetches
// the memory of several at the same time. Where a step does much for each key, a step before it
// does nothing but read that memory.
const stageSize = 64

// lookUp answers keys of the part by filters, index and Cache. It adds those that may be in a data block to the stage,
// which has keys of all parts, one behind the other, and returns the rest of the stage. A part without keys is not
// opened, since to open a table at its first use can take reads. The error ends the batch.
func (p *tableBatch) lookUp(ctx context.Context, stage []wantedKey) (rest []wantedKey, err error) {
	if p.len() == 0 {
		return stage, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.t, err = p.Reader.table(); err != nil {
		p.endFrom(0, err)
		return stage, nil
	}
	if p.t.file.HandsOut() {
		return stage, p.getEach(ctx)
	}
	for first := 0; first < p.len(); first += stageSize {
		n := min(stageSize, p.len()-first)
		count := n
		if p.passed != nil { // addPageRuns has counted them
			count = 0
		}
		if err := p.t.startLookups(count, exact); err != nil {
			p.endFrom(first, err)
			return stage, nil
		}
		if len(stage)+n > stageSize {
			if err := p.answerStage(ctx, stage); err != nil {
				return nil, err
			}
			stage = stage[:0]
		}
		stage = p.locate(first, n, stage)
	}
	return stage, nil
}

// getEach answers the keys one by one, from a source that hands out its bytes. A read then takes
// no time to wait for. The error ends the batch.
func (p *tableBatch) getEach(ctx context.Context) error {
	lookups := p.Reader.With(ctx).DontFillCache(p.noFill)
	for i := range p.len() {
		k := p.key(i)
		value, err := lookups.Get(p.keys[k.number])
		_, damaged := err.(*CorruptionError)
		switch {
		case err == nil:
			if err := p.found(k.number, value); err != nil {
				return err
			}
		case err == ErrNotFound:
		case ctx.Err() != nil:
			return ctx.Err()
		case damaged, err == ErrFilterOnly:
			p.fail(err, k)
		default:
			p.endFrom(i, err)
			return nil
		}
	}
	return nil
}

// locate adds n keys from number first on to the stage, unless filters or the index rule them out.
func (p *tableBatch) locate(first, n int, stage []wantedKey) []wantedKey {
	filterKeys, sieve := p.filterKeys[:n], &p.t.sieve
	for i := range filterKeys {
		key := p.keys[p.key(first+i).number]
		if len(key) > 0 { // it can be anywhere in memory
			p.fetched += uint32(key[0])
		}
		filterKeys[i] = filterKeyOf(p.t.o.FilterKey, key)
	}
	many := sieve.mayContainMany(filterKeys, p.mayContain[:n])
	for i, filterKey := range filterKeys {
		k := p.key(first + i)
		answer, checked := true, p.passed != nil && !p.unchecked[k.number]
		switch {
		case !many && sieve.Table != nil:
			answer, checked = sieve.mayContain(wholeTable, filterKey)
		case many && filterKey != nil: // no filter has a filter key that is nil
			answer, checked = sieve.record(p.mayContain[i], true)
		}
		if !answer {
			continue
		}
		block, blockChecked, err := p.t.locate(p.keys[k.number], filterKey)
		switch {
		case err == nil:
			k.block, k.filterChecked = block, checked || blockChecked
			stage = append(stage, k)
		case err != ErrNotFound:
			p.fail(err, k)
		}
	}
	return stage
}

// locate returns the only data block that can have key, and whether its filter was consulted. The error is ErrNotFound
// if filter or index rule key out.
func (t *openTable) locate(key, filterKey []byte) (i int, checked bool, err error) {
	if i, err = t.file.Index.Search(key); err != nil {
		return 0, false, err
	}
	if i == t.file.Index.N {
		return 0, false, t.notInIndex()
	}
	mayContain, checked := t.sieve.mayContain(i, filterKey)
	if !mayContain {
		return 0, true, ErrNotFound
	}
	return i, checked, nil
}

// answerStage answers the keys of the stage whose data blocks are in the Cache. A read has to answer the others. The
// error ends the batch.
func (b *batch) answerStage(ctx context.Context, stage []wantedKey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cached := stage[:0]
	for i := range stage {
		k := &stage[i]
		if k.cached = k.part.t.file.Cached(k.block); k.cached != nil {
			cached = append(cached, *k)
		} else {
			k.part.wanted = append(k.part.wanted, *k)
		}
	}
	for i := range cached {
		b.fetched += cached[i].cached.Fetch()
	}
	for i := range cached {
		k := &cached[i]
		entries := k.cached.Block(*k.part.t.file.Order())
		value, found := entries.Get(b.keys[k.number])
		if !found && k.filterChecked {
			k.part.t.reportMiss(b.keys[k.number], tablefile.ReadOptions{Ctx: ctx, NoFill: k.part.noFill})
		}
		if !found {
			continue
		}
		if err := b.found(k.number, value); err != nil {
			return err
		}
	}
	return nil
}

// checkPages consults the table filters that are read by the page for all keys of their parts, and leaves those that they
// do not rule out. It reads a page once, and neighbors together. The error ends the batch.
func (b *batch) checkPages(ctx context.Context) error {
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
	if err != nil || t.sieve.Pages == nil || t.file.HandsOut() || t.startLookups(p.len(), exact) != nil {
		return // lookUp reports an error
	}
	p.t, p.passed = t, []int{}
	var wanted []wantedKey
	for i := range p.len() {
		k := p.key(i)
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

// checkPageRun consults a page that was read for its keys.
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

// checkPage consults the page of a key.
func (p *tableBatch) checkPage(page []byte, k wantedKey) {
	s := &p.t.sieve
	filterKey := filterKeyOf(p.t.o.FilterKey, p.keys[k.number])
	if s.trust.Load() == distrusted {
		p.passUnchecked(k)
		return
	}
	answer, checked := s.record(s.inPage(page, s.Pages.Hash(filterKey), wholeTable, filterKey), true)
	switch {
	case !checked:
		p.passUnchecked(k)
	case answer:
		p.passed = append(p.passed, k.number)
	}
}

// passUnchecked leaves keys to their data blocks. The filter was not consulted: a key that is absent is no false
// positive.
func (p *tableBatch) passUnchecked(keys ...wantedKey) {
	if p.unchecked == nil {
		p.unchecked = map[int]bool{}
	}
	for _, k := range keys {
		p.passed = append(p.passed, k.number)
		p.unchecked[k.number] = true
	}
}

// noPage leaves the keys of a page that cannot be read to their data blocks, or without an answer if there are none.
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
