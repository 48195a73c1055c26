// Package hashlist collects the 64-bit hashes of a filter's keys.
package hashlist

import "sync"

const (
	minChunk = 64   // hashes
	maxChunk = 8192 // hashes: 64 KiB
)

// A List collects hashes in chunks, without copying them as a growing slice would. The zero value is empty.
type List struct {
	n      int // number of hashes
	chunks [][]uint64
	last   []uint64 // the last chunk; its length in chunks is out of date
}

// chunkPool contains unused chunks of maxChunk hashes.
var chunkPool = sync.Pool{New: func() any { return new([maxChunk]uint64) }}

// Add adds a hash.
func (l *List) Add(h uint64) {
	if len(l.last) == cap(l.last) {
		l.grow()
	}
	l.last = append(l.last, h)
	l.n++
}

// grow starts the next chunk, with room for as many hashes as the list has, so that a short list takes little memory.
func (l *List) grow() {
	l.end()
	if size := max(l.n, minChunk); size < maxChunk {
		l.last = make([]uint64, 0, size)
	} else {
		l.last = chunkPool.Get().(*[maxChunk]uint64)[:0]
	}
	l.chunks = append(l.chunks, l.last)
}

// end updates the last chunk in chunks.
func (l *List) end() {
	if n := len(l.chunks); n > 0 {
		l.chunks[n-1] = l.last
	}
}

// Len returns the number of hashes.
func (l *List) Len() int { return l.n }

// EndsWith reports whether h was added last.
func (l *List) EndsWith(h uint64) bool { return len(l.last) > 0 && l.last[len(l.last)-1] == h }

// Chunks returns the hashes, in order. They are valid until the next change.
func (l *List) Chunks() [][]uint64 {
	l.end()
	return l.chunks
}

// Release empties the list and lets other lists use its memory.
func (l *List) Release() {
	for _, chunk := range l.chunks {
		if cap(chunk) == maxChunk {
			chunkPool.Put((*[maxChunk]uint64)(chunk[:maxChunk]))
		}
	}
	*l = List{}
}
