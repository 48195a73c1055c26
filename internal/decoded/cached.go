package decoded

import (
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
)

// A Cached is a copy of a Block in one piece of memory, as small and as quick to search
// as can be: what a cache keeps.
//
//	┌────────┬────────┬───┬──────────┬─────────┬───────────┬──────┐
//	│ Cached │ span 0 │ … │ span n−1 │ n keys  │ n values  │ rest │
//	│ 20 B   │ 20 B   │   │ 20 B     │                            │
//	└────────┴────────┴───┴──────────┴────────────────────────────┘
//
// A lookup goes over it from the start on. Where a cache is larger than the processor's,
// each further piece would cost a lookup an eighth to a third of its time, for the page
// of memory that has to be found first. That is what package unsafe is used for here, and
// for nothing else. There are no pointers in it, and none to it but through it.
//
// It is immutable but for the touch, and safe for concurrent use.
type Cached struct {
	n            uint16 // entries, up to maxEntries
	size         uint32 // bytes of all keys and values
	commonPrefix int32  // as a Block has it
	touched      atomic.Bool
	memory       uint32 // of all of it, counted in spans
}

const spanSize = int(unsafe.Sizeof(entrySpan{}))

// A Cached takes at most as much as a span, or this does not compile.
const _ = uint(spanSize - int(unsafe.Sizeof(Cached{})))

// spansFor returns how many spans take as much memory as size bytes, and some more: at
// least one, so that no pointer is to what is behind the memory.
func spansFor(size int) int { return size/spanSize + 1 }

// CachedSize returns about how many bytes of memory ForCache takes. It may take some more:
// Cached.Size tells. More than 4 GiB cannot be cached.
func (b *Block) CachedSize() int { return spanSize * (1 + b.Len() + spansFor(b.textSize())) }

// textSize returns how many bytes all keys and values have.
func (b *Block) textSize() int {
	size := 0
	for i := range b.spans {
		s := &b.spans[i]
		size += int(s.keyEnd-s.key) + int(s.valueEnd-s.value)
	}
	return size
}

// ForCache returns a copy of the Block for a cache.
func (b *Block) ForCache() *Cached {
	size := b.textSize()
	// append tells the capacity that the runtime has in fact given.
	memory := append([]entrySpan(nil), make([]entrySpan, 1+b.Len()+spansFor(size))...)
	c := (*Cached)(unsafe.Pointer(&memory[0]))
	c.n, c.size, c.commonPrefix, c.memory = uint16(b.Len()), uint32(size), -1, uint32(cap(memory))
	to, at := c.Block(b.order), 0
	for i := range to.spans {
		n := copy(to.keys[at:], b.Key(i))
		to.spans[i].key, to.spans[i].keyEnd = uint32(at), uint32(at+n)
		at += n
	}
	for i := range to.spans {
		n := copy(to.values[at:], b.Value(i))
		to.spans[i].value, to.spans[i].valueEnd = uint32(at), uint32(at+n)
		at += n
	}
	if b.Len() > 0 && b.order.Bytewise() {
		c.commonPrefix = b.abbreviateTo(to.spans)
	}
	return c
}

// abbreviateTo sets the abbreviations of the keys, and returns how many bytes all share.
func (b *Block) abbreviateTo(spans []entrySpan) (commonPrefix int32) {
	common := wire.SharedLen(b.order.Prefix(b.Key(0)), b.order.Prefix(b.Key(b.Len()-1)))
	for i := range spans {
		spans[i].abbreviated = abbreviate(b.order.Prefix(b.Key(i))[common:])
	}
	return int32(common)
}

// Block returns the entries, which stay in the memory of c. order is the one that they
// were decoded with.
func (c *Cached) Block(order block.Order) Block {
	start := unsafe.Pointer(c)
	text := unsafe.Slice((*byte)(unsafe.Add(start, spanSize*(1+int(c.n)))), c.size)
	return Block{
		keys:         text,
		values:       text,
		spans:        unsafe.Slice((*entrySpan)(unsafe.Add(start, spanSize)), c.n),
		order:        order,
		commonPrefix: int(c.commonPrefix),
	}
}

// Size returns how many bytes of memory c takes.
func (c *Cached) Size() int { return spanSize * int(c.memory) }

// Touch marks c as used. It writes to memory that others read only if that makes a
// difference.
func (c *Cached) Touch() {
	if !c.touched.Load() {
		c.touched.Store(true)
	}
}

// Touched reports whether c was touched since Touched was called last.
func (c *Cached) Touched() bool { return c.touched.Swap(false) }
