package table

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"github.com/sievetable/sievetable/internal/decoded"
	"github.com/sievetable/sievetable/internal/encoded"
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
	contents []byte        // decompressed; nil if entries are from the cache
	checked  *encoded.Iter // of contents, if check has found no damage

	stored *decoded.Cached // the block as it is in the file, if the cache has that
	loaded *buffers        // that the block was read into
	form   form            // in which the cache takes the block

	buffers *buffers       // of contents, if a lookup took them from the pool
	scratch *decoded.Block // the memory of entries, if a lookup took it from the pool
}

var (
	buffersPool = sync.Pool{New: func() any { return new(buffers) }}
	entriesPool = sync.Pool{New: func() any { return new(decoded.Block) }}
)

// open sets d to data block i, for a lookup. The caller releases d.
func (d *dataBlock) open(t *openTable, i int, o *lookupOptions) error {
	if d.openCached(t, i) {
		return nil
	}
	b := d.prepare(t, i, o.noFill)
	b.ctx = o.ctx
	contents, err := t.readDataBlock(i, b, d.stored)
	if err != nil {
		return err
	}
	return d.decode(contents, b, d.scratch)
}

// openAhead sets d to data block i, for lookups. ahead has the block, unless that is too long.
// The caller releases d.
func (d *dataBlock) openAhead(t *openTable, i int, ahead readAhead, noFill bool) error {
	d.stored = t.storedCopy(i)
	b := d.prepare(t, i, noFill)
	b.ahead = ahead
	contents, err := t.readDataBlock(i, b, d.stored)
	if err != nil {
		return err
	}
	return d.decode(contents, b, d.scratch)
}

// prepare takes the memory that a lookup reads data block i into. It decodes the block only if the
// cache takes its entries.
func (d *dataBlock) prepare(t *openTable, i int, noFill bool) *buffers {
	d.t, d.n = t, i
	if d.form = t.admits(i, d.stored, noFill); d.form == asEntries {
		d.scratch = entriesPool.Get().(*decoded.Block)
	}
	d.buffers = buffersPool.Get().(*buffers)
	// A mapped file can be cut after the checksum was compared: a copy stays what it was.
	d.buffers.copies = t.mapped != nil && (d.form != notKept || !t.o.SkipChecksums)
	return d.buffers
}

// openCached sets d to data block i if its entries are in the cache. If the block is there as it
// is in the file, readDataBlock takes it from there.
func (d *dataBlock) openCached(t *openTable, i int) bool {
	c := t.cached(i)
	if c == nil {
		return false
	}
	if c.IsStored() {
		d.stored = c
		return false
	}
	d.t, d.decoded, d.entries, d.contents = t, true, c.Block(t.order), nil
	return true
}

// decode sets d to the block that b was read into, with these contents. It decodes it in the memory of
// scratch, unless that is nil, or the block has too many entries, or is too large for the cache, which a
// lookup decodes it for.
func (d *dataBlock) decode(contents []byte, b *buffers, scratch *decoded.Block) error {
	t := d.t
	d.decoded, d.contents, d.loaded = false, contents, b
	if scratch == nil || d.scratch != nil && !t.o.Cache.fits(len(contents)) {
		return nil
	}
	err := scratch.Decode(contents, t.order)
	if errors.Is(err, decoded.ErrTooMany) {
		return nil
	}
	if err != nil {
		return t.corruptDataBlock(d.n, err)
	}
	d.decoded, d.entries = true, *scratch
	n := d.entries.Len()
	if n == 0 {
		return nil
	}
	if err := t.checkLast(d.n, d.entries.Key(n-1)); err != nil {
		return err
	}
	return t.checkFirst(d.n, d.entries.Key(0))
}

// readDataBlock reads data block i into b, and counts that, unless the cache has it: in stored. A copy
// of another length is of a file with the same CacheKey by mistake.
func (t *openTable) readDataBlock(i int, b *buffers, stored *decoded.Cached) ([]byte, error) {
	h, err := t.index.handle(i)
	if err != nil {
		return nil, err
	}
	var id byte
	if stored != nil && uint64(len(stored.Stored())) == h.Length+1 {
		b.block = stored.Stored()
		id = b.block[h.Length]
		b.inSource = id == NoCompression.ID()
	} else {
		t.countRead(h)
		if id, err = t.readStored(DataBlock, h, b); err != nil {
			return nil, err
		}
	}
	return t.decompress(DataBlock, h, b, id)
}

// countRead counts a read of the data block at h.
func (t *openTable) countRead(h Handle) {
	if m := t.o.Metrics; m != nil {
		m.BlocksRead.Add(1)
		m.BytesRead.Add(h.Length + format.TrailerLen)
	}
}

// get returns the value of key, which is valid until d is released. Then it ends the lookup: see endLookup.
func (d *dataBlock) get(key []byte, filterChecked bool) (value []byte, err error) {
	t, found := d.t, false
	switch {
	case d.decoded:
		value, found = d.entries.Get(key)
	case d.checked != nil:
		if found = d.checked.SeekGE(key) && t.order.Compare(d.checked.Key(), key) == 0; found {
			value = d.checked.Value()
		}
	default:
		value, found, err = encoded.Get(d.contents, t.order, key, d.lookupBudget(dataKeyBudget.forFile(t.footerOffset)))
		if err != nil {
			return nil, t.corruptDataBlock(d.n, err)
		}
	}
	if t.endLookup(d, found, filterChecked); !found {
		return nil, ErrNotFound
	}
	return value, nil
}

// manyKeys is from how many keys on GetMany checks a block first. A search of one that is not checked
// decodes half of its entries, to see whether the restart point that it starts from is one.
const manyKeys = 8

// check checks the whole block, unless it is decoded: then get takes less time for many keys. If the
// block is damaged, get finds what it finds without.
func (d *dataBlock) check() {
	if d.decoded {
		return
	}
	it := new(encoded.Iter)
	if it.Open(d.contents, d.t.order, d.lookupBudget(dataKeyBudget.forFile(d.t.footerOffset))) == nil {
		d.checked = it
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
	if k, v, found, err = encoded.SeekGE(buf, d.contents, d.t.order, key, d.lookupBudget(memory)); err != nil {
		err = d.t.corruptDataBlock(d.n, err)
	}
	return k, v, found, err
}

// lookupBudget bounds the work of a lookup on keys that share bytes.
func (d *dataBlock) lookupBudget(memory int) *encoded.Budget {
	return &encoded.Budget{Memory: memory, Compared: compareBudget(len(d.contents))}
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
