package table

import (
	"math"
	"sync"
	"sync/atomic"
)

// A lifetime counts the handles on a Reader, so that Close can wait for them.
type lifetime struct {
	handles  atomic.Int64 // from Close on, math.MinInt64 more
	mu       sync.Mutex
	released sync.Cond // Close waits here for all
	all      bool      // after Close, there was a moment without handles
}

// Acquire takes a handle on the Reader. Until the caller returns it by Release, Close waits, so
// that lookups and Iters of the caller do not fail with ErrClosed. After a call of Close,
// Acquire returns ErrClosed, and takes none. It takes no lock.
//
// Handles let a table be replaced while many goroutines look it up. A goroutine takes the
// current Reader from an atomic.Pointer and acquires it. If that returns ErrClosed, it takes
// the one that is current by now. The goroutine that replaces a table stores the new Reader in
// the pointer, and then closes the old one.
func (r *Reader) Acquire() error {
	if r.life.handles.Add(1) < 0 {
		r.Release()
		return ErrClosed
	}
	return nil
}

// Release returns a handle that Acquire took. A Release without an Acquire panics.
func (r *Reader) Release() {
	switch n := r.life.handles.Add(-1); n {
	case math.MinInt64:
		r.life.mu.Lock()
		r.life.all = true
		r.life.released.Broadcast()
		r.life.mu.Unlock()
	case -1, math.MaxInt64:
		r.life.handles.Add(1) // for programs that recover
		panic("table: Release without Acquire")
	}
}

// close waits until there are no handles, and reports whether this was the first call.
func (l *lifetime) close() bool {
	switch before := l.handles.Or(math.MinInt64); {
	case before < 0:
		return false
	case before > 0:
		l.mu.Lock()
		l.released.L = &l.mu
		for !l.all {
			l.released.Wait()
		}
		l.mu.Unlock()
	}
	return true
}
