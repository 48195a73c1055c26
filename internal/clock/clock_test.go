package clock

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// An item is an element of a Clock.
type item struct {
	n int
	Links[item]
}

// A Clock evicts the same elements as a slice with an index, for any sequence of adds, uses and removes.
func TestClockAsASlice(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(28, 1))
	for range 200 {
		var c Clock[item, *item]
		var want []int // in the order of the clock, from the hand on
		items, touched := map[int]*item{}, map[int]bool{}
		for i := range 100 {
			switch op := rng.IntN(5); {
			case op < 2:
				items[i] = &item{n: i}
				if c.Add(items[i]); c.hand == items[i] {
					want = append([]int{i}, want...)
				} else {
					want = append(want, i)
				}
			case len(want) == 0:
			case op == 2:
				at := rng.IntN(len(want))
				c.Remove(items[want[at]])
				want = slices.Delete(want, at, at+1)
			case op == 3:
				touched[want[rng.IntN(len(want))]] = true
			default:
				used := maps.Clone(touched)
				for n := len(want); n > 0 && touched[want[0]]; n-- {
					touched[want[0]] = false
					want = append(want[1:], want[0])
				}
				if got := c.Take(func(x *item) bool { return used[x.n] }); got.n != want[0] {
					t.Fatalf("Take = %d, want the first of %d", got.n, want)
				}
				want = want[1:]
			}
			if c.Len() != len(want) {
				t.Fatalf("the clock has %d things, want %d", c.Len(), len(want))
			}
		}
	}
}
