package table

import "github.com/sievetable/sievetable/block"

// cursor moves over the entries of one data block. It has them by number; or, if
// they are too many for that, moves with an Iter.
type cursor struct {
	e *block.Entries // nil: it moves
	i int            // the entry's number in e: −1 and e.Len() stand for before and after all of them

	length int           // of the block, decompressed; 0 if it came from the cache
	noFill bool          // blocks that are read are not for the cache
	own    block.Entries // those of a block that is in no cache,
	cached block.Entries // or in one
	it     block.Iter
}

// open moves the cursor to before the first entry of data block i, checked as a
// whole and against the index. Memory for keys comes out of *memory.
func (c *cursor) open(r *Reader, i int, b *buffers, memory *int) error {
	c.reset()
	if p := r.cached(i); p != nil {
		c.cached = p.Entries(r.order)
		c.e = &c.cached
		return nil
	}
	contents, err := r.readData(i, b)
	if err != nil {
		return err
	}
	c.length = len(contents)
	before := c.own.Size()
	tooMany, err := r.decodeData(i, contents, &c.own)
	*memory -= 2 * (c.own.Size() - before) // it has grown by doubling
	switch {
	case err != nil:
		return err
	case tooMany:
		return c.openIter(r, i, contents, memory)
	}
	c.e = &c.own
	if c.noFill {
		return nil
	}
	if p := r.admit(i, c.e); p != nil {
		c.cached = p.Entries(r.order)
		c.e = &c.cached
	}
	return nil
}

// openNone moves the cursor to a block without entries.
func (c *cursor) openNone() {
	c.reset()
	c.e = &c.cached
}

// openIter opens a block that has too many entries for c.own.
func (c *cursor) openIter(r *Reader, i int, contents []byte, memory *int) error {
	budget := block.Budget{Memory: *memory, Work: compareBudget(len(contents))}
	err := c.it.Open(contents, r.order, &budget)
	*memory = budget.Memory
	if err != nil {
		return r.corruptData(i, err)
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
	c.e, c.i, c.length = nil, -1, 0
	c.cached = block.Entries{}
	c.it.Reset(block.Block{})
}

// number is where the entry is among the others of the block, as a number that
// ascends with them.
func (c *cursor) number() int {
	if c.e != nil {
		return c.i
	}
	return c.it.Offset()
}

func (c *cursor) key() []byte {
	switch {
	case c.e == nil:
		return c.it.Key()
	case uint(c.i) < uint(c.e.Len()):
		return c.e.Key(c.i)
	}
	return nil
}

func (c *cursor) value() []byte {
	switch {
	case c.e == nil:
		return c.it.Value()
	case uint(c.i) < uint(c.e.Len()):
		return c.e.Value(c.i)
	}
	return nil
}

// to moves to entry i of c.e, or to before or after all.
func (c *cursor) to(i int) bool {
	c.i = max(-1, min(i, c.e.Len()))
	return uint(c.i) < uint(c.e.Len())
}

func (c *cursor) first() bool {
	if c.e != nil {
		return c.to(0)
	}
	return c.it.First()
}

func (c *cursor) last() bool {
	if c.e != nil {
		return c.to(c.e.Len() - 1)
	}
	return c.it.Last()
}

func (c *cursor) next() bool {
	if c.e != nil {
		return c.to(c.i + 1)
	}
	return c.it.Next()
}

func (c *cursor) prev() bool {
	if c.e != nil {
		return c.to(c.i - 1)
	}
	return c.it.Prev()
}

func (c *cursor) seekGE(key []byte) bool {
	if c.e != nil {
		return c.to(c.e.SeekGE(key))
	}
	return c.it.SeekGE(key)
}

func (c *cursor) seekLT(key []byte) bool {
	if c.e != nil {
		return c.to(c.e.SeekGE(key) - 1)
	}
	return c.it.SeekLT(key)
}
