package table

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/decoded"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// A dataBlock is one data block, out of the cache or read: the only way by which lookups
// and iterators come to entries. Its zero value is no block.
//
// It has its entries by number if they are decoded. A block that a lookup reads is
// decoded only where the cache may keep it: to search it as it is takes less time. So
// are blocks with more entries than can be had by number.
type dataBlock struct {
	r *Reader
	n int // its number in the index

	decoded  bool
	entries  decoded.Block // if decoded
	contents []byte        // decompressed, if it was read; nil if it comes out of the cache

	buffers *buffers       // that a lookup took from its pool, for contents
	scratch *decoded.Block // that a lookup took from its pool, for entries
}

var (
	buffersPool = sync.Pool{New: func() any { return new(buffers) }}
	entriesPool = sync.Pool{New: func() any { return new(decoded.Block) }}
)

// openForLookup makes d data block i. The caller releases it.
func (d *dataBlock) openForLookup(r *Reader, i int) error {
	if d.openCached(r, i) {
		return nil
	}
	d.buffers = buffersPool.Get().(*buffers)
	largest := int64(0)
	if r.cachedBlocks != nil {
		d.scratch = entriesPool.Get().(*decoded.Block)
		largest = min(maxCachedBlock, r.o.Cache.budget)
	}
	return d.read(r, i, d.buffers, d.scratch, largest)
}

// openCached makes d data block i if that is in the cache.
func (d *dataBlock) openCached(r *Reader, i int) bool {
	c := r.cached(i)
	if c == nil {
		return false
	}
	d.decoded, d.entries, d.contents = true, c.Block(r.order), nil
	return true
}

// read reads data block i into b. It decodes it into own, if that is not nil, if the block
// takes at most largest bytes and its entries can be had by number.
func (d *dataBlock) read(r *Reader, i int, b *buffers, own *decoded.Block, largest int64) (err error) {
	d.r, d.n, d.decoded = r, i, false
	if d.contents, err = r.readDataBlock(i, b); err != nil || own == nil || int64(len(d.contents)) > largest {
		return err
	}
	if err = own.Decode(d.contents, r.order); errors.Is(err, decoded.ErrTooMany) {
		return nil
	}
	if err != nil {
		return r.corruptDataBlock(i, err)
	}
	d.decoded, d.entries = true, *own
	n := own.Len()
	if n == 0 {
		return nil
	}
	if err := r.checkLast(i, own.Key(n-1)); err != nil {
		return err
	}
	return r.checkFirst(i, own.Key(0))
}

// readDataBlock reads data block i and counts that.
func (r *Reader) readDataBlock(i int, b *buffers) ([]byte, error) {
	h := r.index.handles[i]
	if m := r.o.Metrics; m != nil {
		m.DataBlocks.Add(1)
		m.BytesRead.Add(h.Length + format.TrailerLen)
	}
	return r.readBlock(DataBlock, h, b)
}

// get returns the value of key.
func (d *dataBlock) get(key []byte) (value []byte, found bool, err error) {
	if d.decoded {
		value, found = d.entries.Get(key)
		return value, found, nil
	}
	r := d.r
	if value, found, err = block.Get(d.contents, r.order, key, d.lookupBudget(dataKeyBudget.of(r.footerOffset))); err != nil {
		err = r.corruptDataBlock(d.n, err)
	}
	return value, found, err
}

// seekGE returns the first entry whose key is ≥ key. Keys that share bytes take at most
// that much memory.
func (d *dataBlock) seekGE(key []byte, memory int) (k, v []byte, found bool, err error) {
	if d.decoded {
		i := d.entries.SeekGE(key)
		if i == d.entries.Len() {
			return nil, nil, false, nil
		}
		return d.entries.Key(i), d.entries.Value(i), true, nil
	}
	if k, v, found, err = block.SeekGE(d.contents, d.r.order, key, d.lookupBudget(memory)); err != nil {
		err = d.r.corruptDataBlock(d.n, err)
	}
	return k, v, found, err
}

// lookupBudget is what a lookup may take in the block, if its keys share bytes.
func (d *dataBlock) lookupBudget(memory int) *block.Budget {
	if d.scratch != nil {
		memory -= maxEntriesMemory // which have been tried first
	}
	return &block.Budget{Memory: memory, Compared: compareBudget(len(d.contents))}
}

// admit keeps a copy of the block in the cache, if it is decoded and not too large.
// From then on d has the entries of the copy.
func (d *dataBlock) admit() {
	if d.contents == nil || !d.decoded {
		return
	}
	if c := d.r.admit(d.n, &d.entries); c != nil {
		d.entries, d.contents = c.Block(d.r.order), nil
	}
}

// keepValue returns value, which get returned, in memory that nothing else will use.
func (d *dataBlock) keepValue(value []byte) []byte {
	if d.buffers == nil {
		return value
	}
	return d.buffers.keep(value)
}

// keepEntry is keepValue for what seekGE returned.
func (d *dataBlock) keepEntry(k, v []byte) (key, value []byte) {
	switch {
	case d.buffers == nil:
		return k, v
	case d.decoded:
		return slices.Clip(bytes.Clone(k)), d.buffers.keep(v)
	}
	return d.buffers.keepEntry(k, v)
}

// release gives a lookup's memory back.
func (d *dataBlock) release() {
	if d.scratch != nil {
		entriesPool.Put(d.scratch)
	}
	if d.buffers != nil {
		d.buffers.put()
	}
}

// checkFirst checks that data block i's first key is above the separator before, and so,
// with checkLast, that all its keys are in order with those of other blocks.
func (r *Reader) checkFirst(i int, key []byte) error {
	if i == 0 {
		return nil
	}
	if s := r.index.separator(i - 1); r.index.order.Compare(s, key) >= 0 {
		return r.misplaced(r.index.handles[i], "first key %s, want above the index's separator before, %s", wire.Quote(key), wire.Quote(s))
	}
	return nil
}

// checkLast checks that data block i's last key is at most its separator.
func (r *Reader) checkLast(i int, key []byte) error {
	if s := r.index.separator(i); r.index.order.Compare(key, s) > 0 {
		return r.misplaced(r.index.handles[i], "last key %s, want at most the index's separator %s", wire.Quote(key), wire.Quote(s))
	}
	return nil
}

// corruptDataBlock is the error for what is wrong in data block i.
func (r *Reader) corruptDataBlock(i int, err error) error {
	return r.damaged(DataBlock, r.index.handles[i], err)
}
