package set

import (
	"container/ring"
	"math/rand/v2"
)

// A clock evicts things by the CLOCK algorithm, which approximates LRU. Its hand goes around them,
// and passes over those that were used since it came by last. A new one counts as not used: things
// that are asked for once do not evict those that are asked for again and again.
//
// Three of four new ones are the next to be evicted. So if more are asked for in turn than can be
// open, most of the others stay open until their turn comes. In the order of a plain CLOCK, each would
// be evicted just before that. The fourth one lets those go that are not asked for any more.
type clock[T any] struct {
	hand *ring.Ring // the next to be evicted; nil if there is nothing
	n    int
}

// add adds x where the hand comes next or last, and returns its place.
func (c *clock[T]) add(x T) *ring.Ring {
	place := &ring.Ring{Value: x}
	if c.n++; c.hand == nil {
		c.hand = place
	} else {
		c.hand.Prev().Link(place)
	}
	if rand.IntN(4) > 0 {
		c.hand = place
	}
	return place
}

// remove removes what is at a place.
func (c *clock[T]) remove(place *ring.Ring) {
	if c.n--; c.n == 0 {
		c.hand = nil
		return
	}
	if c.hand == place {
		c.hand = place.Next()
	}
	place.Prev().Unlink(1)
}

// take evicts one, and returns it. used reports whether one was used since it was asked last. The
// clock must have something.
func (c *clock[T]) take(used func(T) bool) T {
	for range c.n { // at most one round: others may use them meanwhile
		if !used(c.hand.Value.(T)) {
			break
		}
		c.hand = c.hand.Next()
	}
	place := c.hand
	c.remove(place)
	return place.Value.(T)
}
