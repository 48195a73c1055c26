package table

import (
	"bytes"
	"iter"
	"math"
)

// IterOptions say which entries an Iter shows. Zero values are the defaults.
type IterOptions struct {
	// Bounds are in the table's order: of internal keys, that before all versions of
	// a user's key is SeekKey(nil, user, MaxSequence).
	Lower []byte // the first key shown, or the next one above it. nil: no bound
	Upper []byte // no key from here on is shown. nil: no bound

	// Filter is what FilterKey makes of all keys that matter: blocks that the
	// filters rule out for it are not read, and all of the table is not if its
	// whole filter does. Keys that FilterKey makes something else of are shown or
	// left out as it happens: set Lower and Upper too. To scan the versions of a
	// user's key it is that key. To scan a prefix, FilterKey must be a prefix, and
	// Get and Find then ask for the prefix alone. nil: no filter is asked.
	Filter []byte

	// NoFill has blocks that are read leave the Cache as it is: for scans of what
	// is not asked for again soon, such as compactions.
	NoFill bool

	// ReadAhead is how many bytes are read at once when Next goes from block to
	// block, at least the block: as many as make a read worth its while, where the
	// source takes its time for each, up to 1 GiB. They stay in memory until the
	// Iter is closed. If such a read fails, blocks are read one by one from then on.
	// 0 and below: each block is read by itself.
	ReadAhead int
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
	filterKey    []byte // what the filters are checked for; nil: they are not
	begin, end   int    // the data blocks that can have something to show, up to before end

	at    int // the data block that is loaded; −1 and the index's len stand for before and after all of them
	c     cursor
	from  int // the number of the block's first entry within the bounds,
	to    int // and that behind the last one
	valid bool
	err   error

	// Next and Prev that stay between these take the short way: both are within
	// the bounds and the cursor's entries, or there is nothing between them.
	low, high int

	buffers buffers
	target  []byte // a key that is sought, if it may be a part of the buffers
	room    int    // memory that may still be taken for keys
}

// NewIter returns an Iter before the first entry. nil options show everything.
// The bounds are copied.
func (r *Reader) NewIter(o *IterOptions) *Iter {
	it := &Iter{r: r, at: -1, c: cursor{i: -1}, low: math.MaxInt, end: r.index.len(), room: dataKeyBudget.of(r.footerOffset)}
	if o != nil {
		it.lower, it.upper = bytes.Clone(o.Lower), bytes.Clone(o.Upper)
		it.filterKey = bytes.Clone(o.Filter)
		it.boundBlocks()
		it.buffers.ahead.most = min(max(o.ReadAhead, 0), maxAtOnce)
		it.c.noFill = o.NoFill
	}
	return it
}

// closedReader stands in for a closed Iter's Reader.
var closedReader = func() *Reader {
	r := &Reader{tableFile: tableFile{index: new(index)}}
	r.closed.Store(true)
	return r
}()

// Valid reports whether the Iter is at an entry.
func (it *Iter) Valid() bool { return it.valid }

// Key returns the entry's key. It is valid until the next move, and must not be
// changed.
func (it *Iter) Key() []byte { return it.c.key() }

// Value returns the entry's value. It is valid until the next move, and must not
// be changed.
func (it *Iter) Value() []byte { return it.c.value() }

// Block returns where the data block of the entry is in the file: for tools. It is zero
// if there is no entry.
func (it *Iter) Block() Handle {
	if !it.valid {
		return Handle{}
	}
	return it.r.index.handles[it.at]
}

// Error returns why the last move failed, or nil if it found an entry or the
// end.
func (it *Iter) Error() error { return it.err }

// Close releases the Iter's memory and returns Error. Every move is ErrClosed
// from then on.
func (it *Iter) Close() error {
	err := it.err
	*it = Iter{r: closedReader, at: -1, c: cursor{i: -1}, low: math.MaxInt, err: ErrClosed}
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
	return it.load(0) && it.forward(it.c.first())
}

// Last moves to the last entry.
func (it *Iter) Last() bool {
	if it.upper != nil {
		return it.SeekLT(it.upper)
	}
	return it.load(it.r.index.len()-1) && it.backward(it.c.last())
}

// SeekGE moves to the first entry whose key is at least key, which may be a part
// of Key.
func (it *Iter) SeekGE(key []byte) bool {
	if it.r.order.Unchecked {
		return it.refuse()
	}
	if it.lower != nil && it.order(key, it.lower) < 0 {
		key = it.lower
	}
	i, key := it.search(key)
	return it.load(i) && it.forward(it.c.seekGE(key))
}

// SeekLT moves to the last entry whose key is below key, which may be a part of
// Key.
func (it *Iter) SeekLT(key []byte) bool {
	if it.r.order.Unchecked {
		return it.refuse()
	}
	if it.upper != nil && it.order(key, it.upper) > 0 {
		key = it.upper
	}
	i, key := it.search(key)
	return it.load(min(i, it.r.index.len()-1)) && it.backward(it.c.seekLT(key))
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
	if i := it.c.i + 1; i < it.high {
		it.c.i = i
		return true
	}
	return it.next()
}

func (it *Iter) next() bool {
	switch {
	case it.valid:
		return it.forward(it.c.next())
	case it.at < 0 && it.err == nil:
		return it.First()
	}
	return false
}

// Prev moves to the entry before, from after the last one to the last one, and
// from the first one to before it.
func (it *Iter) Prev() bool {
	if i := it.c.i - 1; i >= it.low {
		it.c.i = i
		return true
	}
	return it.prev()
}

func (it *Iter) prev() bool {
	switch {
	case it.valid:
		return it.backward(it.c.prev())
	case it.at >= it.r.index.len() && it.err == nil:
		return it.Last()
	}
	return false
}
