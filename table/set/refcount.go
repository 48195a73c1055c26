package set

import (
	"math"
	"sync/atomic"
)

// A refCount is a reference count of something that ends when the last reference is dropped. Once it
// has ended, nobody gets a reference any more.
type refCount struct{ n atomic.Int64 }

// ended is about the count of what has ended. References that come too late do not make it positive.
const ended = math.MinInt64 / 2

// acquire adds a reference. It returns false if the thing has ended.
func (c *refCount) acquire() bool {
	if c.n.Add(1) > 0 {
		return true
	}
	c.n.Add(-1)
	return false
}

// tryAcquire is acquire, unless others change the count at the same time: then it adds no reference,
// and alone is false.
func (c *refCount) tryAcquire() (acquired, alone bool) {
	n := c.n.Load()
	if n <= 0 {
		return false, true
	}
	alone = c.n.CompareAndSwap(n, n+1)
	return alone, alone
}

// release drops a reference, and reports whether the thing has ended by that.
func (c *refCount) release() bool {
	return c.n.Add(-1) == 0 && c.n.CompareAndSwap(0, ended) // else acquire was faster
}
