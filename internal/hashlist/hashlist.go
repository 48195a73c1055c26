// Package hashlist collects the hashes of a filter's keys.
package hashlist

import "sync"

const (
	minChunk = 64   // hashes
	maxChunk = 2048 // hashes: 16 KiB of 64 bits
)

// A List collects hashes in chunks, without copying them as a growing slice would. The zero value is empty.
type List[H uint32 | uint64] struct {
	n      int // number of hashes before last
	chunks [][]H
	last   []H // the last chunk; its length in chunks is out of date
	room   int // number of hashes before Reset
}

// chunkPool contains unused chunks of maxChunk hashes, of either type.
var chunkPool sync.Pool

// Add adds a hash.
func (l *List[H]) Add(h H) {
	if len(l.last) == cap(l.last) {
		l.grow()
	}
	l.last = append(l.last, h)
}

// grow starts the next chunk, with room for as many hashes as the list has, so that a short list takes little memory.
func (l *List[H]) grow() {
	l.end()
	l.n += len(l.last)
	size := min(max(l.n, l.room, minChunk), maxChunk)
	l.last = newChunk[H](size)
	l.chunks = append(l.chunks, l.last)
}

func newChunk[H uint32 | uint64](size int) []H {
	if size == maxChunk {
		if chunk, ok := chunkPool.Get().(*[maxChunk]H); ok {
			return chunk[:0]
		}
	}
	return make([]H, 0, size)
}

// end updates the last chunk in chunks.
func (l *List[H]) end() {
	if n := len(l.chunks); n > 0 {
		l.chunks[n-1] = l.last
	}
}

// Len returns the number of hashes.
func (l *List[H]) Len() int { return l.n + len(l.last) }

// EndsWith reports whether h was added last.
func (l *List[H]) EndsWith(h H) bool { return len(l.last) > 0 && l.last[len(l.last)-1] == h }

// Chunks returns the hashes, in order. They are valid until the next change.
func (l *List[H]) Chunks() [][]H {
	l.end()
	return l.chunks
}

// Reset empties the list, and lets other lists use its memory. It keeps a single chunk for the next filter, and
// otherwise the number of hashes, since filters of one table have about as many keys each.
func (l *List[H]) Reset() {
	if len(l.chunks) == 1 {
		l.last = l.last[:0]
		return
	}
	for _, chunk := range l.chunks {
		if cap(chunk) == maxChunk {
			chunkPool.Put((*[maxChunk]H)(chunk[:maxChunk]))
		}
	}
	*l = List[H]{room: l.Len() + l.Len()/8}
}
