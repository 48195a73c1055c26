package table

import (
	"math"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/decoded"
)

// cursor moves over the entries of one data block: by their numbers or, in a block that is
// not decoded, with a block.Iter.
type cursor struct {
	dataBlock
	i int // the entry's number, if the block is decoded: −1 and entries.Len() stand for before and after all of them

	noFill bool // blocks that are read are not for the cache
	own    decoded.Block
	it     block.Iter
}

// open moves the cursor to before the first entry of data block i, checked as a
// whole and against the index. Memory for keys comes out of *memory.
func (c *cursor) open(r *Reader, i int, b *buffers, memory *int) error {
	c.reset()
	if c.openCached(r, i) {
		return nil
	}
	before := c.own.Size()
	err := c.read(r, i, b, &c.own, math.MaxInt64)
	*memory -= 2 * (c.own.Size() - before) // it has grown by doubling
	switch {
	case err != nil:
		return err
	case !c.decoded:
		return c.openIter(r, i, memory)
	case !c.noFill:
		c.admit()
	}
	return nil
}

// openNone moves the cursor to a block without entries.
func (c *cursor) openNone() {
	c.reset()
	c.decoded = true
}

// openIter opens a block that has too many entries to be decoded.
func (c *cursor) openIter(r *Reader, i int, memory *int) error {
	budget := block.Budget{Memory: *memory, Compared: compareBudget(len(c.contents))}
	err := c.it.Open(c.contents, r.order, &budget)
	*memory = budget.Memory
	if err != nil {
		return r.corruptDataBlock(i, err)
	}
	c.it.Last()
	if err := r.checkLast(i, c.it.Key()); err != nil {
		return err
	}
	c.it.First()
	return r.checkFirst(i, c.it.Key())
}

// reset moves the cursor to no block.
func (c *cursor) reset() {
	c.dataBlock, c.i = dataBlock{}, -1
	c.it.Reset(block.Block{})
}

// number is where the entry is among the others of the block, as a number that
// ascends with them.
func (c *cursor) number() int {
	if c.decoded {
		return c.i
	}
	return c.it.Offset()
}

func (c *cursor) key() []byte {
	switch {
	case !c.decoded:
		return c.it.Key()
	case uint(c.i) < uint(c.entries.Len()):
		return c.entries.Key(c.i)
	}
	return nil
}

func (c *cursor) value() []byte {
	switch {
	case !c.decoded:
		return c.it.Value()
	case uint(c.i) < uint(c.entries.Len()):
		return c.entries.Value(c.i)
	}
	return nil
}

// to moves to entry i, or to before or after all.
func (c *cursor) to(i int) bool {
	c.i = max(-1, min(i, c.entries.Len()))
	return uint(c.i) < uint(c.entries.Len())
}

func (c *cursor) first() bool {
	if c.decoded {
		return c.to(0)
	}
	return c.it.First()
}

func (c *cursor) last() bool {
	if c.decoded {
		return c.to(c.entries.Len() - 1)
	}
	return c.it.Last()
}

func (c *cursor) next() bool {
	if c.decoded {
		return c.to(c.i + 1)
	}
	return c.it.Next()
}

func (c *cursor) prev() bool {
	if c.decoded {
		return c.to(c.i - 1)
	}
	return c.it.Prev()
}

func (c *cursor) seekGE(key []byte) bool {
	if c.decoded {
		return c.to(c.entries.SeekGE(key))
	}
	return c.it.SeekGE(key)
}

func (c *cursor) seekLT(key []byte) bool {
	if c.decoded {
		return c.to(c.entries.SeekGE(key) - 1)
	}
	return c.it.SeekLT(key)
}
