// Package refs counts references.
package refs

import (
	"math"
	"sync/atomic"
)

// A Count counts the references to something that ends with its last reference. After that, nobody gets a
// reference any more. The zero Count has none.
type Count struct{ n atomic.Int64 }

// ended is about the count of what has ended. References that come too late do not make it positive.
const ended = math.MinInt64 / 2

// Set sets the number of references, before others have the Count.
func (c *Count) Set(n int64) { c.n.Store(n) }

// Acquire adds a reference. It returns false if the thing has ended.
func (c *Count) Acquire() bool {
	if c.n.Add(1) > 0 {
		return true
	}
	c.n.Add(-1)
	return false
}

// Release drops a reference, and reports whether it was the last.
func (c *Count) Release() bool {
	return c.n.Add(-1) == 0 && c.n.CompareAndSwap(0, ended) // else Acquire was faster
}
