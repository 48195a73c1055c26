package tablefile

import (
	"bytes"
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// fanOut is the number of separators in a node of the search tree.
const (
	log2FanOut = 5
	fanOut     = 1 << log2FanOut
)

// A searchTree finds separators in the bytewise order, comparing few whole keys. It copies the separators, and the
// locations of the data blocks and their filters. Its levels are those of a B-tree: the lowest contains all
// separators, in nodes of fanOut. Each level above contains the last separator of each node below. The highest is
// one node.
//
// A node compares numbers: the first 8 bytes of each separator after the prefix that all separators of the node
// share. Whole separators are compared only if their number equals the key's. The numbers are small enough to stay
// in the processor's caches; the separators are not.
//
// If the order has a Suffix, the tree uses keys without it: see block.Order. If the order is not Bytewise, there are
// no levels, and whole keys are compared.
type searchTree struct {
	levels []searchLevel // the lowest first
	order  rowblock.Order
	text   []byte   // the separators, concatenated
	ends   []uint32 // the end of each separator in text
	refs   blockRefs
}

type searchLevel struct {
	numbers []uint64 // one per separator; the last node is padded with the highest number
	nodes   []searchNode
	prefix  []byte // the prefixes of all nodes, concatenated
	n       int    // number of separators
	shift   int    // each separator stands for 1<<shift separators of the lowest level
}

// A searchNode describes the prefix that the separators of a node share.
type searchNode struct {
	prefix    uint32 // offset in searchLevel.prefix
	prefixLen uint32

	// prefixImplied means that the last separator of the node before has the prefix too. Then every key that is
	// searched for in this node has it, since it lies between two separators that do.
	prefixImplied bool
}

// newSearchTree returns the tree for x. If the index is corrupt, it returns an error.
func newSearchTree(x *Index) (*searchTree, error) {
	t := &searchTree{order: x.f.o.Order, ends: make([]uint32, 0, x.N)}
	refs := make([]ref, 0, x.N)
	c := indexChecker{x: x, text: make([]byte, 0, min(len(x.stored.Entries), x.f.Allow(separatorBudget)))}
	for i := range x.N {
		if err := c.check(i); err != nil {
			return nil, err
		}
		t.ends = append(t.ends, uint32(len(c.text)))
		r := ref{offset: c.handle.Offset, length: c.handle.Length}
		if x.Filters != nil {
			r.filter = x.Filters.Span(r.offset)
		}
		refs = append(refs, r)
	}
	t.text, t.refs = slices.Clone(c.text), packRefs(refs, x.Filters != nil)
	t.buildLevels()
	return t, nil
}

// buildLevels sets the levels, unless the order is not Bytewise.
func (t *searchTree) buildLevels() {
	if !t.order.Bytewise() {
		return
	}
	for n, shift := len(t.ends), 0; n > 0; shift += log2FanOut {
		nodes := (n + fanOut - 1) / fanOut
		l := searchLevel{numbers: make([]uint64, nodes*fanOut), nodes: make([]searchNode, nodes), n: n, shift: shift}
		for i := n; i < len(l.numbers); i++ {
			l.numbers[i] = math.MaxUint64
		}
		for node := range nodes {
			l.buildNode(t, node)
		}
		l.prefix = slices.Clip(l.prefix)
		t.levels = append(t.levels, l)
		if nodes == 1 {
			break
		}
		n = nodes
	}
}

// binarySearch returns the first separator that is ≥ key, or the number of separators if there is none. It is used
// for orders without levels.
func (t *searchTree) binarySearch(key []byte) int {
	return sort.Search(len(t.ends), func(i int) bool { return t.order.Func(t.separator(i), key) >= 0 })
}

// memory returns the tree's memory use in bytes.
func (t *searchTree) memory() int {
	size := int(unsafe.Sizeof(*t)) + cap(t.text) + 4*cap(t.ends) + t.refs.memory()
	for i := range t.levels {
		l := &t.levels[i]
		size += int(unsafe.Sizeof(*l)) + 8*cap(l.numbers) + cap(l.prefix) + cap(l.nodes)*int(unsafe.Sizeof(searchNode{}))
	}
	return size
}

// separator returns separator i.
func (t *searchTree) separator(i int) []byte {
	start, end := uint32(0), t.ends[i]
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text[start:end:end]
}

// buildNode sets the numbers of one node.
func (l *searchLevel) buildNode(t *searchTree, node int) {
	start, end := node*fanOut, min((node+1)*fanOut, l.n)
	last := l.orderedPrefix(t, end-1)
	prefixLen := format.SharedLen(l.orderedPrefix(t, start), last)
	n := searchNode{prefix: uint32(len(l.prefix)), prefixLen: uint32(prefixLen)}
	l.prefix = append(l.prefix, last[:prefixLen]...)
	n.prefixImplied = node > 0 && format.SharedLen(l.orderedPrefix(t, start-1), last) >= prefixLen
	for i := start; i < end; i++ {
		l.numbers[i] = format.First8(l.orderedPrefix(t, i)[prefixLen:])
	}
	l.nodes[node] = n
}

// separator returns separator i of the level.
func (l *searchLevel) separator(t *searchTree, i int) []byte {
	return t.separator(min((i+1)<<l.shift, len(t.ends)) - 1)
}

// orderedPrefix returns the part of separator i of the level that is in the bytewise order.
func (l *searchLevel) orderedPrefix(t *searchTree, i int) []byte {
	return t.order.Prefix(l.separator(t, i))
}

// search returns the first separator of the level that is ≥ key. ordered is the part of key in the bytewise order.
// The result lies in the given node, or starts the next node if all separators of the node are < key.
func (l *searchLevel) search(t *searchTree, node int, key, ordered []byte) int {
	start := node * fanOut
	end := min(start+fanOut, l.n)
	n := &l.nodes[node]
	if !n.prefixImplied {
		prefix := l.prefix[n.prefix : n.prefix+n.prefixLen]
		if !bytes.HasPrefix(ordered, prefix) {
			if bytes.Compare(prefix, ordered) > 0 {
				return start
			}
			return end
		}
	}
	number := format.First8(ordered[n.prefixLen:])
	i := start + format.CountLess32((*[fanOut]uint64)(l.numbers[start:]), number)
	for i < end && l.numbers[i] == number && t.order.Compare(l.separator(t, i), key) < 0 {
		i++
	}
	return i
}

// A ref is the location of a data block and of its filter.
type ref struct {
	offset, length uint64
	filter         format.FilterSpan // if there are filters
}

// blockRefs contains the refs of all data blocks, in file order. In most files each block starts where the one
// before ends, and so do the filters. Then it stores only the starts, which takes a third of the memory.
type blockRefs struct {
	// The start of each block and its filter, and the ends of the last ones; nil if these do not determine all refs.
	// Data blocks that are shorter than the filters' base can share a filter.
	starts []refStart

	all []ref // if starts is nil
}

type refStart struct{ block, filter uint32 }

// maxSharing is the maximum number of adjacent data blocks that share a filter in starts. It bounds the search in
// blockRefs.filter.
const maxSharing = 16

// packRefs returns blockRefs for refs in file order. filters is set if there are filters.
func packRefs(all []ref, filters bool) blockRefs {
	starts := make([]refStart, 0, len(all)+1)
	var last refStart // where the last block and its filter end
	sharing := 0      // blocks in a row with the filter of the last one
	for i, r := range all {
		end := r.offset + r.length + format.TrailerLen
		if i > 0 && r.offset != uint64(last.block) || end > math.MaxUint32 {
			return blockRefs{all: all}
		}
		switch s := r.filter; {
		case !filters:
		case s.Start < s.Limit && s.Start == last.filter:
			sharing = 1
		case s.Start < s.Limit && i > 0 && s == all[i-1].filter && sharing < maxSharing:
			sharing++
		default:
			return blockRefs{all: all}
		}
		starts = append(starts, refStart{uint32(r.offset), r.filter.Start})
		last = refStart{uint32(end), r.filter.Limit}
	}
	return blockRefs{starts: append(starts, last)}
}

// handle returns the handle of block i.
func (b *blockRefs) handle(i int) Handle {
	if b.all != nil {
		return Handle{b.all[i].offset, b.all[i].length}
	}
	start := b.starts[i].block
	return Handle{uint64(start), uint64(b.starts[i+1].block - start - format.TrailerLen)}
}

// filter returns the location of the filter of block i. There must be filters.
func (b *blockRefs) filter(i int) format.FilterSpan {
	if b.all != nil {
		return b.all[i].filter
	}
	start := b.starts[i].filter
	for i++; b.starts[i].filter == start; i++ { // it shares its filter with the next block
	}
	return format.FilterSpan{Start: start, Limit: b.starts[i].filter}
}

// memory returns their memory use in bytes.
func (b *blockRefs) memory() int {
	return cap(b.starts)*int(unsafe.Sizeof(refStart{})) + cap(b.all)*int(unsafe.Sizeof(ref{}))
}
