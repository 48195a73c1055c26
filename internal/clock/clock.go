// Package clock implements the CLOCK algorithm, which approximates LRU, for evicting blocks, Readers and open files.
package clock

import "math/rand/v2"

// Links are the neighbors of an element in its Clock. The element embeds them.
type Links[T any] struct{ prev, next *T }

func (l *Links[T]) links() *Links[T] { return l }

// An Element is a pointer to an element of a Clock. Each is in at most one Clock.
type Element[T any] interface {
	*T
	links() *Links[T]
}

// A Clock is a ring of elements with a moving hand. To evict an element, the hand passes over elements that were
// used since its last visit. New elements count as unused, so that elements that are used once do not evict those
// that are used repeatedly. The zero Clock is empty. The caller must lock it.
type Clock[T any, E Element[T]] struct {
	hand E // next candidate for eviction; nil if the Clock is empty
	n    int
}

// Len returns the number of elements.
func (c *Clock[T, E]) Len() int { return c.n }

// AddLast adds an element at the place that the hand reaches last.
func (c *Clock[T, E]) AddLast(x E) {
	l := x.links()
	if c.n++; c.hand == nil {
		l.prev, l.next, c.hand = x, x, x
		return
	}
	hand := c.hand.links()
	l.prev, l.next = hand.prev, c.hand
	E(hand.prev).links().next = x
	hand.prev = x
}

// Add adds an element at the place that the hand reaches next, or one time in four, last. If more elements are used
// in turn than there is room for, most of the others then stay until their next turn, instead of each being evicted
// just before it. The fourth time evicts elements that are not used any more.
func (c *Clock[T, E]) Add(x E) {
	if c.AddLast(x); rand.IntN(4) > 0 {
		c.hand = x
	}
}

// Remove removes an element.
func (c *Clock[T, E]) Remove(x E) {
	l := x.links()
	if c.hand == x {
		c.hand = l.next
	}
	if c.n--; c.n == 0 {
		c.hand = nil
	}
	E(l.prev).links().next, E(l.next).links().prev = l.next, l.prev
	*l = Links[T]{}
}

// Take evicts an element and returns it. used reports whether an element was used since the previous call of used
// for it. The Clock must not be empty.
func (c *Clock[T, E]) Take(used func(E) bool) E {
	for range c.n { // at most one round, since elements may be used meanwhile
		if !used(c.hand) {
			break
		}
		c.hand = c.hand.links().next
	}
	taken := c.hand
	c.Remove(taken)
	return taken
}
