package table

import (
	"github.com/sievetable/sievetable/internal/encoded"
)

// A cursor moves over the entries of one data block. In a decoded block it counts them; in
// another it is an encoded.Iter.
type cursor struct {
	dataBlock
	i  int          // in a decoded block: −1 before the first entry, entries.Len() after the last
	it encoded.Iter // if the block is not decoded

	noFill bool // do not add blocks to the cache
}

// open moves the cursor to before the first entry of data block i. It checks the whole
// block, and its keys against the index. It subtracts the memory that it takes for keys of a
// block that is not decoded from *keyBudget.
func (c *cursor) open(t *openTable, i int, m *blockMemory, keyBudget *int) error {
	stored := c.stored // which openCached has found
	c.reset()
	c.stored = stored
	c.t, c.n = t, i
	contents, err := t.readDataBlock(i, &m.buffers, stored)
	if err == nil {
		err = c.decode(contents, &m.buffers, &m.entries)
	}
	switch {
	case err != nil:
		return err
	case !c.decoded:
		c.contents = m.buffers.own(c.contents)
		return c.openIter(t, i, keyBudget)
	}
	c.form = t.admits(i, stored, c.noFill)
	c.admit()
	return nil
}

// openEmpty moves the cursor to a block without entries.
func (c *cursor) openEmpty() {
	c.reset()
	c.decoded = true
}

// openIter opens a block that has too many entries to be decoded.
func (c *cursor) openIter(t *openTable, i int, keyBudget *int) error {
	budget := encoded.Budget{Memory: *keyBudget, Compared: compareBudget(len(c.contents))}
	err := c.it.Open(c.contents, t.order, &budget)
	*keyBudget = budget.Memory
	if err != nil {
		return t.corruptDataBlock(i, err)
	}
	c.it.Last()
	if err := t.checkLast(i, c.it.Key()); err != nil {
		return err
	}
	c.it.First()
	return t.checkFirst(i, c.it.Key())
}

// reset moves the cursor to no block.
func (c *cursor) reset() {
	c.dataBlock, c.i = dataBlock{}, -1
	c.it.Reset(encoded.Block{})
}

// position returns a number that tells which of two entries of the block comes first. It
// is not the number of the entry if the block is not decoded.
func (c *cursor) position() int {
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

// moveTo moves to entry i, or to before the first or after the last one.
func (c *cursor) moveTo(i int) bool {
	c.i = max(-1, min(i, c.entries.Len()))
	return uint(c.i) < uint(c.entries.Len())
}

func (c *cursor) first() bool {
	if c.decoded {
		return c.moveTo(0)
	}
	return c.it.First()
}

func (c *cursor) last() bool {
	if c.decoded {
		return c.moveTo(c.entries.Len() - 1)
	}
	return c.it.Last()
}

func (c *cursor) next() bool {
	if c.decoded {
		return c.moveTo(c.i + 1)
	}
	return c.it.Next()
}

func (c *cursor) prev() bool {
	if c.decoded {
		return c.moveTo(c.i - 1)
	}
	return c.it.Prev()
}

func (c *cursor) seekGE(key []byte) bool {
	if c.decoded {
		return c.moveTo(c.entries.SeekGE(key))
	}
	return c.it.SeekGE(key)
}

func (c *cursor) seekLT(key []byte) bool {
	if c.decoded {
		return c.moveTo(c.entries.SeekGE(key) - 1)
	}
	return c.it.SeekLT(key)
}
