// Package clock has the CLOCK algorithm, which approximates LRU for whatever must be evicted: blocks,
// Readers, open files.
package clock

import "math/rand/v2"

// Links are the neighbors of an element in its Clock. The element has them as a field.
type Links[T any] struct{ prev, next *T }

// An Element is a pointer to what a Clock has. Each is in one Clock at most.
type Element[T any] interface {
	*T
	ClockLinks() *Links[T]
}

// A Clock is a ring of elements, around which a hand goes. To evict one, the hand passes over those that were
// used since it came by last. New elements count as not used, so that those that are used once do not evict
// those that are used again and again. The zero Clock is empty. The caller locks it.
type Clock[T any, E Element[T]] struct {
	hand E // the next to be evicted; nil if the Clock is empty
	n    int
}

// Len returns the number of elements.
func (c *Clock[T, E]) Len() int { return c.n }

// AddLast adds an element where the hand comes last.
func (c *Clock[T, E]) AddLast(x E) {
	l := x.ClockLinks()
	if c.n++; c.hand == nil {
		l.prev, l.next, c.hand = x, x, x
		return
	}
	hand := c.hand.ClockLinks()
	l.prev, l.next = hand.prev, c.hand
	E(hand.prev).ClockLinks().next = x
	hand.prev = x
}

// Add adds an element where the hand comes next or last. Three of four are the next to be evicted: if more are
// used in turn than there is room for, most of the others stay until their turn comes, where each would be evicted
// just before that. The fourth one lets those go that are not used any more.
func (c *Clock[T, E]) Add(x E) {
	if c.AddLast(x); rand.IntN(4) > 0 {
		c.hand = x
	}
}

// Remove removes an element.
func (c *Clock[T, E]) Remove(x E) {
	l := x.ClockLinks()
	if c.hand == x {
		c.hand = l.next
	}
	if c.n--; c.n == 0 {
		c.hand = nil
	}
	E(l.prev).ClockLinks().next, E(l.next).ClockLinks().prev = l.next, l.prev
	*l = Links[T]{}
}

// Take evicts an element and returns it. used reports whether an element was used since the last call for it.
// The Clock must not be empty.
func (c *Clock[T, E]) Take(used func(E) bool) E {
	for range c.n { // at most one round: others may use them meanwhile
		if !used(c.hand) {
			break
		}
		c.hand = c.hand.ClockLinks().next
	}
	taken := c.hand
	c.Remove(taken)
	return taken
}
