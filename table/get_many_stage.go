package table

import (
	"context"
	"errors"
	"slices"

	"github.com/sievetable/sievetable/internal/tablefile"
)

// stageSize is the number of keys of a batch that are looked up together. Each step is done for all of them before
// the next step. In a step, no key depends on another one, so the processor fetches the memory of several at the
// same time. Before a step that does much for each key, another step does nothing but read that memory.
const stageSize = 64

// open opens the part's table, unless it has no keys: that can take reads. It adds the reads of filter pages. An error
// ends the batch.
func (p *tableBatch) open(ctx context.Context) error {
	if len(p.Keys) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t, err := p.Reader.table()
	if err != nil {
		p.endFrom(0, err)
		return nil
	}
	if p.t = t; t.sieve.Pages != nil && !t.file.HandsOut() { // else lookups of single keys read nothing
		p.addPageRuns()
	}
	return nil
}

// lookUp looks up the part's keys in filters and index. It adds those that may be in a data block to the stage,
// which all parts share, passes a full stage to answerStage, and returns the rest. An error ends the batch.
func (p *tableBatch) lookUp(ctx context.Context, stage []wantedKey) (rest []wantedKey, err error) {
	if p.t == nil {
		return stage, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if p.t.file.HandsOut() {
		return stage, p.getEach(ctx)
	}
	if p.passed != nil {
		slices.Sort(p.passed)
		p.Keys = p.passed
	}
	for first := 0; first < len(p.Keys); first += stageSize {
		n := min(stageSize, len(p.Keys)-first)
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
		stage = p.locate(p.Keys[first:first+n], stage)
	}
	return stage, nil
}

// getEach looks up the keys one by one, in a source that hands out its bytes: there are no reads to wait for. An
// error ends the batch.
func (p *tableBatch) getEach(ctx context.Context) error {
	lookups := p.Reader.With(ctx).DontFillCache(p.noFill)
	for i, number := range p.Keys {
		value, err := lookups.Get(p.keys[number])
		_, damaged := err.(*CorruptionError)
		switch {
		case err == nil:
			if err := p.found(number, value); err != nil {
				return err
			}
		case err == ErrNotFound:
		case ctx.Err() != nil:
			return ctx.Err()
		case damaged, err == ErrFilterOnly:
			p.fail(err, wantedKey{number: number})
		default:
			p.endFrom(i, err)
			return nil
		}
	}
	return nil
}

// locate adds keys to the stage, unless filters or the index rule them out.
func (p *tableBatch) locate(numbers []int, stage []wantedKey) []wantedKey {
	filterKeys, sieve := p.filterKeys[:len(numbers)], &p.t.sieve
	for i, number := range numbers {
		key := p.keys[number]
		if len(key) > 0 { // load it: it can be anywhere in memory
			p.fetched += uint32(key[0])
		}
		filterKeys[i] = filterKeyOf(p.t.o.FilterKey, key)
	}
	many := sieve.mayContainMany(filterKeys, p.mayContain[:len(numbers)])
	for i, filterKey := range filterKeys {
		k := wantedKey{number: numbers[i], part: p}
		answer, checked := true, p.passed != nil && !p.unchecked[k.number]
		switch {
		case !many && sieve.Table != nil:
			answer, checked = sieve.mayContain(wholeTable, filterKey)
		case many && filterKey != nil: // a nil filter key is in no filter
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

// locate returns the only data block that can contain key, and whether its filter was consulted. If filter or index
// rule key out, it returns ErrNotFound.
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

// answerStage looks up the keys of the stage whose data blocks are in the Cache, and adds the others to wanted. An
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
