package set

import (
	"container/ring"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// A clock takes what a slice with an index takes, however things are added, used and removed.
func TestClockAsASlice(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(28, 1))
	for range 200 {
		var c clock[int]
		var want []int // in the order of the clock, from the hand on
		places, touched := map[int]*ring.Ring{}, map[int]bool{}
		for i := range 100 {
			switch op := rng.IntN(5); {
			case op < 2:
				if places[i] = c.add(i); c.hand == places[i] {
					want = append([]int{i}, want...)
				} else {
					want = append(want, i)
				}
			case len(want) == 0:
			case op == 2:
				at := rng.IntN(len(want))
				c.remove(places[want[at]])
				want = slices.Delete(want, at, at+1)
			case op == 3:
				touched[want[rng.IntN(len(want))]] = true
			default:
				used := maps.Clone(touched)
				for n := len(want); n > 0 && touched[want[0]]; n-- {
					touched[want[0]] = false
					want = append(want[1:], want[0])
				}
				if got := c.take(func(x int) bool { return used[x] }); got != want[0] {
					t.Fatalf("take = %d, want the first of %d", got, want)
				}
				want = want[1:]
			}
			if c.n != len(want) {
				t.Fatalf("the clock has %d things, want %d", c.n, len(want))
			}
		}
	}
}
