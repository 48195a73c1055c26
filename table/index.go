package table

import (
	"sort"
	"sync/atomic"

	"github.com/sievetable/sievetable/block"
)

// An index is the decoded index block: the separator and the handle of each data block, in
// the order of the file.
type index struct {
	text    []byte   // the separators, one behind the other
	ends    []uint32 // where in text each separator ends
	handles blockHandles
	order   block.Order
	tree    atomic.Pointer[searchTree] // of the separators; nil before the first search
}

// len returns the number of data blocks.
func (x *index) len() int { return len(x.ends) }

// separator returns the separator of data block i. It is ≥ all keys of the block, and <
// all keys of the next one.
func (x *index) separator(i int) []byte {
	start, end := uint32(0), x.ends[i]
	if i > 0 {
		start = x.ends[i-1]
	}
	return x.text[start:end:end]
}

// search returns the first data block whose separator is ≥ key: the only one that can
// hold key. If all separators are < key, it returns x.len().
func (x *index) search(key []byte) int {
	if !x.order.Bytewise() {
		return sort.Search(x.len(), func(i int) bool { return x.order.Func(x.separator(i), key) >= 0 })
	}
	levels := x.searchTree().levels
	node := 0 // in each level: the one below the separator found in the level above
	for i := len(levels) - 1; i >= 0; i-- {
		l := &levels[i]
		if node = l.search(x, node, key); node == l.n {
			return x.len()
		}
	}
	return node
}

// searchTree returns the tree. The first search builds it, so that to open a table takes less
// time. If several goroutines build it at once, they build the same.
func (x *index) searchTree() *searchTree {
	t := x.tree.Load()
	if t == nil {
		t = newSearchTree(x)
		x.tree.Store(t)
	}
	return t
}

// overlapping returns the first data block that shares bytes with h, if there is one.
func (x *index) overlapping(h Handle) (Handle, bool) {
	i := sort.Search(x.len(), func(i int) bool { return x.handles.at(i).end() > h.Offset })
	if i == x.len() {
		return Handle{}, false
	}
	found := x.handles.at(i)
	return found, found.Offset < h.end()
}

// keysOf returns which keys the data block at h can have: those > after and ≤ upTo. If there is
// no such block, both are nil.
func (x *index) keysOf(h Handle) (after, upTo []byte) {
	i := sort.Search(x.len(), func(i int) bool { return x.handles.at(i).Offset >= h.Offset })
	if i == x.len() || x.handles.at(i) != h {
		return nil, nil
	}
	if i > 0 {
		after = x.separator(i - 1)
	}
	return after, x.separator(i)
}
