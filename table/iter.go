package table

import (
	"bytes"
	"iter"
	"math"

	"github.com/sievetable/sievetable/block"
)

// IterOptions say which entries an Iter shows. Zero values are the defaults.
type IterOptions struct {
	Lower []byte // the first key shown, or the next one above it. nil: no bound
	Upper []byte // no key from here on is shown. nil: no bound
}

// An Iter moves over the entries of a table, in both directions. A new one is
// before the first entry: Next moves to it. It serves one goroutine at a time;
// any number of Iters may be on the same Reader.
//
//	it := r.NewIter(nil)
//	defer it.Close()
//	for ok := it.SeekGE(from); ok; ok = it.Next() {
//		… it.Key(), it.Value() …
//	}
//	return it.Error()
//
// A move that fails, because a block cannot be read or is damaged, returns
// false, and Error returns why. Next and Prev then fail too, until First, Last,
// SeekGE or SeekLT has found a place to go on from. What is behind a damaged
// block is reached by seeking a key beyond it, or from the other end.
type Iter struct {
	r            *Reader
	lower, upper []byte

	at    int // the data block that is loaded; −1 and the index's len stand for before and after all of them
	it    block.Iter
	from  int // where in the block the first entry within the bounds starts,
	to    int // and where the last one ends
	valid bool
	err   error

	buffers buffers
	target  []byte // a key that is sought, if it may be a part of the buffers
	room    int    // memory that may still be taken for keys
}

// NewIter returns an Iter before the first entry. nil options show everything.
// The bounds are copied.
func (r *Reader) NewIter(o *IterOptions) *Iter {
	it := &Iter{r: r, at: -1, room: dataKeyBudget.of(r.footerOffset)}
	if o != nil {
		it.lower, it.upper = bytes.Clone(o.Lower), bytes.Clone(o.Upper)
	}
	return it
}

// closedReader stands in for a closed Iter's Reader.
var closedReader = func() *Reader {
	r := &Reader{index: new(index)}
	r.closed.Store(true)
	return r
}()

// Valid reports whether the Iter is at an entry.
func (it *Iter) Valid() bool { return it.valid }

// Key returns the entry's key. It is valid until the next move, and must not be
// changed.
func (it *Iter) Key() []byte { return it.it.Key() }

// Value returns the entry's value. It is valid until the next move, and must not
// be changed.
func (it *Iter) Value() []byte { return it.it.Value() }

// Error returns why the last move failed, or nil if it found an entry or the
// end.
func (it *Iter) Error() error { return it.err }

// Close releases the Iter's memory and returns Error. Every move is ErrClosed
// from then on.
func (it *Iter) Close() error {
	err := it.err
	*it = Iter{r: closedReader, at: -1, err: ErrClosed}
	return err
}

// All returns the entries from the first to the last, for a range loop. Keys
// and values are valid until the next turn. Check Error after the loop.
func (it *Iter) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		for ok := it.First(); ok; ok = it.Next() {
			if !yield(it.Key(), it.Value()) {
				return
			}
		}
	}
}

// First moves to the first entry. Like all moves it returns Valid.
func (it *Iter) First() bool {
	if it.lower != nil {
		return it.SeekGE(it.lower)
	}
	return it.load(0) && it.forward(it.it.First())
}

// Last moves to the last entry.
func (it *Iter) Last() bool {
	if it.upper != nil {
		return it.SeekLT(it.upper)
	}
	return it.load(it.r.index.len()-1) && it.backward(it.it.Last())
}

// SeekGE moves to the first entry whose key is at least key, which may be a part
// of Key.
func (it *Iter) SeekGE(key []byte) bool {
	if it.lower != nil && it.order(key, it.lower) < 0 {
		key = it.lower
	}
	i, key := it.search(key)
	return it.load(i) && it.forward(it.it.SeekGE(key))
}

// SeekLT moves to the last entry whose key is below key, which may be a part of
// Key.
func (it *Iter) SeekLT(key []byte) bool {
	if it.upper != nil && it.order(key, it.upper) > 0 {
		key = it.upper
	}
	i, key := it.search(key)
	return it.load(min(i, it.r.index.len()-1)) && it.backward(it.it.SeekLT(key))
}

// search returns the data block that key is to be sought in, and key in memory
// that survives loading it.
func (it *Iter) search(key []byte) (int, []byte) {
	i := it.r.index.search(key)
	if it.valid && i != it.at {
		it.target = append(it.target[:0], key...)
		key = it.target
	}
	return i, key
}

// Next moves to the next entry, from before the first one to the first one, and
// from the last one to after it.
func (it *Iter) Next() bool {
	switch {
	case it.valid:
		return it.forward(it.it.Next())
	case it.at < 0 && it.err == nil:
		return it.First()
	}
	return false
}

// Prev moves to the entry before, from after the last one to the last one, and
// from the first one to before it.
func (it *Iter) Prev() bool {
	switch {
	case it.valid:
		return it.backward(it.it.Prev())
	case it.at >= it.r.index.len() && it.err == nil:
		return it.Last()
	}
	return false
}

// forward ends a move that goes up: found says whether it ended at an entry of
// the loaded block. If not, the entry is the first one of the blocks to come.
func (it *Iter) forward(found bool) bool {
	for !found {
		if !it.load(it.at + 1) {
			return false
		}
		found = it.it.First()
	}
	if it.it.Offset() >= it.to {
		return it.leave(it.r.index.len())
	}
	it.valid, it.err = true, nil
	return true
}

// backward ends a move that goes down, as forward does one that goes up.
func (it *Iter) backward(found bool) bool {
	for !found {
		if !it.load(it.at - 1) {
			return false
		}
		found = it.it.Last()
	}
	if it.it.Offset() < it.from {
		return it.leave(-1)
	}
	it.valid, it.err = true, nil
	return true
}

// leave moves to before the first block or after the last one.
func (it *Iter) leave(at int) bool {
	it.at, it.valid, it.err = at, false, nil
	it.it.Reset(block.Block{})
	return false
}

// load makes data block i the current one. It reports false for a block that is
// not there, which it moves to, and for one that cannot be read.
func (it *Iter) load(i int) bool {
	it.valid = false
	switch {
	case it.r.closed.Load():
		return it.fail(ErrClosed)
	case i < 0:
		return it.leave(-1)
	case i >= it.r.index.len():
		return it.leave(it.r.index.len())
	case i == it.at:
		it.err = errPanicked // until the move is made
		return true
	}
	it.at, it.err = -1, errPanicked // the block that was loaded is lost
	if err := it.r.openData(i, &it.buffers, &it.it, &it.room); err != nil {
		return it.fail(err)
	}
	it.bound(i)
	it.at = i
	return true
}

// bound finds the bounds in data block i, which is open, once for all moves in
// it.
func (it *Iter) bound(i int) {
	it.from, it.to = 0, math.MaxInt
	if it.lower == nil && it.upper == nil {
		return
	}
	index := it.r.index
	if it.lower != nil && (i == 0 || it.order(index.separator(i-1), it.lower) < 0) {
		it.it.SeekGE(it.lower)
		it.from = it.it.Offset()
	}
	if it.upper != nil && it.order(index.separator(i), it.upper) >= 0 && it.it.SeekGE(it.upper) {
		it.to = it.it.Offset()
	}
	it.it.First() // a key in the Iter's buffer would make the next seek copy its own
}

// fail ends a move with an error. No block is loaded then.
func (it *Iter) fail(err error) bool {
	it.leave(-1)
	it.err = err
	return false
}

func (it *Iter) order(a, b []byte) int { return it.r.index.order(a, b) }
