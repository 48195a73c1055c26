package blocked

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

const (
	// firstRoom is the default number of keys for the first filter of a Growing.
	firstRoom = 1 << 14

	// share is the part of the remaining rate for the next filter, so that each has 3/4 of the rate of the one before.
	// With 1/2, the first one is 10 % smaller, but 10^8 keys take 1.6 times the memory: in lines of 64 bytes, low
	// rates take far more than 1.44 bits for each halving.
	share = 1.0 / 4

	// maxKeys is the highest stored number of keys, so that no sum of them overflows.
	maxKeys = 1 << 56
)

// A claim decides which goroutine adds a key. There is one for each value of the last 8 bits of a hash. It holds the
// other bits of the hash added last, and a state. While it is open, some bits of the key may be unset: a goroutine
// that finds an open claim sets these bits too and settles the claim, instead of waiting.
//
// No key is added twice, so a claim never has the same value twice. A goroutine loads the claim, looks for its key and
// then swaps the claim. If the swap succeeds, no other goroutine has added the key meanwhile.
const (
	claimMask    = 1<<8 - 1
	claimOpen    = 1
	claimSettled = 2
)

// A Growing is a filter for any number of keys at one false-positive rate. It is a chain of filters: when the last one
// is full, another one is added for twice as many keys.
//
// All methods are safe for concurrent use. They do not wait for each other, except that new keys wait while a filter
// is added.
type Growing struct {
	chain  atomic.Pointer[chain]
	growth sync.Mutex // held while a link is added
	claims [claimMask + 1]atomic.Uint64
}

// A chain is immutable, except that its last link accepts keys. To add a link, a Growing replaces the chain.
type chain struct {
	links []link  // keys are added to the last one
	rate  float64 // of all links, also of later ones
	rest  float64 // the part of rate for later links
}

// A link is a Filter that counts its keys.
type link struct {
	Filter
	room uint64         // planned number of keys
	keys *atomic.Uint64 // allocated apart from the fields that lookups read, since each new key changes it
}

// NewGrowing returns an empty filter with that false-positive rate, from 1e-9 to 0.5, at any number of keys. Its
// first filter is for that many keys. Zero means 16384. While fewer keys are added, lookups are as fast as in a
// [Filter] from [New]. The memory is larger: by a third at 1 %, by a fifth at 0.001 %, and by 60 % at 10 %.
// NewGrowing returns the errors of New.
func NewGrowing(keys uint64, rate float64) (*Growing, error) {
	if err := checkRate(rate); err != nil {
		return nil, err
	}
	g := new(Growing)
	if err := g.extend(&chain{rate: rate, rest: rate}, cmp.Or(keys, firstRoom)); err != nil {
		return nil, err
	}
	return g, nil
}

// Grow returns a Growing of that rate whose first filter is f, which has that many keys and gets no more. If their
// number is unknown, pass Keys of [Filter.Inspect]. The caller must no longer use f. The later filters share the
// rate that f leaves, or 1/16 of the rate if that is more.
func Grow(f *Filter, keys uint64, rate float64) (*Growing, error) {
	if err := checkRate(rate); err != nil {
		return nil, err
	}
	l := link{*f, min(keys, f.bits()), new(atomic.Uint64)} // with as many keys as bits, almost every key passes
	l.keys.Store(min(keys, maxKeys))
	own := upperRate(l.room, uint64(len(f.lines)), f.probes)
	g := new(Growing)
	g.chain.Store(&chain{[]link{l}, rate, max(rate-own, rate/16)})
	return g, nil
}

// Add adds a key, unless Contains is already true for it. It does not keep the slice. If the filter is full and
// cannot grow, Add returns an error and does not add the key.
func (g *Growing) Add(key []byte) error {
	_, err := g.AddIfAbsent(key)
	return err
}

// AddIfAbsent is like Add, and reports whether it added the key. If not, the key was added before or is a false
// positive. If several goroutines add the same absent key at once, AddIfAbsent returns true in exactly one of them.
//
// If the filter is full and the next one exceeds 256 GiB (2 GiB on a 32-bit machine), or all of them exceed the
// memory that debug.SetMemoryLimit or the system grants, AddIfAbsent returns an error.
func (g *Growing) AddIfAbsent(key []byte) (bool, error) {
	h := xxh3.Hash(key)
	claim := &g.claims[h&claimMask]
	for {
		before := claim.Load() // before the chain, so that each later claim makes the swap below fail
		c := g.chain.Load()
		head := &c.links[len(c.links)-1]
		switch {
		case before&claimMask == claimOpen:
			head.AddHash(before&^claimMask | h&claimMask)
			claim.CompareAndSwap(before, before^claimOpen^claimSettled)
		case c.contains(h):
			return false, nil
		case head.keys.Add(1) > head.room:
			head.keys.Add(^uint64(0))
			if err := g.grow(c); err != nil {
				return false, err
			}
		case claim.CompareAndSwap(before, h&^claimMask|claimOpen):
			head.AddHash(h)
			claim.CompareAndSwap(h&^claimMask|claimOpen, h&^claimMask|claimSettled)
			return true, nil
		default:
			head.keys.Add(^uint64(0)) // another goroutine was first, maybe with this key
		}
	}
}

// grow adds a link to full. If another goroutine has added one since full was loaded, grow does nothing.
func (g *Growing) grow(full *chain) error {
	g.growth.Lock()
	defer g.growth.Unlock()
	if g.chain.Load() != full {
		return nil
	}
	return g.extend(full, max(2*full.links[len(full.links)-1].room, firstRoom))
}

// extend adds a link to c for that many keys.
func (g *Growing) extend(c *chain, room uint64) error {
	rate := c.rest * share
	f, err := newBeside(uint64(c.size()), room, rate)
	if err != nil {
		return fmt.Errorf("%w (part of a Growing with a rate of %g)", err, c.rate)
	}
	l := link{*f, room, new(atomic.Uint64)}
	g.chain.Store(&chain{append(slices.Clip(c.links), l), c.rate, c.rest - rate})
	return nil
}

// Contains reports whether key may have been added. If it returns false, no Add of key had returned before the
// call.
func (g *Growing) Contains(key []byte) bool { return g.chain.Load().contains(xxh3.Hash(key)) }

// contains looks in the last link first, since it has about half of all keys.
func (c *chain) contains(h uint64) bool {
	for i := len(c.links) - 1; i >= 0; i-- {
		if c.links[i].ContainsHash(h) {
			return true
		}
	}
	return false
}

// Len returns the number of keys for which AddIfAbsent returned true.
func (g *Growing) Len() uint64 {
	var n uint64
	for _, l := range g.chain.Load().links {
		n += l.keys.Load()
	}
	return n
}

// Rate returns the false-positive rate that the filter keeps, 0 to 1.
func (g *Growing) Rate() float64 { return g.chain.Load().rate }

// Inspect describes each filter of the chain, the oldest first, and reads all of it. The false-positive rate of the
// chain is at most the sum of their rates.
func (g *Growing) Inspect() []Inspection {
	var all []Inspection
	for _, l := range g.chain.Load().links {
		all = append(all, l.Inspect())
	}
	return all
}
