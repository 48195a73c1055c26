package table

import (
	"bytes"
	"context"
	"iter"
	"math"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table/layout"
)

// An Iter iterates over the entries of a table in both directions. A new Iter is before the first entry. If there is
// no entry, Key and Value are nil.
//
//	it := r.NewIter(nil)
//	defer it.Close()
//	for ok := it.SeekGE(from); ok; ok = it.Next() {
//		... it.Key(), it.Value() ...
//	}
//	return it.Error()
//
// If a block is corrupt or cannot be read, the move returns false until First, Last or a seek succeeds: see
// [IterOptions].OnLoss. An Iter must not be used concurrently.
type Iter struct {
	t                    *openTable
	lower, upper         []byte
	filterKey            []byte // the filter key or prefix to check filters for; nil: none
	firstBlock, endBlock int    // the data blocks ≥ firstBlock and < endBlock can have entries to show

	loaded             int           // the cursor's block; −1 before the first, N after the last
	block              layout.Handle // of loaded, once Block was called; else zero
	c                  tablefile.Cursor
	lowerPos, upperPos int // cursor positions ≥ lowerPos and < upperPos are within the bounds
	valid              bool
	err                error

	// Next and Prev need no checks to move to entry i of a decoded block if fastFrom <= i < fastTo. The range is
	// empty if the Iter is at no entry.
	fastFrom, fastTo int

	memory    *tablefile.Memory // nil until a block is read
	onLoss    func(Loss) bool
	ctx       context.Context
	readAhead int
	keyBudget int // bytes of memory that may still be taken for keys

	// A merge.Iter compares each key with other Iters' keys before it moves on, so it would wait for each cache line
	// of a cached block's keys. If merged is set, they are fetched all at once.
	merged  bool
	fetched uint32 // never read: see rowblock.Decoded.FetchKeys
}

// NewIter returns an Iter before the first entry. If o is nil, it iterates over all entries. The Iter copies the
// slices of o. Its Close leaves its memory to later Iters. An Iter may be copied before its first move.
func (r *Reader) NewIter(o *IterOptions) *Iter {
	it := new(Iter) // here, so that the compiler can keep it on the caller's stack
	it.init(r, o)
	return it
}

// init initializes a new Iter.
func (it *Iter) init(r *Reader, o *IterOptions) {
	t, err := r.table()
	if err != nil {
		t = brokenTable(&r.closed, err)
	}
	it.t, it.ctx, it.loaded, it.c.I, it.fastFrom = t, r.lookups.Ctx, -1, -1, math.MaxInt
	it.c.NoFill = r.lookups.NoFill
	it.endBlock, it.keyBudget = t.file.Index.N, t.file.KeyBudget
	if o != nil && err == nil {
		it.lower, it.upper = t.bounds(o)
		it.c.NoFill, it.onLoss = it.c.NoFill || o.DontFillCache, o.OnLoss
		it.filterKey = bytes.Clone(o.FilterKey)
		scope := wholeTable
		if it.filterKey == nil {
			it.filterKey, scope = bytes.Clone(t.sieve.storedPrefix(o.Prefix)), wholeTableByStart
		}
		if it.filterKey == nil {
			it.filterKey = t.boundsPrefix(it.lower, it.upper)
		}
		if err := it.boundBlocks(scope); err != nil {
			it.t = brokenTable(&r.closed, err)
		}
		it.readAhead = min(max(o.ReadAhead, 0), tablefile.MaxReadSize)
	}
}

// brokenTable returns the table of an Iter whose moves all fail with err.
func brokenTable(closed *atomic.Bool, err error) *openTable {
	t := &openTable{hidden: err}
	t.file.InitBroken(closed)
	return t
}

// closedTable is the table of a closed Iter.
var closedTable = brokenTable(new(atomic.Bool), ErrClosed)

// Valid reports whether the Iter is at an entry.
func (it *Iter) Valid() bool { return it.valid }

// Key returns the entry's key until the next move. Do not modify it.
func (it *Iter) Key() []byte { return it.c.Key() }

// Value returns the entry's value until the next move. Do not modify it.
func (it *Iter) Value() []byte { return it.c.Value() }

// Block returns the Handle of the entry's data block, for tools.
func (it *Iter) Block() layout.Handle {
	if !it.valid {
		return layout.Handle{}
	}
	if it.block.Length == 0 {
		it.t.file.Mapped.Guard(func() error {
			h, err := it.t.file.Index.Handle(it.loaded)
			it.block = layout.Handle(h)
			return err
		})
	}
	return it.block
}

// Error returns why the last move failed, or nil.
func (it *Iter) Error() error { return it.err }

// Close returns Error. Afterwards moves, Error and Close fail with ErrClosed.
func (it *Iter) Close() error {
	err := it.err
	if it.memory != nil {
		it.memory.Put()
	}
	*it = Iter{} // separately: for one literal, the compiler would build another Iter and copy it
	it.t, it.loaded, it.c.I, it.fastFrom, it.err = closedTable, -1, -1, math.MaxInt, ErrClosed
	return err
}

// PrepareMerge makes moves faster if the Iter is merged with others, and slower if it is not. New of package
// table/merge calls it.
func (it *Iter) PrepareMerge() { it.merged = true }

// First moves to the first entry, and returns Valid.
func (it *Iter) First() bool {
	if it.lower != nil {
		return it.SeekGE(it.lower)
	}
	return it.load(0) && it.forward(it.c.First())
}

// Last moves to the last entry, and returns Valid.
func (it *Iter) Last() bool {
	if it.upper != nil {
		return it.SeekLT(it.upper)
	}
	return it.load(it.t.file.Index.N-1) && it.backward(it.c.Last())
}

// SeekGE moves to the first entry >= key, and returns Valid.
func (it *Iter) SeekGE(key []byte) bool {
	if it.t.refused != nil {
		return it.failUnordered()
	}
	if it.lower != nil && it.compare(key, it.lower) < 0 {
		key = it.lower
	}
	i, key, err := it.search(key)
	if err != nil {
		return it.fail(err)
	}
	return it.load(i) && it.forward(it.c.SeekGE(key))
}

// SeekLT moves to the last entry < key, and returns Valid.
func (it *Iter) SeekLT(key []byte) bool {
	if it.t.refused != nil {
		return it.failUnordered()
	}
	if it.upper != nil && it.compare(key, it.upper) > 0 {
		key = it.upper
	}
	i, key, err := it.search(key)
	if err != nil {
		return it.fail(err)
	}
	return it.load(min(i, it.t.file.Index.N-1)) && it.backward(it.c.SeekLT(key))
}

// search returns the data block to seek key in, and key itself. If key may be in the
// buffers, which loading that block overwrites, it returns a copy.
func (it *Iter) search(key []byte) (i int, safe []byte, err error) {
	if i, err = it.t.search(key); err != nil {
		return 0, nil, err
	}
	if it.valid && i != it.loaded {
		m := it.blockMemory()
		m.SeekKey = append(m.SeekKey[:0], key...)
		key = m.SeekKey
	}
	return i, key, nil
}

// Next moves to the next entry, and returns Valid.
func (it *Iter) Next() bool {
	if i := it.c.I + 1; i < it.fastTo {
		it.c.I = i
		return true
	}
	return it.next()
}

func (it *Iter) next() bool {
	switch {
	case it.valid:
		return it.forward(it.c.Next())
	case it.loaded < 0 && it.err == nil:
		return it.First()
	}
	return false
}

// Prev moves to the previous entry, and returns Valid.
func (it *Iter) Prev() bool {
	if i := it.c.I - 1; i >= it.fastFrom {
		it.c.I = i
		return true
	}
	return it.prev()
}

func (it *Iter) prev() bool {
	switch {
	case it.valid:
		return it.backward(it.c.Prev())
	case it.loaded >= it.t.file.Index.N && it.err == nil:
		return it.Last()
	}
	return false
}

// An Entry is valid until the loop's next iteration. Do not modify it.
type Entry struct{ Key, Value []byte }

// All returns the entries of an Iter with the options o. If o is nil, it returns all entries. An error comes last,
// alone.
//
//	for e, err := range r.All(nil) {
//		if err != nil { return err }
//		... e.Key, e.Value ...
//	}
func (r *Reader) All(o *IterOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		it := r.NewIter(o)
		defer it.Close() // its error is the last move's
		for ok := it.First(); ok; ok = it.Next() {
			if !yield(Entry{it.Key(), it.Value()}, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(Entry{}, err)
		}
	}
}
