package table

import (
	"math"

	"github.com/sievetable/sievetable/internal/merged"
)

// This file has the part of an Iter that moves from block to block, within its bounds.

// forward ends a move towards greater keys. If found is false, the move has run off the
// end of the block, and forward moves to the first entry of the blocks behind it.
func (it *Iter) forward(found bool) bool {
	for !found {
		if !it.load(it.loaded + 1) {
			return false
		}
		found = it.c.first()
	}
	if it.c.position() >= it.upperPos {
		return it.endOutside(it.t.index.len())
	}
	return it.endAtEntry()
}

// backward ends a move towards smaller keys. If found is false, the move has run off the
// start of the block, and backward moves to the last entry of the blocks before it.
func (it *Iter) backward(found bool) bool {
	for !found {
		if !it.load(it.loaded - 1) {
			return false
		}
		found = it.c.last()
	}
	if it.c.position() < it.lowerPos {
		return it.endOutside(-1)
	}
	return it.endAtEntry()
}

// endAtEntry ends a move at the cursor's entry.
func (it *Iter) endAtEntry() bool {
	it.valid, it.err = true, nil
	if it.c.decoded {
		it.fastFrom, it.fastTo = it.lowerPos, min(it.upperPos, it.c.entries.Len())
	}
	return true
}

// endOutside ends a move before the first block (−1) or after the last one.
func (it *Iter) endOutside(loaded int) bool {
	it.invalidate()
	it.loaded, it.err = loaded, nil
	it.c.reset()
	return false
}

// fail ends a move with an error. No block is loaded then.
func (it *Iter) fail(err error) bool {
	it.endOutside(-1)
	it.err = err
	return false
}

// failUnordered ends a move that needs the order of keys, which is not known.
func (it *Iter) failUnordered() bool {
	if it.t.closed.Load() {
		return it.fail(ErrClosed)
	}
	return it.fail(errAnyOrder)
}

// invalidate sets the Iter to be at no entry.
func (it *Iter) invalidate() {
	it.valid, it.fastFrom, it.fastTo = false, math.MaxInt, 0
}

// load loads data block i, as a part of a move. If there is no block i within the bounds,
// or if it cannot be read, load ends the move and returns false.
func (it *Iter) load(i int) bool {
	it.invalidate()
	switch {
	case it.t.closed.Load():
		return it.fail(ErrClosed)
	case it.t.hidden != nil:
		return it.fail(it.t.hidden)
	case it.t.order.Unchecked && (it.lower != nil || it.upper != nil):
		return it.failUnordered()
	case i < it.firstBlock:
		return it.endOutside(-1)
	case i >= it.endBlock:
		return it.endOutside(it.t.index.len())
	case i == it.loaded:
		it.err = errPanicked // until the move ends
		return true
	}
	step := i - it.loaded
	it.loaded, it.block, it.err = -1, Handle{}, errPanicked // the cursor is about to leave its block
	has, err := it.open(i, step)
	switch {
	case err != nil && !it.passesOver(err):
		return it.fail(err)
	case err != nil || !has:
		return it.loadEmpty(i)
	}
	it.loaded = i
	return true
}

// loadEmpty loads a block without entries in place of data block i.
func (it *Iter) loadEmpty(i int) bool {
	it.c.openEmpty()
	it.lowerPos, it.upperPos, it.loaded = 0, math.MaxInt, i
	return true
}

// passesOver reports whether a move goes on behind a data block in which open has found err.
// Damage is never wrapped: what is, is an error of the source.
func (it *Iter) passesOver(err error) bool {
	damage, ok := err.(*CorruptionError)
	return ok && damage.Block == DataBlock && it.onLoss != nil && it.onLoss(damage.loss())
}

// open moves the cursor to data block i, which is step blocks behind the one that was loaded,
// unless a filter says that the block has nothing to show.
func (it *Iter) open(i, step int) (has bool, err error) {
	if it.t.mapped != nil {
		return it.openMapped(i, step)
	}
	return it.openUnlessExcluded(i, step)
}

// openMapped is open for a mapped file.
func (it *Iter) openMapped(i, step int) (has bool, err error) {
	defer it.t.mapped.leave(it.t.mapped.enter(), &err)
	return it.openUnlessExcluded(i, step)
}

func (it *Iter) openUnlessExcluded(i, step int) (has bool, err error) {
	if mayContain, _ := it.t.mayContain(i, it.filterKey); !mayContain {
		return false, nil
	}
	if err := it.openBlock(i, step); err != nil {
		return false, err
	}
	it.boundEntries(i)
	return true, nil
}

func (it *Iter) openBlock(i, step int) error {
	it.c.reset()
	if it.c.openCached(it.t, i) {
		if it.merged && (step == 1 || step == -1) {
			it.fetched += it.c.entries.FetchKeys()
		}
		return nil
	}
	m := it.blockMemory()
	if step == 1 && it.c.stored == nil {
		m.buffers.prepareAhead(it.t, i, it.endBlock)
	}
	return it.c.open(it.t, i, m, &it.keyBudget)
}

// blockMemory returns the memory of the Iter. It takes it from the pool first.
func (it *Iter) blockMemory() *blockMemory {
	if it.memory == nil {
		it.memory = takeBlockMemory(it.ctx, it.readAhead)
		it.memory.buffers.copies = it.t.mapped != nil // Value must not fault
	}
	return it.memory
}

// boundBlocks sets the range of data blocks that can have entries within the bounds. asked says how the
// table filter is asked: wholeTable or wholeTableByStart.
func (it *Iter) boundBlocks(asked int) (err error) {
	defer it.t.mapped.leave(it.t.mapped.enter(), &err)
	if it.lower != nil {
		if it.firstBlock, err = it.t.index.search(it.lower); err != nil {
			return err
		}
	}
	if it.upper != nil {
		i, err := it.t.index.search(it.upper)
		if err != nil {
			return err
		}
		it.endBlock = min(i+1, it.endBlock)
	}
	if mayContain, _ := it.t.mayContain(asked, it.filterKey); !mayContain {
		it.endBlock = 0
	}
	return nil
}

// boundEntries sets the range of entries of data block i that are within the bounds. The
// block is open. Only the first and the last block of the range can have other entries.
func (it *Iter) boundEntries(i int) {
	it.lowerPos, it.upperPos = 0, math.MaxInt
	if it.lower != nil && i == it.firstBlock {
		it.c.seekGE(it.lower)
		it.lowerPos = it.c.position()
	}
	if it.upper != nil && i == it.endBlock-1 && it.c.seekGE(it.upper) {
		it.upperPos = it.c.position()
	}
	it.c.first() // whose key is no copy, so that the next seek need not copy its key
}

func (it *Iter) compare(a, b []byte) int { return it.t.order.Compare(a, b) }

func init() {
	merged.Mark = func(iterator any) {
		if it, ok := iterator.(*Iter); ok {
			it.merged = true
		}
	}
}
