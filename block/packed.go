package block

import (
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/wire"
)

// Packed are entries in memory of their own, as small and as quick to search as
// can be: what a cache keeps. All is in one piece, this header, places, keys,
// values, and a lookup goes over it from the start on. Where a cache is larger
// than the processor's, each piece apart would cost a lookup an eighth to a third
// of its time, for the page of memory that has to be found first: that is what
// package unsafe is used for here, and for nothing else. There are no pointers in
// it, and none to it but through it.
//
// It is immutable but for the touch, and safe for concurrent use.
type Packed struct {
	n       uint16 // entries, up to maxEntries
	size    uint32 // of the text: keys, then values
	skip    int32  // as Entries have it
	touched atomic.Bool
	memory  uint32 // places that all of it takes
}

const placeSize = int(unsafe.Sizeof(place{}))

// A Packed is no larger than a place, or this does not compile.
const _ = uint(placeSize - int(unsafe.Sizeof(Packed{})))

// placesFor returns how many places take as much memory as size bytes, and some
// more: at least one, so that no pointer is to what is behind the memory.
func placesFor(size int) int { return size/placeSize + 1 }

// PackedSize returns how many bytes of memory Pack takes, or some more: what it is
// rounded up to, Size tells. More than 4 GiB cannot be packed.
func (e *Entries) PackedSize() int { return placeSize * (1 + e.Len() + placesFor(e.textSize())) }

// textSize returns how long all keys and values are together.
func (e *Entries) textSize() int {
	size := 0
	for i := range e.places {
		p := &e.places[i]
		size += int(p.keyEnd-p.key) + int(p.valueEnd-p.value)
	}
	return size
}

// Pack returns a packed copy of the entries.
func (e *Entries) Pack() *Packed {
	size := e.textSize()
	// The capacity is what the runtime has in fact given.
	memory := append([]place(nil), make([]place, 1+e.Len()+placesFor(size))...)
	p := (*Packed)(unsafe.Pointer(&memory[0]))
	p.n, p.size, p.skip, p.memory = uint16(e.Len()), uint32(size), -1, uint32(cap(memory))
	c := p.Entries(e.order)
	at := 0
	for i := range c.places {
		n := copy(c.keys[at:], e.Key(i))
		c.places[i].key, c.places[i].keyEnd = uint32(at), uint32(at+n)
		at += n
	}
	for i := range c.places {
		n := copy(c.values[at:], e.Value(i))
		c.places[i].value, c.places[i].valueEnd = uint32(at), uint32(at+n)
		at += n
	}
	if n := e.Len(); n > 0 && e.order.prefixed() {
		skip := wire.SharedLen(e.order.prefix(e.Key(0)), e.order.prefix(e.Key(n-1)))
		p.skip = int32(skip)
		for i := range c.places {
			c.places[i].head = head(e.order.prefix(e.Key(i))[skip:])
		}
	}
	return p
}

// Entries returns the entries, which are those in the memory of p. order is the one
// that they were decoded with.
func (p *Packed) Entries(order Order) Entries {
	start := unsafe.Pointer(p)
	text := unsafe.Slice((*byte)(unsafe.Add(start, placeSize*(1+int(p.n)))), p.size)
	return Entries{
		keys:   text,
		values: text,
		places: unsafe.Slice((*place)(unsafe.Add(start, placeSize)), p.n),
		order:  order,
		skip:   int(p.skip),
	}
}

// Size returns how many bytes of memory p takes.
func (p *Packed) Size() int { return placeSize * int(p.memory) }

// Touch marks p as used. It writes to memory that others read only if that makes
// a difference.
func (p *Packed) Touch() {
	if !p.touched.Load() {
		p.touched.Store(true)
	}
}

// Touched reports whether p was touched since the last time that it was called.
func (p *Packed) Touched() bool { return p.touched.Swap(false) }
