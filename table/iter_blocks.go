package table

import "math"

// This is how an Iter goes from block to block, and stays within its bounds.

// forward ends a move that goes up: found says whether it ended at an entry of
// the loaded block. If not, the entry is the first one of the blocks to come.
func (it *Iter) forward(found bool) bool {
	for !found {
		if !it.load(it.at + 1) {
			return false
		}
		found = it.c.first()
	}
	if it.c.number() >= it.to {
		return it.leave(it.r.index.len())
	}
	return it.arrive()
}

// backward ends a move that goes down, as forward does one that goes up.
func (it *Iter) backward(found bool) bool {
	for !found {
		if !it.load(it.at - 1) {
			return false
		}
		found = it.c.last()
	}
	if it.c.number() < it.from {
		return it.leave(-1)
	}
	return it.arrive()
}

// arrive ends a move at an entry.
func (it *Iter) arrive() bool {
	it.valid, it.err = true, nil
	if it.c.decoded {
		it.low, it.high = it.from, min(it.to, it.c.entries.Len())
	}
	return true
}

// depart makes the Iter be at no entry.
func (it *Iter) depart() {
	it.valid, it.low, it.high = false, math.MaxInt, 0
}

// leave moves to before the first block or after the last one.
func (it *Iter) leave(at int) bool {
	it.depart()
	it.at, it.err = at, nil
	it.c.reset()
	return false
}

// load makes data block i the current one. It reports false for a block that is
// not there, which it moves to, and for one that cannot be read.
func (it *Iter) load(i int) bool {
	it.depart()
	switch {
	case it.r.closed.Load():
		return it.fail(ErrClosed)
	case it.r.order.Unchecked && (it.lower != nil || it.upper != nil):
		return it.refuse()
	case i < it.begin:
		return it.leave(-1)
	case i >= it.end:
		return it.leave(it.r.index.len())
	case i == it.at:
		it.err = errPanicked // until the move is made
		return true
	}
	forward := i == it.at+1
	it.at, it.err = -1, errPanicked // the block that was loaded is lost
	if may, _ := it.r.blockMayContain(i, it.filterKey); !may {
		it.c.openNone()
		it.from, it.to, it.at = 0, math.MaxInt, i
		return true
	}
	if forward {
		it.buffers.ahead.prepare(it.r, i, it.end)
	}
	if err := it.c.open(it.r, i, &it.buffers, &it.room); err != nil {
		return it.fail(err)
	}
	it.bound(i)
	it.at = i
	return true
}

// boundBlocks finds the data blocks that can have something to show.
func (it *Iter) boundBlocks() {
	if it.lower != nil {
		it.begin = it.r.index.search(it.lower)
	}
	if it.upper != nil {
		it.end = min(it.r.index.search(it.upper)+1, it.end)
	}
	if may, _ := it.r.tableMayContain(it.filterKey); !may {
		it.end = 0
	}
}

// bound finds the bounds in data block i, which is open, once for all moves in
// it: they can be in the first and the last of the blocks only.
func (it *Iter) bound(i int) {
	it.from, it.to = 0, math.MaxInt
	if it.lower != nil && i == it.begin {
		it.c.seekGE(it.lower)
		it.from = it.c.number()
	}
	if it.upper != nil && i == it.end-1 && it.c.seekGE(it.upper) {
		it.to = it.c.number()
	}
	it.c.first() // a key in the cursor's buffer would make its next seek copy the one sought
}

// fail ends a move with an error. No block is loaded then.
func (it *Iter) fail(err error) bool {
	it.leave(-1)
	it.err = err
	return false
}

// refuse ends a move that would look for a key where keys are in an unknown order.
func (it *Iter) refuse() bool {
	if it.r.closed.Load() {
		return it.fail(ErrClosed)
	}
	return it.fail(errAnyOrder)
}

func (it *Iter) order(a, b []byte) int { return it.r.index.order.Compare(a, b) }
