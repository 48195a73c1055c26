package goleveldb

import (
	"errors"
	"sync"

	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// NewIterator returns an iterator over the entries in slice, or over all entries if slice is nil. If Start or Limit
// is nil, that side has no bound. slice must not change until the iterator is released. ro may be nil. The iterator
// implements iterator.ErrorCallbackSetter, unless it has an error from the start, as in goleveldb.
//
// At a corrupt data block, the iterator fails if opt.StrictReader is set. Otherwise it calls the callback and
// continues with the next block, and Error returns nil. Other errors always end it.
//
// An iterator must not be used concurrently. Key and Value are valid until the next move or Release.
func (r *Reader) NewIterator(slice *util.Range, ro *opt.ReadOptions) iterator.Iterator {
	if r.released.Load() {
		return iterator.NewEmptyIterator(ErrReaderReleased)
	}
	i := &tableIterator{iteration: iterations.Get().(*iteration)}
	i.r, i.slice = r, slice
	i.noFill, i.strict = ro.GetDontFillCache(), opt.GetStrict(r.o, ro, opt.StrictReader)
	open := r.toList
	if i.bounded() {
		open = r.toSearch
	}
	t, err := open()
	if err != nil {
		i.Release()
		return iterator.NewEmptyIterator(err)
	}
	i.begin(t)
	return i
}

// A tableIterator is an iterator over a table. Most of its state is an iteration, which Release gives to the next
// iterator.
type tableIterator struct {
	util.BasicReleaser
	*iteration
	err error // after it, no move succeeds
}

// An iteration is the state of a tableIterator until Release.
type iteration struct {
	it table.Iter

	r        *Reader
	slice    *util.Range
	noFill   bool
	strict   bool
	ordered  bool            // whether the iterator compares keys
	callback func(err error) // nil if there is none

	onLoss func(table.Loss) bool // skips
}

var iterations = sync.Pool{New: func() any {
	i := new(iteration)
	i.onLoss = i.skips
	return i
}}

// released is the iteration of all released iterators. It does not change.
var released = func() *iteration {
	i := new(iteration)
	i.it.Close() // an Iter that has not moved has no error
	return i
}()

// bounded reports whether the iterator has a lower or upper bound.
func (i *iteration) bounded() bool {
	return i.slice != nil && (i.slice.Start != nil || i.slice.Limit != nil)
}

// scanAhead is the number of bytes that an iterator reads at once if it does not fill the cache. Most such iterators
// are scans, as in compactions.
const scanAhead = 64 << 10

// begin places the iterator before the first entry of t.
func (i *iteration) begin(t *table.Reader) {
	o := table.IterOptions{DontFillCache: i.noFill, OnLoss: i.onLoss}
	if i.noFill {
		o.ReadAhead = scanAhead
	}
	if i.slice != nil {
		o.Lower, o.Upper = i.slice.Start, i.slice.Limit
	}
	i.it, i.ordered = *t.NewIter(&o), t == i.r.ordered.opened.Load()
}

// skips reports whether the iterator continues after a corrupt block.
func (i *iteration) skips(l table.Loss) bool {
	damage := l.Err.(*table.CorruptionError)
	if i.strict || i.disordered(damage) {
		return false
	}
	i.report(i.r.translate(damage))
	return true
}

// disordered reports whether err is not corruption, since the iterator can continue without comparing keys.
func (i *iteration) disordered(err error) bool {
	return i.ordered && !i.bounded() && i.r.isDisorder(err)
}

func (i *iteration) report(err error) {
	if i.callback != nil {
		i.callback(err)
	}
}

// SetErrorCallback sets a function that is called with each error, also for corruption that is skipped. Nil clears
// it.
func (i *tableIterator) SetErrorCallback(f func(err error)) {
	if !i.Released() {
		i.callback = f
	}
}

// First moves to the first entry.
func (i *tableIterator) First() bool {
	return i.usable() && (i.it.First() || i.end((*table.Iter).First, (*table.Iter).Next))
}

// Last moves to the last entry.
func (i *tableIterator) Last() bool {
	return i.usable() && (i.it.Last() || i.end((*table.Iter).Last, (*table.Iter).Prev))
}

// Seek moves to the first entry whose key is >= key.
func (i *tableIterator) Seek(key []byte) bool {
	if !i.usable() {
		return false
	}
	if !i.ordered {
		i.it.Close() // returns only an error that a move has returned
		t, err := i.r.toSearch()
		if err != nil {
			return i.fail(err)
		}
		i.begin(t)
	}
	return i.it.SeekGE(key) || i.end(nil, nil)
}

// Next moves to the next entry, or the first one if the iterator is new.
func (i *tableIterator) Next() bool {
	return i.it.Next() || i.usable() && i.end((*table.Iter).First, (*table.Iter).Next)
}

// Prev moves to the previous entry, or to the last one if the iterator is past it.
func (i *tableIterator) Prev() bool {
	return i.it.Prev() || i.usable() && i.end((*table.Iter).Last, (*table.Iter).Prev)
}

// usable reports whether the iterator can move.
func (i *tableIterator) usable() bool {
	if i.err == nil && i.Released() {
		i.err = ErrIterReleased
	}
	return i.err == nil
}

// end ends a move that has found no entry, and reports whether it finds one in another way. first and next are moves
// in its direction, or nil if the move needs the key order.
func (i *tableIterator) end(first, next func(*table.Iter) bool) bool {
	err := i.it.Error()
	if err == nil {
		return false
	}
	var damage *table.CorruptionError
	if first != nil && i.disordered(err) && errors.As(err, &damage) && damage.Block == layout.DataBlock {
		return i.continueAt(damage.Offset, first, next)
	}
	err = i.r.translate(err)
	i.report(err)
	return i.fail(err)
}

// continueAt moves to the data block at offset without comparing keys, as goleveldb does in all moves except Seek.
// The table's order differs from the comparer's if, for example, the keys are internal keys and the comparer is for
// user keys.
func (i *tableIterator) continueAt(offset int64, first, next func(*table.Iter) bool) bool {
	t, err := i.r.listed.open(i.r)
	if err != nil {
		return i.fail(i.r.translate(err))
	}
	callback := i.callback
	i.callback = nil // it has already received all errors
	i.it.Close()     // returns only an error that a move has returned
	i.begin(t)
	ok := first(&i.it)
	for ok && int64(i.it.Block().Offset) != offset {
		ok = next(&i.it)
	}
	i.callback = callback
	return ok || i.end(nil, nil)
}

func (i *tableIterator) fail(err error) bool {
	i.err = err
	return false
}

// Valid reports whether the iterator is at an entry.
func (i *tableIterator) Valid() bool { return i.it.Valid() }

// Key returns the key of the entry, or nil if there is none. The caller must not modify it.
func (i *tableIterator) Key() []byte { return i.it.Key() }

// Value returns the value of the entry, or nil if there is none. The caller must not modify it.
func (i *tableIterator) Value() []byte { return i.it.Value() }

// Error returns the error that ended the iterator, or nil. Reaching the end is not an error.
func (i *tableIterator) Error() error { return i.err }

// Release releases the iterator, and calls the releaser that SetReleaser has set.
func (i *tableIterator) Release() {
	if i.Released() {
		return
	}
	i.it.Close()                             // returns only an error that a move has returned
	i.r, i.slice, i.callback = nil, nil, nil // NewIterator sets the rest
	iterations.Put(i.iteration)
	i.iteration = released
	i.BasicReleaser.Release()
}
