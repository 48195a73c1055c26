package table

import "github.com/sievetable/sievetable/internal/decoded"

// stageSize is how many keys of a batch are looked up together. Each step is done for all of
// them before the next step. In a step no key depends on another one, so the processor fetches
// the memory of several at the same time. Where a step does much for each key, a step before it
// does nothing but read that memory.
const stageSize = 64

// A stagedKey is a key on its way through the steps.
type stagedKey struct {
	wantedKey
	filterKey []byte
	cached    *decoded.Cached // its data block
	value     []byte          // found in that
}

// getCached answers keys from first up to end by filters, index and Cache, and adds those that
// a read has to answer to wanted. The error is that of found.
func (b *partBatch) getCached(first, end int) error {
	if err := b.r.startLookups(end - first); err != nil {
		b.end(err)
		return nil
	}
	b.fetchKeys(first, end)
	var memory [stageSize]stagedKey
	stage := b.checkTableFilter(memory[:0], first, end)
	stage = b.searchIndex(stage)
	stage = b.checkBlockFilters(stage)
	stage = b.findCached(stage)
	b.fetchBlocks(stage)
	stage = b.searchBlocks(stage)
	for _, k := range stage {
		if err := b.found(k.key, k.value); err != nil {
			return err
		}
	}
	return nil
}

// fetchKeys reads the keys, which can be anywhere in memory.
func (b *partBatch) fetchKeys(first, end int) {
	for i := first; i < end; i++ {
		if key := b.keys[b.number(i)]; len(key) > 0 {
			b.fetched += uint32(key[0])
		}
	}
}

// checkTableFilter appends the keys that the table filter does not rule out to stage. Each step
// returns the keys that the next one is for.
func (b *partBatch) checkTableFilter(stage []stagedKey, first, end int) []stagedKey {
	for i := first; i < end; i++ {
		number := b.number(i)
		filterKey := filterKeyOf(b.r.o.FilterKey, b.keys[number])
		if mayContain, checked := b.r.tableMayContain(filterKey); mayContain {
			stage = append(stage, stagedKey{wantedKey: wantedKey{key: number, filterChecked: checked}, filterKey: filterKey})
		}
	}
	return stage
}

// searchIndex finds the data block of each key.
func (b *partBatch) searchIndex(stage []stagedKey) []stagedKey {
	next := stage[:0]
	for _, k := range stage {
		if k.block = b.r.index.search(b.keys[k.key]); k.block < b.r.index.len() {
			next = append(next, k)
		} else if b.r.hidden != nil && !b.ended {
			b.end(b.r.hidden) // there are no data blocks, so that nothing is lost by that
		}
	}
	return next
}

// checkBlockFilters removes the keys that the filters of their data blocks rule out.
func (b *partBatch) checkBlockFilters(stage []stagedKey) []stagedKey {
	next := stage[:0]
	for _, k := range stage {
		if mayContain, checked := b.r.blockMayContain(k.block, k.filterKey); mayContain {
			k.filterChecked = k.filterChecked || checked
			next = append(next, k)
		}
	}
	return next
}

// findCached finds the keys' data blocks in the Cache.
func (b *partBatch) findCached(stage []stagedKey) []stagedKey {
	next := stage[:0]
	for _, k := range stage {
		if k.cached = b.r.cached(k.block); k.cached != nil {
			next = append(next, k)
		} else {
			b.wanted = append(b.wanted, k.wantedKey)
		}
	}
	return next
}

// fetchBlocks reads what a search of the keys' cached data blocks begins with.
func (b *partBatch) fetchBlocks(stage []stagedKey) {
	for i := range stage {
		b.fetched += stage[i].cached.Fetch()
	}
}

// searchBlocks finds the keys' values in their cached data blocks.
func (b *partBatch) searchBlocks(stage []stagedKey) []stagedKey {
	next := stage[:0]
	for _, k := range stage {
		d := dataBlock{decoded: true, entries: k.cached.Block(b.r.order)}
		var err error
		if k.value, err = d.lookup(b.r, b.keys[k.key], k.filterChecked); err == nil {
			next = append(next, k)
		}
	}
	return next
}
