// Package refs counts references.
package refs

import (
	"math"
	"sync/atomic"
)

// A Count counts references to a thing that ends with its last reference. After that, nobody can acquire another.
// The zero Count has no references.
type Count struct{ n atomic.Int64 }

// ended is the approximate count of a thing that has ended. Late references do not make it positive.
const ended = math.MinInt64 / 2

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
	return c.n.Add(-1) == 0 && c.n.CompareAndSwap(0, ended) // fails if Acquire was faster
}
