package table

import (
	"math"

	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// This file moves an Iter from block to block, within its bounds.

// forward ends a move towards greater keys. If found is false, the move has run off the end of the block, and
// forward moves to the first entry of the next blocks.
func (it *Iter) forward(found bool) bool {
	for !found {
		if !it.load(it.loaded + 1) {
			return false
		}
		found = it.c.First()
	}
	if it.c.Position() >= it.upperPos {
		return it.endOutside(it.t.file.Index.N)
	}
	return it.endAtEntry()
}

// backward ends a move towards smaller keys. If found is false, the move has run off the start of the block, and
// backward moves to the last entry of the previous blocks.
func (it *Iter) backward(found bool) bool {
	for !found {
		if !it.load(it.loaded - 1) {
			return false
		}
		found = it.c.Last()
	}
	if it.c.Position() < it.lowerPos {
		return it.endOutside(-1)
	}
	return it.endAtEntry()
}

// endAtEntry ends a move at the cursor's entry.
func (it *Iter) endAtEntry() bool {
	it.valid, it.err = true, nil
	it.fastFrom, it.fastTo = it.lowerPos, min(it.upperPos, it.c.Len())
	return true
}

// endOutside ends a move before the first block (-1) or after the last one.
func (it *Iter) endOutside(loaded int) bool {
	it.invalidate()
	it.loaded, it.err = loaded, nil
	it.c.Reset()
	return false
}

// fail ends a move with an error. No block is loaded then.
func (it *Iter) fail(err error) bool {
	it.endOutside(-1)
	it.err = err
	return false
}

// failUnordered ends a move that needs the order of keys, which is unknown.
func (it *Iter) failUnordered() bool {
	if it.t.file.Closed.Load() {
		return it.fail(ErrClosed)
	}
	return it.fail(errAnyOrder)
}

// invalidate marks the Iter as being at no entry.
func (it *Iter) invalidate() {
	it.valid, it.fastFrom, it.fastTo = false, math.MaxInt, 0
}

// load loads data block i, as a part of a move. If there is no block i within the bounds,
// or if it cannot be read, load ends the move and returns false.
func (it *Iter) load(i int) bool {
	it.invalidate()
	switch {
	case it.t.file.Closed.Load():
		return it.fail(ErrClosed)
	case it.t.hidden != nil:
		return it.fail(it.t.hidden)
	case it.t.refused != nil && (it.lower != nil || it.upper != nil):
		return it.failUnordered()
	case i < it.firstBlock:
		return it.endOutside(-1)
	case i >= it.endBlock:
		return it.endOutside(it.t.file.Index.N)
	case i == it.loaded:
		it.err = errPanicked // until the move ends
		return true
	}
	step := i - it.loaded
	it.loaded, it.block, it.err = -1, layout.Handle{}, errPanicked // the cursor is about to leave its block
	has, err := it.open(i, step)
	switch {
	case err != nil && !it.passesOver(err):
		return it.fail(err)
	case err != nil || !has: // as a block without entries
		it.c.Reset()
		it.lowerPos, it.upperPos = 0, math.MaxInt
	}
	it.loaded = i
	return true
}

// passesOver reports whether a move continues after a data block for which open returned err. The table's own
// CorruptionErrors are never wrapped: a wrapped one comes from the source.
func (it *Iter) passesOver(err error) bool {
	damage, ok := err.(*CorruptionError)
	return ok && damage.Block == tablefile.DataBlock && it.onLoss != nil && it.onLoss(Loss{
		File: damage.File, Offset: damage.Offset, From: damage.KeysAfter, To: damage.KeysUpTo, Err: damage,
	})
}

// open moves the cursor to data block i, which is step blocks after the previous one, unless a filter rules the
// block out.
func (it *Iter) open(i, step int) (has bool, err error) {
	if it.t.file.Mapped == nil { // no closure, which takes longer
		return it.openUnlessExcluded(i, step)
	}
	err = it.t.file.Mapped.Guard(func() (err error) {
		has, err = it.openUnlessExcluded(i, step)
		return err
	})
	return has, err
}

func (it *Iter) openUnlessExcluded(i, step int) (has bool, err error) {
	if mayContain, _ := it.t.sieve.mayContain(i, it.filterKey); !mayContain {
		return false, nil
	}
	if err := it.openBlock(i, step); err != nil {
		return false, err
	}
	it.boundEntries(i)
	return true, nil
}

func (it *Iter) openBlock(i, step int) error {
	f := &it.t.file
	if it.c.OpenCached(f, i) {
		if it.merged && (step == 1 || step == -1) {
			it.fetched += it.c.FetchKeys()
		}
		return nil
	}
	m := it.blockMemory()
	if step == 1 {
		m.ReadAhead(f, i, it.endBlock)
	}
	return it.c.Open(f, i, m, &it.keyBudget)
}

// blockMemory returns the Iter's memory, which it first takes from a pool.
func (it *Iter) blockMemory() *tablefile.Memory {
	if it.memory == nil {
		it.memory = tablefile.TakeMemory(it.ctx, &it.t.file, it.readAhead)
	}
	return it.memory
}

// search returns the only data block that can contain key.
func (t *openTable) search(key []byte) (i int, err error) {
	if t.file.Mapped == nil {
		return t.file.Index.Search(key)
	}
	err = t.file.Mapped.Guard(func() (err error) {
		i, err = t.file.Index.Search(key)
		return err
	})
	return i, err
}

// boundBlocks sets the range of data blocks that can have entries within the bounds. scope says how the
// table filter is consulted: wholeTable or wholeTableByStart.
func (it *Iter) boundBlocks(scope int) (err error) {
	return it.t.file.Mapped.Guard(func() error {
		index := it.t.file.Index
		if it.lower != nil {
			if it.firstBlock, err = index.Search(it.lower); err != nil {
				return err
			}
		}
		if it.upper != nil {
			i, err := index.Search(it.upper)
			if err != nil {
				return err
			}
			it.endBlock = min(i+1, it.endBlock)
		}
		if it.firstBlock >= it.endBlock {
			return nil
		}
		o := tablefile.ReadOptions{Ctx: it.ctx, NoFill: it.c.NoFill}
		if _, err = it.t.sieve.checkTable(scope, it.filterKey, &o); err == ErrNotFound {
			it.endBlock, err = 0, nil
		}
		return err
	})
}

// boundEntries sets the range of entries of data block i that are within the bounds. The
// block is open. Only the first and the last block of the range can have other entries.
func (it *Iter) boundEntries(i int) {
	it.lowerPos, it.upperPos = 0, math.MaxInt
	if it.lower != nil && i == it.firstBlock {
		it.c.SeekGE(it.lower)
		it.lowerPos = it.c.Position()
	}
	if it.upper != nil && i == it.endBlock-1 && it.c.SeekGE(it.upper) {
		it.upperPos = it.c.Position()
	}
	it.c.First() // whose key is not in a buffer, so that the next seek need not copy it
}

func (it *Iter) compare(a, b []byte) int { return it.t.file.Order().Compare(a, b) }
