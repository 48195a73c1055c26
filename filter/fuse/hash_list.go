package fuse

import "sync"

const (
	minChunk = 64   // hashes
	maxChunk = 8192 // hashes: 64 KiB
)

// A hashList collects hashes in chunks, so that it need not copy them to grow. The zero value is empty.
type hashList struct {
	n      int // number of hashes
	chunks [][]uint64
	last   []uint64 // the last of chunks, whose length there is not up to date
}

// chunkPool has chunks of maxChunk hashes that are not in use.
var chunkPool = sync.Pool{New: func() any { return new([maxChunk]uint64) }}

func (l *hashList) add(h uint64) {
	if len(l.last) == cap(l.last) {
		l.grow()
	}
	l.last = append(l.last, h)
	l.n++
}

// grow starts the next chunk: as many hashes as there are in all, so that a short list stays small.
func (l *hashList) grow() {
	l.end()
	if size := max(l.n, minChunk); size < maxChunk {
		l.last = make([]uint64, 0, size)
	} else {
		l.last = chunkPool.Get().(*[maxChunk]uint64)[:0]
	}
	l.chunks = append(l.chunks, l.last)
}

// end brings the last of chunks up to date.
func (l *hashList) end() {
	if n := len(l.chunks); n > 0 {
		l.chunks[n-1] = l.last
	}
}

// set replaces the hashes by others that are not more.
func (l *hashList) set(hashes []uint64) {
	l.n = len(hashes)
	for i, chunk := range l.chunks {
		n := copy(chunk, hashes)
		l.last, hashes = chunk[:n], hashes[n:]
		l.chunks[i] = l.last
	}
}

// release empties the list, and makes its memory available for others.
func (l *hashList) release() {
	for _, chunk := range l.chunks {
		if cap(chunk) == maxChunk {
			chunkPool.Put((*[maxChunk]uint64)(chunk[:maxChunk]))
		}
	}
	*l = hashList{}
}
