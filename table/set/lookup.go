package set

import (
	"sync/atomic"
	"unsafe"
)

// A lookup is a use of an open table by Get or MayContain. Goroutines that look up the same table at
// the same time would wait for each other's changes of the reference count. So from the first such
// time on, each lookup counts in one of several stripes.
type lookup struct {
	*resident
	stripe *stripe // nil: it holds a reference
}

const (
	stripesLg = 4 // log2 of stripes
	stripes   = 1 << stripesLg
)

// A stripe counts lookups. It has the size of what processors share, two cache lines.
type stripe struct {
	n atomic.Int64
	_ [128 - 8]byte
}

// beginLookup returns a lookup of the table, which ends it. It returns false if the table is not open.
func (m *member) beginLookup() (l lookup, ok bool) {
	r := m.resident.Load()
	if r == nil {
		return lookup{}, false
	}
	r.touch()
	all := r.stripes.Load()
	if all == nil {
		acquired, alone := r.refs.TryAcquire()
		if alone {
			return lookup{resident: r}, acquired
		}
		r.stripes.CompareAndSwap(nil, new([stripes]stripe))
		all = r.stripes.Load()
	}
	l = lookup{r, &all[ownStripe()]}
	l.stripe.n.Add(1)
	if r.dropped.Load() {
		l.leave()
		return lookup{}, false
	}
	return l, true
}

// ownStripe returns a number < stripes that is most often another one in another goroutine: each has
// its stack elsewhere, in pieces of at least 2 KiB.
func ownStripe() uintptr {
	var here byte
	const golden = 0x9E3779B97F4A7C15 // it mixes all bits into the upper ones
	return uintptr(uint64(uintptr(unsafe.Pointer(&here))>>11) * golden >> (64 - stripesLg))
}

// end ends the lookup.
func (l lookup) end() {
	l.recount()
	if l.stripe == nil {
		l.releaseCounted()
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

// endStripes drops the table's reference to a Reader that is dropped, if no lookup is in a stripe. None
// begins any more: one that comes sees that it is dropped. So stripes that are found empty one after
// the other are all empty.
func (r *resident) endStripes() {
	if all := r.stripes.Load(); all != nil {
		for i := range all {
			if all[i].n.Load() != 0 {
				return
			}
		}
	}
	if r.released.CompareAndSwap(false, true) {
		r.releaseCounted()
	}
}
