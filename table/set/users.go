package set

import (
	"math"
	"sync/atomic"
)

// users is a reference count of something that ends when the last reference is dropped.
type users struct{ n atomic.Int64 }

// ended is about the count of what has ended. Users who come too late do not make it positive.
const ended = math.MinInt64 / 2

// acquire adds a user. It returns false if the thing has ended.
func (u *users) acquire() bool {
	if u.n.Add(1) > 0 {
		return true
	}
	u.n.Add(-1)
	return false
}

// tryAcquire is acquire, unless others change the count at the same time: then nobody is added, and
// alone is false.
func (u *users) tryAcquire() (acquired, alone bool) {
	n := u.n.Load()
	if n <= 0 {
		return false, true
	}
	alone = u.n.CompareAndSwap(n, n+1)
	return alone, alone
}

// release removes a user, and reports whether the thing has ended by that.
func (u *users) release() bool {
	return u.n.Add(-1) == 0 && u.n.CompareAndSwap(0, ended) // else acquire was faster
}
