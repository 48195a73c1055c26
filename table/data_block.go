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

// A dataBlock is one data block, from the cache or from the file. Lookups and iterators
// reach entries through it only. The zero value is no block.
//
// A block from the cache is decoded, unless it is there as it is in the file: then it is like one
// from the file. Such a block is decoded if an iterator reads it, or if the cache takes its entries;
// otherwise a lookup searches its contents, which takes less time. A block with very many entries is
// never decoded.
type dataBlock struct {
	t *openTable
	n int // its number in the index

	decoded  bool // entries is set
	entries  decoded.Block
	contents []byte // decompressed; nil if entries are from the cache

	stored *decoded.Cached // the block as it is in the file, if the cache has that
	loaded *buffers        // the ones that load has used
	form   form            // in which the cache takes the block
	view   bool            // a lookup shows the value where it lies

	buffers *buffers       // of contents, if a lookup took them from the pool
	scratch *decoded.Block // the memory of entries, if a lookup took it from the pool
}

var (
	buffersPool = sync.Pool{New: func() any { return new(buffers) }}
	entriesPool = sync.Pool{New: func() any { return new(decoded.Block) }}
)

// openForLookup sets d to data block i. The caller releases d.
func (d *dataBlock) openForLookup(t *openTable, i int, o *lookupOptions) error {
	if d.openCached(t, i) {
		return nil
	}
	d.buffers = buffersPool.Get().(*buffers)
	d.buffers.ctx = o.ctx
	return d.openRead(t, i, o.noFill)
}

// openAhead sets d to data block i, for a lookup. ahead has the block, unless that is too long.
// The caller releases d.
func (d *dataBlock) openAhead(t *openTable, i int, ahead readAhead, noFill bool) error {
	d.buffers = buffersPool.Get().(*buffers)
	d.buffers.ahead = ahead
	d.stored = t.storedCopy(i)
	return d.openRead(t, i, noFill)
}

// openRead sets d to data block i, for a lookup, in its buffers. It decodes the block only if the
// cache takes its entries.
func (d *dataBlock) openRead(t *openTable, i int, noFill bool) error {
	if d.form = t.admits(i, d.stored, noFill); d.form == asEntries {
		d.scratch = entriesPool.Get().(*decoded.Block)
	}
	// A mapped file can be cut after the checksum was compared: a copy stays what it was.
	d.buffers.copies = t.mapped != nil && (d.form != notKept || !d.view && !t.skipChecksums)
	return d.load(t, i, d.buffers, d.scratch)
}

// openCached sets d to data block i if its entries are in the cache. If the block is there as it
// is in the file, load takes it from there.
func (d *dataBlock) openCached(t *openTable, i int) bool {
	c := t.cached(i)
	if c == nil {
		return false
	}
	if c.IsStored() {
		d.stored = c
		return false
	}
	d.decoded, d.entries, d.contents = true, c.Block(t.order), nil
	return true
}

// load reads data block i into b. It decodes it in the memory of scratch, unless that is nil, or the
// block has too many entries, or is too large for the cache, which a lookup decodes it for.
func (d *dataBlock) load(t *openTable, i int, b *buffers, scratch *decoded.Block) (err error) {
	d.t, d.n, d.decoded = t, i, false
	if d.contents, err = t.readDataBlock(i, b, d.stored); err != nil {
		return err
	}
	if d.loaded = b; scratch == nil || d.scratch != nil && !t.o.Cache.fits(len(d.contents)) {
		return nil
	}
	if err = scratch.Decode(d.contents, t.order); errors.Is(err, decoded.ErrTooMany) {
		return nil
	}
	if err != nil {
		return t.corruptDataBlock(i, err)
	}
	d.decoded, d.entries = true, *scratch
	n := d.entries.Len()
	if n == 0 {
		return nil
	}
	if err := t.checkLast(i, d.entries.Key(n-1)); err != nil {
		return err
	}
	return t.checkFirst(i, d.entries.Key(0))
}

// readDataBlock reads data block i into b, and counts that, unless the cache has it: in stored. A copy
// of another length is of a file with the same CacheKey by mistake.
func (t *openTable) readDataBlock(i int, b *buffers, stored *decoded.Cached) ([]byte, error) {
	h, err := t.index.handle(i)
	if err != nil {
		return nil, err
	}
	if stored != nil && uint64(len(stored.Stored())) == h.Length+1 {
		b.block = stored.Stored()
		id := b.block[h.Length]
		b.inSource = id == NoCompression.ID()
		return t.decompress(DataBlock, h, b, id)
	}
	t.countRead(h)
	return t.readInPlace(DataBlock, h, b)
}

// countRead counts a read of the data block at h.
func (t *openTable) countRead(h Handle) {
	if m := t.o.Metrics; m != nil {
		m.BlocksRead.Add(1)
		m.BytesRead.Add(h.Length + format.TrailerLen)
	}
}

// get returns the value of key, and whether the block has the key.
func (d *dataBlock) get(key []byte) (value []byte, found bool, err error) {
	if d.decoded {
		value, found = d.entries.Get(key)
		return value, found, nil
	}
	t := d.t
	if value, found, err = block.Get(d.contents, t.order, key, d.lookupBudget(dataKeyBudget.forFile(t.footerOffset))); err != nil {
		err = t.corruptDataBlock(d.n, err)
	}
	return value, found, err
}

// manyKeys is from how many keys on GetMany checks a block first. A search of one that is not checked
// decodes half of its entries, to see whether the restart point that it starts from is one.
const manyKeys = 8

// checkedGet checks the whole block, which is not decoded, and returns what then does what get does,
// for many keys in less time. If the block is damaged, that is get.
func (d *dataBlock) checkedGet() (get func(key []byte) (value []byte, found bool, err error)) {
	t, it := d.t, new(block.Iter)
	if it.Open(d.contents, t.order, d.lookupBudget(dataKeyBudget.forFile(t.footerOffset))) != nil {
		return d.get
	}
	return func(key []byte) ([]byte, bool, error) {
		if !it.SeekGE(key) || t.order.Compare(it.Key(), key) != 0 {
			return nil, false, nil
		}
		return it.Value(), true, nil
	}
}

// seekGE returns the first entry whose key is ≥ key, and whether there is one. It takes at
// most that many bytes of memory for keys that share bytes. If borrows, d may have the key in
// memory that keepEntry does not keep.
func (d *dataBlock) seekGE(key []byte, memory int, borrows bool) (k, v []byte, found bool, err error) {
	if d.decoded {
		i := d.entries.SeekGE(key)
		if i == d.entries.Len() {
			return nil, nil, false, nil
		}
		return d.entries.Key(i), d.entries.Value(i), true, nil
	}
	var own []byte
	buf := &own
	if borrows {
		buf = &d.buffers.key
	}
	if k, v, found, err = block.SeekGEInto(buf, d.contents, d.t.order, key, d.lookupBudget(memory)); err != nil {
		err = d.t.corruptDataBlock(d.n, err)
	}
	return k, v, found, err
}

// lookupBudget bounds the work of a lookup on keys that share bytes.
func (d *dataBlock) lookupBudget(memory int) *block.Budget {
	if d.scratch != nil {
		memory -= maxEntriesMemory // decoding the block, which was tried first, has taken it
	}
	return &block.Budget{Memory: memory, Compared: compareBudget(len(d.contents))}
}

// keepValue returns value, a result of get, in memory that stays valid after release.
func (d *dataBlock) keepValue(value []byte) []byte {
	if d.buffers == nil {
		return value
	}
	return d.buffers.detach(value)
}

// keepEntry does for the results of seekGE what keepValue does for a value.
func (d *dataBlock) keepEntry(k, v []byte) (key, value []byte) {
	switch {
	case d.buffers == nil:
		return k, v
	case d.decoded:
		return slices.Clip(bytes.Clone(k)), d.buffers.detach(v)
	}
	return d.buffers.detachEntry(k, v)
}

// release gives the memory of a lookup back to the pools.
func (d *dataBlock) release() {
	if d.scratch != nil {
		entriesPool.Put(d.scratch)
	}
	if d.buffers != nil {
		d.buffers.put()
	}
}

// checkFirst checks that key, the first one of data block i, is > the separator before.
// checkLast checks the other end. Together they check that the keys of all blocks are in
// order.
func (t *openTable) checkFirst(i int, key []byte) error {
	if i == 0 {
		return nil
	}
	if s := t.index.separator(i - 1); t.order.Compare(s, key) >= 0 {
		return t.misplaced(i, "first key %s, want it > the index's separator before, %s", wire.Quote(key), wire.Quote(s))
	}
	return nil
}

// checkLast checks that key, the last one of data block i, is ≤ the block's separator.
func (t *openTable) checkLast(i int, key []byte) error {
	if s := t.index.separator(i); t.order.Compare(key, s) > 0 {
		return t.misplaced(i, "last key %s, want it ≤ the index's separator, %s", wire.Quote(key), wire.Quote(s))
	}
	return nil
}

// corruptDataBlock returns a *CorruptionError for data block i, in which err was found.
func (t *openTable) corruptDataBlock(i int, err error) error {
	h, indexErr := t.index.handle(i)
	if indexErr != nil {
		return indexErr
	}
	return t.damaged(DataBlock, h, err)
}
