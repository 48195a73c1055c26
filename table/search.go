package table

import (
	"bytes"
	"math/bits"

	"github.com/sievetable/sievetable/internal/wire"
)

// fanOut is how many separators a node of the search tree has.
const fanOut = 32

// searchTree finds separators in the bytewise order without comparing whole
// keys. Its lowest level has all separators, in nodes of fanOut; each level
// above has the last separator of each node below, up to a level of one node.
//
// Of a separator a node has only the head: 8 bytes after those that all of the
// node share, as a number. Where a sought key has the same head, the separators
// themselves decide. The arrays stay in the processor's caches, where the
// separators would not.
type searchTree struct {
	levels []searchLevel // the lowest first
}

type searchLevel struct {
	heads  []uint64 // of the separators, up to whole nodes
	shared []span   // what the separators of each node start with, in the index's text
	n      int      // separators
	shift  int      // log2 of how many of the lowest level's each stands for
}

// newSearchTree returns the tree of the index's separators.
func newSearchTree(x *index) searchTree {
	var t searchTree
	for n, shift := x.len(), 0; n > 0; shift += 5 {
		nodes := (n + fanOut - 1) / fanOut
		l := searchLevel{heads: make([]uint64, nodes*fanOut), shared: make([]span, nodes), n: n, shift: shift}
		for i := range l.heads {
			l.heads[i] = ^uint64(0)
		}
		for node := range nodes {
			l.fill(x, node)
		}
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
	skip := wire.SharedLen(l.separator(x, from), l.separator(x, to-1))
	start := x.spans[l.lowest(x, from)].start
	l.shared[node] = span{start, start + uint32(skip)}
	for i := from; i < to; i++ {
		l.heads[i] = wire.Head(l.separator(x, i)[skip:])
	}
}

// separator returns separator i of the level.
func (l *searchLevel) separator(x *index, i int) []byte { return x.separator(l.lowest(x, i)) }

// lowest returns which one of the lowest level's that is.
func (l *searchLevel) lowest(x *index, i int) int { return min((i+1)<<l.shift, x.len()) - 1 }

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
	shared := x.text[l.shared[node].start:l.shared[node].end]
	if !bytes.HasPrefix(key, shared) {
		if bytes.Compare(shared, key) > 0 {
			return from
		}
		return min(from+fanOut, l.n)
	}
	h := wire.Head(key[len(shared):])
	i := from + countBelow((*[fanOut]uint64)(l.heads[from:]), h)
	for i < min(from+fanOut, l.n) && l.heads[i] == h && bytes.Compare(l.separator(x, i), key) < 0 {
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
