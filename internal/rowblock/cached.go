package rowblock

import (
	"sync/atomic"
	"unsafe"

	"github.com/sievetable/sievetable/internal/format"
)

// A Cached is a copy of a Decoded for a cache. It is one piece of memory, small, and fast to search.
//
//	┌────────┬─────────────────┬─────────┬────────┬──────────┬──────┐
//	│ Cached │ n abbreviations │ n spans │ n keys │ n values │ rest │
//	│ 24 B   │ 4 B each        │ 16 B    │                          │
//	└────────┴─────────────────┴─────────┴──────────────────────────┘
//
// Package unsafe serves to keep all of it in one piece. If the cache is larger than the processor's caches, each
// further piece would make a lookup slower by an eighth to a third, since its page of memory has to be found first.
// A Cached contains no pointers, and its parts are reached only through a pointer to it.
//
// Only touched changes. A Cached is safe for concurrent use.
type Cached struct {
	n            uint16 // number of entries, ≤ maxEntries
	size         uint32 // bytes of all keys and values
	commonPrefix int32  // as in Decoded
	touched      atomic.Bool
	memory       uint32 // size of the whole Cached, in words
	keySize      uint32 // bytes of all keys
}

// A Cached consists of words, whose alignment suits all parts.
const (
	wordSize   = int(unsafe.Sizeof(uint32(0)))
	headerSize = int(unsafe.Sizeof(Cached{}))
	abbrSize   = wordSize
	spanSize   = int(unsafe.Sizeof(entrySpan{}))

	lineSize = 64 // at least, of the lines of a processor's caches
)

// wordsFor returns the size, in words, of a Cached with n entries whose keys and values have size bytes. It includes
// at least one more byte, and a span even without entries, so that no pointer points beyond the memory, not even to
// an empty value at its end. There are at least three cache lines, for fetchAhead.
func wordsFor(n, size int) int {
	return max(headerSize+n*(abbrSize+spanSize)+max(size, spanSize), 3*lineSize)/wordSize + 1
}

// CachedSize returns approximately how many bytes of memory ForCache takes. Cached.Size, which can be somewhat more,
// is exact. More than 4 GiB cannot be cached.
func (b *Decoded) CachedSize() int { return wordSize * wordsFor(b.Len(), b.textSize()) }

// textSize returns the number of bytes of all keys and values.
func (b *Decoded) textSize() int {
	size := 0
	for i := range b.spans {
		s := &b.spans[i]
		size += int(s.keyEnd-s.key) + int(s.valueEnd-s.value)
	}
	return size
}

// ForCache returns a copy of the Decoded for a cache.
func (b *Decoded) ForCache() *Cached {
	c := newCached(b.Len(), b.textSize())
	to, at := c.Block(b.order), 0
	for i := range to.spans {
		n := copy(to.keys[at:], b.Key(i))
		to.spans[i].key, to.spans[i].keyEnd = uint32(at), uint32(at+n)
		at += n
	}
	c.keySize = uint32(at)
	for i := range to.spans {
		n := copy(to.values[at:], b.Value(i))
		to.spans[i].value, to.spans[i].valueEnd = uint32(at), uint32(at+n)
		at += n
	}
	if b.Len() > 0 && b.order.Bytewise() {
		c.commonPrefix = b.abbreviateTo(to.abbreviated)
	}
	return c
}

// newCached returns a Cached with space for n entries, whose keys and values have size bytes.
func newCached(n, size int) *Cached {
	// Unlike make, append gives the slice all the memory that the runtime allocates.
	memory := append([]uint32(nil), make([]uint32, wordsFor(n, size))...)
	c := (*Cached)(unsafe.Pointer(&memory[0]))
	c.n, c.size, c.commonPrefix, c.memory = uint16(n), uint32(size), -1, uint32(cap(memory))
	return c
}

// CacheValue returns a Cached of one entry, which has the empty key and a copy of value.
func CacheValue(value []byte) *Cached {
	c := newCached(1, len(value))
	b := c.Block(Order{})
	b.spans[0].valueEnd = uint32(copy(b.values, value))
	return c
}

// abbreviateTo sets the abbreviations of the keys, and returns the length of their common
// prefix.
func (b *Decoded) abbreviateTo(abbreviated []uint32) (commonPrefix int32) {
	common := format.SharedLen(b.order.Prefix(b.Key(0)), b.order.Prefix(b.Key(b.Len()-1)))
	for i := range abbreviated {
		abbreviated[i] = format.First4(b.order.Prefix(b.Key(i))[common:])
	}
	return int32(common)
}

// Block returns the entries as parts of c. order must be the one that they were decoded with.
func (c *Cached) Block(order Order) Decoded {
	n := int(c.n)
	abbreviated := unsafe.Add(unsafe.Pointer(c), headerSize)
	spans := unsafe.Add(abbreviated, n*abbrSize)
	text := unsafe.Slice((*byte)(unsafe.Add(spans, n*spanSize)), c.size)
	return Decoded{
		keys:         text,
		values:       text,
		spans:        unsafe.Slice((*entrySpan)(spans), n),
		abbreviated:  unsafe.Slice((*uint32)(abbreviated), n),
		order:        order,
		commonPrefix: int(c.commonPrefix),
		keySize:      int(c.keySize),
	}
}

// Size returns how many bytes of memory c takes.
func (c *Cached) Size() int { return wordSize * int(c.memory) }

// Touch records a use of c. It writes only if it has to, since a write slows down other processors that read c.
func (c *Cached) Touch() {
	fetchAhead(c)
	if !c.touched.Load() {
		c.touched.Store(true)
	}
}

// Touched reports whether c was used since the last call of Touched.
func (c *Cached) Touched() bool { return c.touched.Swap(false) }

// fetchAhead reads the cache lines that contain the abbreviations of most blocks, so that they are fetched together
// with the header.
//
//go:noinline
func fetchAhead(c *Cached) byte {
	return *(*byte)(unsafe.Add(unsafe.Pointer(c), lineSize)) + *(*byte)(unsafe.Add(unsafe.Pointer(c), 2*lineSize))
}

// Fetch prefetches the memory in which a search begins: it reads at least a byte of each cache line, or of about 32
// lines of a large block. The sum has no meaning. It keeps the compiler from dropping the reads.
func (c *Cached) Fetch() (sum uint32) {
	abbreviated := unsafe.Slice((*uint32)(unsafe.Add(unsafe.Pointer(c), headerSize)), c.n)
	step := max(lineSize/abbrSize, len(abbreviated)/32)
	for i := 0; i < len(abbreviated); i += step {
		sum += abbreviated[i]
	}
	return sum
}

// maxFetched is the largest size of keys that FetchKeys prefetches. In larger blocks it would save each entry
// little.
const maxFetched = 4096

// FetchKeys prefetches the spans and keys: it reads at least a byte of each cache line, all at the same time. The
// Decoded must be from Cached.Block. The sum has no meaning, as in Fetch.
func (b *Decoded) FetchKeys() (sum uint32) {
	if len(b.spans) == 0 {
		return 0
	}
	keys := b.keys[b.spans[0].key:b.spans[len(b.spans)-1].keyEnd]
	if len(keys) > maxFetched {
		return 0
	}
	for i := 0; i < len(b.spans); i += lineSize / spanSize {
		sum += b.spans[i].key
	}
	for i := 0; i < len(keys); i += lineSize {
		sum += uint32(keys[i])
	}
	return sum
}
