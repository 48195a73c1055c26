package table

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/sievetable/sievetable/internal/wire"
)

// fanOut is how many separators a node of the search tree has.
const fanOut = 32

// searchTree finds separators in the bytewise order without comparing whole
// keys. Its lowest level has all separators, in nodes of fanOut; each level
// above has the last separator of each node below, up to a level of one node.
//
// Of a separator a node has only the head: 8 bytes after those that all of the
// node share, as a number. If some heads of a node are alike, it has the next 8
// bytes of each too, the tails. Where a sought key has the same, the separators
// themselves decide. Where keys have suffixes that are in another order, all this is
// without them. The arrays stay in the processor's caches, where the
// separators would not.
type searchTree struct {
	levels []searchLevel // the lowest first
}

type searchLevel struct {
	heads  []uint64 // of the separators, up to whole nodes
	tails  []uint64 // of the nodes that have them, fanOut each
	shared []prefix // of the separators of each node
	n      int      // separators
	shift  int      // log2 of how many of the lowest level's each stands for
}

// prefix is what the separators of a node start with: so many bytes of the
// first one. It is implied if the last separator of the node before starts with
// it too: keys that are sought in the node are between two with this prefix then,
// and have it.
type prefix struct {
	size    uint32
	implied bool
	tails   int32 // where those of the node start; −1 if it has none
}

// newSearchTree returns the tree of the index's separators.
func newSearchTree(x *index) searchTree {
	var t searchTree
	for n, shift := x.len(), 0; n > 0; shift += 5 {
		nodes := (n + fanOut - 1) / fanOut
		l := searchLevel{heads: make([]uint64, nodes*fanOut), shared: make([]prefix, nodes), n: n, shift: shift}
		for i := n; i < len(l.heads); i++ {
			l.heads[i] = ^uint64(0)
		}
		for node := range nodes {
			l.fill(x, node)
		}
		l.tails = slices.Clip(l.tails)
		t.levels = append(t.levels, l)
		if nodes == 1 {
			break
		}
		n = nodes
	}
	return t
}

// fill makes one node.
func (l *searchLevel) fill(x *index, node int) {
	from, to := node*fanOut, min((node+1)*fanOut, l.n)
	last := l.orderedPrefix(x, to-1)
	skip := wire.SharedLen(l.orderedPrefix(x, from), last)
	p := prefix{size: uint32(skip), tails: -1}
	p.implied = node > 0 && wire.SharedLen(l.orderedPrefix(x, from-1), last) >= skip
	alike := false
	for i := from; i < to; i++ {
		l.heads[i] = wire.Head(l.orderedPrefix(x, i)[skip:])
		alike = alike || i > from && l.heads[i] == l.heads[i-1]
	}
	if alike {
		p.tails = int32(len(l.tails))
		for i := from; i < to; i++ {
			l.tails = append(l.tails, tail(l.orderedPrefix(x, i)[skip:]))
		}
	}
	l.shared[node] = p
}

// tail returns the 8 bytes after those of the head, as a number like it.
func tail(key []byte) uint64 { return wire.Head(key[min(8, len(key)):]) }

// separator returns separator i of the level.
func (l *searchLevel) separator(x *index, i int) []byte {
	return x.separator(min((i+1)<<l.shift, x.len()) - 1)
}

// orderedPrefix returns what of separator i of the level is in the bytewise order.
func (l *searchLevel) orderedPrefix(x *index, i int) []byte {
	return x.order.Prefix(l.separator(x, i))
}

// search returns the first of the index's separators that is not below key, or
// x.len().
func (t *searchTree) search(x *index, key []byte) int {
	node := 0
	for i := len(t.levels) - 1; i >= 0; i-- {
		l := &t.levels[i]
		if node = l.search(x, node, key); node == l.n {
			return x.len()
		}
	}
	return node
}

// search returns the first separator of the level, from the node on, that is not
// below key.
func (l *searchLevel) search(x *index, node int, key []byte) int {
	from := node * fanOut
	to := min(from+fanOut, l.n)
	shared, part := &l.shared[node], x.order.Prefix(key)
	if !shared.implied {
		prefix := l.separator(x, from)[:shared.size]
		if !bytes.HasPrefix(part, prefix) {
			if bytes.Compare(prefix, part) > 0 {
				return from
			}
			return to
		}
	}
	h := wire.Head(part[shared.size:])
	i := from + countBelow((*[fanOut]uint64)(l.heads[from:]), h)
	if i < to && l.heads[i] == h {
		return l.searchAlike(x, i, to, shared, key)
	}
	return i
}

// searchAlike goes on from separator i, the first one of those before to that
// has the key's head.
func (l *searchLevel) searchAlike(x *index, i, to int, shared *prefix, key []byte) int {
	h := l.heads[i]
	if shared.tails >= 0 {
		t, tails := tail(x.order.Prefix(key)[shared.size:]), l.tails[shared.tails:]
		for i < to && l.heads[i] == h && tails[i%fanOut] < t {
			i++
		}
		if i < to && tails[i%fanOut] > t {
			return i
		}
	}
	for i < to && l.heads[i] == h && x.order.Compare(l.separator(x, i), key) < 0 {
		i++
	}
	return i
}

// countBelow returns how many of heads, which ascend, are below h. It takes no
// branch that could be guessed wrong.
func countBelow(heads *[fanOut]uint64, h uint64) int {
	quarter := 8 * (below(heads[7], h) + below(heads[15], h) + below(heads[23], h))
	q := (*[8]uint64)(heads[quarter&(fanOut-8):])
	return quarter + below(q[0], h) + below(q[1], h) + below(q[2], h) + below(q[3], h) +
		below(q[4], h) + below(q[5], h) + below(q[6], h) + below(q[7], h)
}

// below is 1 if a is below b, and else 0.
func below(a, b uint64) int {
	_, borrow := bits.Sub64(a, b, 0)
	return int(borrow)
}
