package table

import (
	"context"

	"github.com/sievetable/sievetable/internal/decoded"
)

// stageSize is how many keys of a batch are looked up together. Each step is done for all of
// them before the next step. In a step no key depends on another one, so the processor fetches
// the memory of several at the same time. Where a step does much for each key, a step before it
// does nothing but read that memory.
const stageSize = 64

// A stagedKey is a key on its way through the steps.
type stagedKey struct {
	wantedKey
	part      *partBatch // the table that it is looked up in
	filterKey []byte
	cached    *decoded.Cached // its data block
	value     []byte          // found in that
}

// getCached answers keys by filters, index and Cache, and adds those that a read has to answer
// to the wanted keys of their parts. The stages have the keys of all parts, one behind the
// other. The error ends the batch.
func (b *batch) getCached(ctx context.Context, parts []*partBatch) error {
	var memory [stageSize]stagedKey
	stage := memory[:0]
	for _, part := range parts {
		if part.t != nil && part.t.slices != nil {
			if err := part.getEach(ctx); err != nil {
				return err
			}
			continue
		}
		for next := 0; next < part.len() && part.ended == nil; {
			n := min(part.len()-next, stageSize-len(stage))
			stage = part.addKeys(stage, next, n)
			if next += n; len(stage) < stageSize {
				continue
			}
			if err := b.getStage(ctx, stage); err != nil {
				return err
			}
			stage = memory[:0]
		}
	}
	return b.getStage(ctx, stage)
}

// getEach answers the keys one by one, from a source that hands out its bytes. A read then takes
// no time to wait for. The error ends the batch.
func (b *partBatch) getEach(ctx context.Context) error {
	o := lookupOptions{ctx, b.o.DontFillCache}
	damaged := map[int64]bool{} // offsets of blocks that failed has an error of
	for i := range b.len() {
		k := wantedKey{key: b.number(i)}
		value, err := b.r.get(&o, b.keys[k.key], nil)
		damage, _ := err.(*CorruptionError)
		switch {
		case err == nil:
			if err := b.found(k.key, value); err != nil {
				return err
			}
		case err == ErrNotFound:
		case ctx.Err() != nil:
			return ctx.Err()
		case err == ErrFilterOnly:
			b.hide(err, k)
		case damage == nil:
			b.endFrom(i, err)
			return nil
		default:
			if !damaged[damage.Offset] {
				damaged[damage.Offset] = true
				b.failed = append(b.failed, err)
			}
			b.noAnswer(err, k)
		}
	}
	return nil
}

// addKeys adds n keys of the part to a stage, unless the Reader cannot look up any.
func (b *partBatch) addKeys(stage []stagedKey, first, n int) []stagedKey {
	if err := b.t.startLookups(n); err != nil {
		b.endFrom(first, err)
		return stage
	}
	for i := first; i < first+n; i++ {
		stage = append(stage, stagedKey{part: b, wantedKey: wantedKey{key: b.number(i)}})
	}
	return stage
}

// getStage takes the keys of a stage through all steps.
func (b *batch) getStage(ctx context.Context, stage []stagedKey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.fetchKeys(stage)
	stage = b.checkTableFilters(stage)
	stage = b.searchIndexes(stage)
	stage = b.checkBlockFilters(stage)
	stage = b.findCached(stage)
	b.fetchBlocks(stage)
	stage = b.searchBlocks(stage)
	for i := range stage {
		if err := b.found(stage[i].key, stage[i].value); err != nil {
			return err
		}
	}
	return nil
}

// fetchKeys reads the keys, which can be anywhere in memory.
func (b *batch) fetchKeys(stage []stagedKey) {
	for i := range stage {
		if key := b.keys[stage[i].key]; len(key) > 0 {
			b.fetched += uint32(key[0])
		}
	}
}

// checkTableFilters removes the keys that table filters rule out. Each step returns the keys
// that the next one is for.
func (b *batch) checkTableFilters(stage []stagedKey) []stagedKey {
	next := stage[:0]
	for i := range stage {
		k, t := &stage[i], stage[i].part.t
		k.filterKey = filterKeyOf(t.o.FilterKey, b.keys[k.key])
		mayContain := false
		if mayContain, k.filterChecked = t.mayContain(wholeTable, k.filterKey); mayContain {
			next = append(next, *k)
		}
	}
	return next
}

// searchIndexes finds the data block of each key.
func (b *batch) searchIndexes(stage []stagedKey) []stagedKey {
	next := stage[:0]
	for i := range stage {
		k, part := &stage[i], stage[i].part
		var err error
		if k.block, err = part.t.index.search(b.keys[k.key]); err == nil && k.block < part.t.index.len() {
			next = append(next, *k)
			continue
		}
		if err == nil {
			err = part.t.hidden
		}
		part.hide(err, k.wantedKey)
	}
	return next
}

// hide leaves a key without an answer since the index does not tell its data block, unless err is
// nil. GetMany returns one such error for each table.
func (b *partBatch) hide(err error, k wantedKey) {
	if err == nil {
		return
	}
	if b.hidden == nil {
		b.hidden = err
		b.failed = append(b.failed, err)
	}
	b.noAnswer(err, k)
}

// checkBlockFilters removes the keys that the filters of their data blocks rule out.
func (b *batch) checkBlockFilters(stage []stagedKey) []stagedKey {
	next := stage[:0]
	for i := range stage {
		k := &stage[i]
		if mayContain, checked := k.part.t.mayContain(k.block, k.filterKey); mayContain {
			k.filterChecked = k.filterChecked || checked
			next = append(next, *k)
		}
	}
	return next
}

// findCached finds the keys' data blocks in the Cache.
func (b *batch) findCached(stage []stagedKey) []stagedKey {
	next := stage[:0]
	for i := range stage {
		k := &stage[i]
		if k.cached = k.part.t.cached(k.block); k.cached != nil && !k.cached.IsStored() {
			next = append(next, *k)
		} else {
			k.part.wanted = append(k.part.wanted, k.wantedKey)
		}
	}
	return next
}

// fetchBlocks reads what a search of the keys' cached data blocks begins with.
func (b *batch) fetchBlocks(stage []stagedKey) {
	for i := range stage {
		b.fetched += stage[i].cached.Fetch()
	}
}

// searchBlocks finds the keys' values in their cached data blocks.
func (b *batch) searchBlocks(stage []stagedKey) []stagedKey {
	next := stage[:0]
	for i := range stage {
		k, t := &stage[i], stage[i].part.t
		d := dataBlock{t: t, decoded: true, entries: k.cached.Block(t.order)}
		var err error
		if k.value, err = d.get(b.keys[k.key], k.filterChecked); err == nil {
			next = append(next, *k)
		}
	}
	return next
}
