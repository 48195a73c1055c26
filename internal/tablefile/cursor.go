package tablefile

import (
	"context"
	"sync"

	"github.com/sievetable/sievetable/internal/rowblock"
)

// Memory is the memory in which an iterator reads and decodes blocks. An iterator needs none as long as all blocks
// are in the Cache.
type Memory struct {
	Scratch
	entries rowblock.Decoded // the decoded block
	SeekKey []byte           // a copy of the key to seek, which may be in the Scratch
}

var memoryPool = sync.Pool{New: func() any { return new(Memory) }}

// TakeMemory returns Memory from the pool, for reads of f. ctx cancels them, and readAhead is how many bytes they
// read ahead.
func TakeMemory(ctx context.Context, f *File, readAhead int) *Memory {
	m := memoryPool.Get().(*Memory)
	m.ctx, m.ahead.size = ctx, readAhead
	m.copies = f.Mapped != nil // values must not fault
	return m
}

// Put gives the memory back to the pool.
func (m *Memory) Put() {
	m.empty()
	memoryPool.Put(m)
}

// empty drops the buffers that a huge block needed, so that the pool does not keep them.
func (m *Memory) empty() {
	if m.entries.Size() > maxPooledBlock || cap(m.stored) > maxPooledBlock || cap(m.decompressed) > maxPooledBlock {
		m.entries = rowblock.Decoded{} // it also refers to the buffers
	}
	if cap(m.SeekKey) > maxPooledBlock {
		m.SeekKey = nil
	}
	ahead := m.ahead.bytes[:0]
	if m.Scratch.empty(); cap(ahead) <= maxPooledBlock {
		m.ahead.bytes = ahead
	}
}

// A Cursor moves over the entries of one data block. In a decoded block it is an index into the entries. In other
// blocks it wraps a rowblock.Iter.
type Cursor struct {
	Block
	I    int            // in a decoded block: −1 before the first entry, the number of entries after the last
	it   *rowblock.Iter // if the block is not decoded; else nil
	kept *rowblock.Iter // it, or that of an earlier block, for its buffers; nil if there was none

	NoFill bool // do not add blocks to the cache
}

// OpenCached moves the cursor to before the first entry of data block i if the cache has the block. Otherwise it
// returns false, and the caller calls Open.
func (c *Cursor) OpenCached(f *File, i int) bool {
	c.Reset()
	c.f, c.n = f, i
	return f.cached != nil && c.openCached()
}

// Open moves the cursor to before the first entry of data block i. It checks the whole block, and its keys against
// the index. If the block is not decoded, the memory for its keys is subtracted from *keyBudget.
func (c *Cursor) Open(f *File, i int, m *Memory, keyBudget *int) (err error) {
	c.Reset()
	c.f, c.n = f, i
	if c.contents, err = f.readData(i, &m.Scratch); err == nil {
		err = c.decode(&m.entries)
	}
	switch {
	case err != nil:
		return err
	case !c.decoded:
		if c.contents, err = m.own(c.contents); err != nil {
			return err
		}
		return c.openIter(keyBudget)
	}
	c.admits = f.cached != nil && f.admits(i, c.NoFill)
	c.Admit()
	return nil
}

// openIter opens a block that has too many entries to be decoded.
func (c *Cursor) openIter(keyBudget *int) error {
	if c.kept == nil {
		c.kept = new(rowblock.Iter)
	}
	c.it = c.kept
	budget := blockBudget(c.contents, *keyBudget)
	err := c.it.Open(c.contents, c.f.o.Order, budget)
	*keyBudget = budget.Memory
	if err != nil {
		return c.f.corruptData(c.n, err)
	}
	c.it.Last()
	if err := c.f.checkLast(c.n, c.it.Key()); err != nil {
		return err
	}
	c.it.First()
	return c.f.checkFirst(c.n, c.it.Key())
}

// Reset moves the cursor to a block without entries.
func (c *Cursor) Reset() {
	if c.it != nil {
		c.it.Reset(rowblock.Block{}) // kept must not hold the block, which can be huge
	}
	c.Block, c.I, c.it = Block{}, -1, nil
}

// Len returns the number of entries, or 0 if the block is not decoded.
func (c *Cursor) Len() int { return c.entries.Len() }

// Size returns the decompressed length of the block, or 0 if it is from the cache.
func (c *Cursor) Size() int { return len(c.contents) }

// Position returns a number that orders the entries of the block.
func (c *Cursor) Position() int {
	if c.it != nil {
		return c.it.Offset()
	}
	return c.I
}

// Key returns the entry's key, or nil if there is no entry.
func (c *Cursor) Key() []byte {
	switch {
	case c.it != nil:
		return c.it.Key()
	case uint(c.I) < uint(c.entries.Len()):
		return c.entries.Key(c.I)
	}
	return nil
}

// Value returns the entry's value, or nil if there is no entry.
func (c *Cursor) Value() []byte {
	switch {
	case c.it != nil:
		return c.it.Value()
	case uint(c.I) < uint(c.entries.Len()):
		return c.entries.Value(c.I)
	}
	return nil
}

// moveTo moves to entry i, or to before the first or after the last one.
func (c *Cursor) moveTo(i int) bool {
	c.I = max(-1, min(i, c.entries.Len()))
	return uint(c.I) < uint(c.entries.Len())
}

// First moves to the first entry, and reports whether there is one. The other moves report likewise.
func (c *Cursor) First() bool {
	if c.it != nil {
		return c.it.First()
	}
	return c.moveTo(0)
}

// Last moves to the last entry.
func (c *Cursor) Last() bool {
	if c.it != nil {
		return c.it.Last()
	}
	return c.moveTo(c.entries.Len() - 1)
}

// Next moves to the next entry.
func (c *Cursor) Next() bool {
	if c.it != nil {
		return c.it.Next()
	}
	return c.moveTo(c.I + 1)
}

// Prev moves to the entry before.
func (c *Cursor) Prev() bool {
	if c.it != nil {
		return c.it.Prev()
	}
	return c.moveTo(c.I - 1)
}

// SeekGE moves to the first entry whose key is ≥ key.
func (c *Cursor) SeekGE(key []byte) bool {
	if c.it != nil {
		return c.it.SeekGE(key)
	}
	return c.moveTo(c.entries.SeekGE(key))
}

// SeekLT moves to the last entry whose key is < key.
func (c *Cursor) SeekLT(key []byte) bool {
	if c.it != nil {
		return c.it.SeekLT(key)
	}
	return c.moveTo(c.entries.SeekGE(key) - 1)
}

// FetchKeys prefetches the keys of a cached block into the processor's caches. The result has no meaning.
func (c *Cursor) FetchKeys() uint32 { return c.entries.FetchKeys() }
