package set

import (
	"sync/atomic"
	"unsafe"
)

// A lookup is a use of an open table by Get or MayContain. Goroutines that look up the same table at
// the same time would wait for each other if all counted their uses in one place. So from the first
// such time on, each counts in one of several stripes.
type lookup struct {
	*opened
	stripe *stripe // nil: it is one of the users
}

// stripes is the number of stripes, a power of 2.
const (
	stripesLg = 4
	stripes   = 1 << stripesLg
)

// A stripe counts lookups. It has the size that processors share.
type stripe struct {
	n atomic.Int64
	_ [128 - 8]byte
}

// beginLookup returns a lookup of the table, which ends it. It returns false if the table is not open.
func (m *member) beginLookup() (l lookup, ok bool) {
	o := m.opened.Load()
	if o == nil {
		return lookup{}, false
	}
	o.touch()
	all := o.stripes.Load()
	if all == nil {
		acquired, alone := o.users.tryAcquire()
		if alone {
			return lookup{opened: o}, acquired
		}
		o.stripes.CompareAndSwap(nil, new([stripes]stripe))
		all = o.stripes.Load()
	}
	l = lookup{o, &all[ownStripe()]}
	l.stripe.n.Add(1)
	if o.dropped.Load() {
		l.leave()
		return lookup{}, false
	}
	return l, true
}

// ownStripe returns a number below stripes that most often is another one in another goroutine: each
// has its stack elsewhere, in pieces of at least 2 KiB.
func ownStripe() uintptr {
	var here byte
	const golden = 0x9E3779B97F4A7C15 // it mixes all bits into the upper ones
	return uintptr(uint64(uintptr(unsafe.Pointer(&here))>>11) * golden >> (64 - stripesLg))
}

// end ends the lookup.
func (l lookup) end() {
	l.recount()
	if l.stripe == nil {
		l.endUse()
		return
	}
	l.leave()
}

// leave ends the lookup in its stripe.
func (l lookup) leave() {
	l.stripe.n.Add(-1)
	if l.dropped.Load() {
		l.endStripes()
	}
}

// endStripes ends the table's own use of a Reader that is dropped, if no lookup is in a stripe. None
// begins any more: one that comes sees that it is dropped. So who finds all stripes empty, one after
// the other, knows that they are.
func (o *opened) endStripes() {
	if all := o.stripes.Load(); all != nil {
		for i := range all {
			if all[i].n.Load() != 0 {
				return
			}
		}
	}
	if o.ended.CompareAndSwap(false, true) {
		o.endUse()
	}
}
