package tablefile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// ReadOptions are the options for reading one data block.
type ReadOptions struct {
	Ctx    context.Context // cancels the read; may be nil
	NoFill bool            // do not add the block to the Cache
}

// A Block is one data block, opened for lookups. It comes from the cache or from the file. The zero value is no
// block. Open must be paired with Release.
//
// A block from the cache is decoded. A block from the file is decoded only if an iterator reads it or the cache
// takes it. Otherwise a lookup searches its contents, which is faster. A block with very many entries is never
// decoded.
type Block struct {
	f *File
	n int // its number in the index

	decoded  bool // entries is set
	entries  rowblock.Decoded
	contents []byte         // decompressed; nil if entries are from the cache
	checked  *rowblock.Iter // over contents, if Prepare has checked them and found them sound

	admits  bool              // the cache takes the block
	scratch *Scratch          // memory of contents, if a lookup took it from the pool
	spare   *rowblock.Decoded // memory of entries, if a lookup took it from the pool
}

var entriesPool = sync.Pool{New: func() any { return new(rowblock.Decoded) }}

// Open sets b, which must be a zero Block, to data block i.
func (b *Block) Open(f *File, i int, o *ReadOptions) error {
	b.f, b.n = f, i
	if f.cached != nil && b.openCached() {
		return nil
	}
	b.scratch = scratchPool.Get().(*Scratch)
	b.scratch.ctx = o.Ctx
	return b.read(o.NoFill)
}

// OpenAhead is like Open, for a block that is not in the cache. ahead must contain it, unless the block is too long.
func (b *Block) OpenAhead(f *File, i int, ahead Ahead, noFill bool) error {
	b.f, b.n = f, i
	b.scratch = scratchPool.Get().(*Scratch)
	b.scratch.ahead = ahead
	return b.read(noFill)
}

// openCached sets b to its block if the cache has it.
func (b *Block) openCached() bool {
	c := b.f.Cached(b.n)
	if c == nil {
		return false
	}
	b.decoded, b.entries = true, c.Block(b.f.o.Order)
	return true
}

// Cached returns the entries of data block i, or nil if they are not in the cache, and counts a hit or a miss.
func (f *File) Cached(i int) *rowblock.Cached {
	if f.cached == nil {
		return nil
	}
	b := f.cached[i].Load()
	if b != nil {
		b.Touch()
	}
	if m := f.o.Counters; m != nil {
		if b != nil {
			m.CacheHits.Add(1)
		} else {
			m.CacheMisses.Add(1)
		}
	}
	return b
}

// read reads the block into b.scratch, and decodes it only if the cache takes it.
func (b *Block) read(noFill bool) (err error) {
	f, s := b.f, b.scratch
	b.admits = f.cached != nil && f.admits(b.n, noFill)
	// A mapped file can be truncated after its checksum is compared. A copy cannot change.
	s.copies = f.Mapped != nil && (b.admits || !f.o.SkipChecksums)
	if b.contents, err = f.readData(b.n, s); err != nil || !b.admits || !f.cache.fits(len(b.contents)) {
		return err
	}
	b.spare = entriesPool.Get().(*rowblock.Decoded)
	return b.decode(b.spare)
}

// decode decodes the contents into into's memory, unless there are too many entries.
func (b *Block) decode(into *rowblock.Decoded) error {
	f := b.f
	err := into.Decode(b.contents, f.o.Order)
	if errors.Is(err, rowblock.ErrTooMany) {
		return nil
	}
	if err != nil {
		return f.corruptData(b.n, err)
	}
	b.decoded, b.entries = true, *into
	n := b.entries.Len()
	if n == 0 {
		return nil
	}
	if err := f.checkLast(b.n, b.entries.Key(n-1)); err != nil {
		return err
	}
	return f.checkFirst(b.n, b.entries.Key(0))
}

// Get returns the value of key, and whether the block contains key. The value is valid until Release.
func (b *Block) Get(key []byte) (value []byte, found bool, err error) {
	f := b.f
	switch {
	case b.decoded:
		value, found = b.entries.Get(key)
	case b.checked != nil:
		if found = b.checked.SeekGE(key) && f.o.Order.Compare(b.checked.Key(), key) == 0; found {
			value = b.checked.Value()
		}
	default:
		var budget *rowblock.Budget // without a Func, Get rebuilds no keys
		if f.o.Order.Func != nil {
			budget = blockBudget(b.contents, f.KeyBudget)
		}
		var at rowblock.Place
		value, at, err = rowblock.Get(b.contents, f.o.Order, key, budget)
		switch found = at == rowblock.Found; {
		case err != nil:
			err = f.corruptData(b.n, err)
		case at == rowblock.Outside:
			err = b.checkPlace()
		}
	}
	return value, found, err
}

// manyKeys is the number of lookups for which checking the whole block first pays. A lookup in an unchecked block
// decodes half of the entries, to verify that the restart point where it starts is one.
const manyKeys = 8

// Prepare prepares the block for n calls of Get. If n is large and the block is not decoded, it checks the whole
// block. In a corrupt block, Get behaves as without Prepare.
func (b *Block) Prepare(n int) {
	if n < manyKeys || b.decoded {
		return
	}
	it := new(rowblock.Iter)
	if it.Open(b.contents, b.f.o.Order, blockBudget(b.contents, b.f.KeyBudget)) == nil && b.checkPlace() == nil {
		b.checked = it
	}
}

// SeekGE returns the first entry whose key is ≥ key, and whether there is one. It allocates at most memory bytes for
// keys that share bytes. If borrows is set, the key may lie in memory that Keep does not preserve.
func (b *Block) SeekGE(key []byte, memory int, borrows bool) (k, v []byte, found bool, err error) {
	if b.decoded {
		i := b.entries.SeekGE(key)
		if i == b.entries.Len() {
			return nil, nil, false, nil
		}
		return b.entries.Key(i), b.entries.Value(i), true, nil
	}
	var own []byte
	buf := &own
	if borrows {
		buf = &b.scratch.key
	}
	k, v, found, err = rowblock.SeekGE(buf, b.contents, b.f.o.Order, key, blockBudget(b.contents, memory))
	switch {
	case err != nil:
		err = b.f.corruptData(b.n, err)
	case found: // k ≥ key, which is > the separator before
		err = b.f.checkLast(b.n, k)
	default:
		err = b.checkPlace()
	}
	return k, v, found, err
}

// checkPlace checks, by their first key, that the contents belong to this data block. A disk may have written those
// of another one here, whose checksum is right too. Decoding a block checks it as well.
func (b *Block) checkPlace() error {
	parts, err := format.SplitBlock(b.contents)
	if err == nil && len(parts.Entries) == 0 {
		return nil
	}
	e, decodes := format.DecodeEntry(parts.Entries, 0)
	if err = cmp.Or(err, decodes); err != nil {
		return b.f.corruptData(b.n, err)
	}
	key := parts.Entries[e.Key:e.Value]
	return cmp.Or(b.f.checkLast(b.n, key), b.f.checkFirst(b.n, key))
}

// Lasts reports whether results of Get and SeekGE stay valid after Release, because they lie in the cache.
func (b *Block) Lasts() bool { return b.scratch == nil }

// Keep returns key and value, which Get or SeekGE returned, in memory that stays valid after Release. If they are a
// large part of the block's memory, the pool loses that memory. Otherwise they are copied.
func (b *Block) Keep(key, value []byte) (k, v []byte) {
	s := b.scratch
	if s == nil {
		return key, value
	}
	memory := &s.stored
	if s.compressed {
		memory = &s.decompressed
	}
	copies := s.inSource || len(key)+len(value) < cap(*memory)/4
	if copies || b.decoded { // then the key is in spare, not in the contents
		key = slices.Clip(bytes.Clone(key))
	}
	if copies {
		return key, slices.Clip(bytes.Clone(value))
	}
	*memory = nil
	return key, value
}

// Admit adds the block to the Cache, if the Cache takes it and it fits. b then uses the entries in the Cache.
// Callers call it after a lookup without errors, but not after a filter's false positive.
func (b *Block) Admit() {
	if f := b.f; b.admits && b.decoded && f.cache.fits(b.entries.CachedSize()) {
		c := b.entries.ForCache()
		b.entries, b.contents = c.Block(f.o.Order), nil
		f.cache.add(&cacheEntry{block: c, file: f.cachedFile, counts: f.o.Counters, number: b.n})
	}
	b.admits = false
}

// Release ends the use of the block.
func (b *Block) Release() {
	if b.spare != nil {
		entriesPool.Put(b.spare)
	}
	if b.scratch != nil {
		b.scratch.Put()
	}
}

// blockBudget returns the budget for searching a block with these decompressed contents. It bounds the memory for
// keys that share bytes and, for an order that compares whole keys, the bytes compared. Each key is compared with
// the key before. In a block by block.Writer, the keys together are at most 257 times as long as the block. Other
// engines exceed that only if hundreds of long keys follow a restart point.
func blockBudget(contents []byte, memory int) *rowblock.Budget {
	return &rowblock.Budget{Memory: memory, Compared: 64<<10 + 1024*int64(len(contents))}
}

// checkFirst checks that key, the first key of data block i, is > the separator before it. Together with checkLast
// it ensures that keys ascend across blocks.
func (f *File) checkFirst(i int, key []byte) error {
	if i == 0 {
		return nil
	}
	if s := f.Index.Separator(i - 1); f.o.Order.Compare(s, key) >= 0 {
		return f.misplaced(i, "first key %s is not greater than the separator before, %s", format.Quote(key), format.Quote(s))
	}
	return nil
}

// checkLast checks that key, usually the last key of data block i, is ≤ the block's separator.
func (f *File) checkLast(i int, key []byte) error {
	if s := f.Index.Separator(i); f.o.Order.Compare(key, s) > 0 {
		return f.misplaced(i, "key %s is greater than its separator, %s", format.Quote(key), format.Quote(s))
	}
	return nil
}

// misplaced returns the error for data block i with a key outside its separators.
func (f *File) misplaced(i int, message string, args ...any) error {
	return f.corruptData(i, format.Disorder(fmt.Sprintf(message, args...)))
}

// corruptData returns the error for err, found in data block i.
func (f *File) corruptData(i int, err error) error {
	h, _ := f.Index.Handle(i) // which was checked before the block was read
	return f.Damaged(DataBlock, h, err)
}
