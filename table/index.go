package table

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// An index is the decoded index block: the separator and the handle of each data block, in
// the order of the file.
type index struct {
	text    []byte   // the separators, one behind the other
	ends    []uint32 // where in text each separator ends
	handles blockHandles
	order   block.Order
	tree    searchTree // of the separators, if the order is Bytewise
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
	node := 0 // in each level: the one below the separator found in the level above
	for i := len(x.tree.levels) - 1; i >= 0; i-- {
		l := &x.tree.levels[i]
		if node = l.search(x, node, key); node == l.n {
			return x.len()
		}
	}
	return node
}

// readIndex reads and decodes the index block at h.
func (f *tableFile) readIndex(h Handle) (*index, error) {
	var b buffers
	contents, err := f.readBlock(IndexBlock, h, &b)
	if err != nil {
		return nil, err
	}
	x := &index{order: f.order}
	if err := x.decode(contents, f.footerOffset); err != nil {
		return nil, f.damaged(IndexBlock, h, err)
	}
	return x, nil
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

// decode decodes contents, the index block, and overwrites it. The data blocks must end
// before limit.
//
// Engines write an index with a restart point at each entry. Then no separator shares
// bytes, and all together are shorter than contents. In an index whose separators share
// bytes, a few bytes can stand for long separators: a budget bounds their total length.
func (x *index) decode(contents []byte, limit uint64) error {
	var it block.Iter
	budget := block.Budget{Memory: indexKeyBudget.forFile(limit), Compared: compareBudget(len(contents))}
	if err := it.Open(contents, x.order, &budget); err != nil {
		return err
	}
	if err := x.addEntries(&it, contents[:0], limit); err != nil {
		return err
	}
	if x.order.Bytewise() {
		x.tree = newSearchTree(x)
	}
	return nil
}

// addEntries adds the entries of it, in the memory of text: an empty slice at the start of
// the block that it reads.
//
// So append writes to the buffer that it is read from. That is safe if no separator shares
// bytes: all separators up to an entry are then shorter than the block up to the end of
// that entry's key, so that append overwrites only what has been read. It saves memory as
// large as the index. If separators share bytes, they get memory of their own.
func (x *index) addEntries(it *block.Iter, text []byte, limit uint64) error {
	const minBlock = 1 + format.TrailerLen // the file has no space for more of them
	n := int(min(uint64(it.Len()), limit/minBlock+1))
	x.ends, x.handles = make([]uint32, 0, n), makeBlockHandles(n)
	budget := int(min(uint64(separatorBudget.forFile(limit)), math.MaxUint32))
	if it.SharesKeys() {
		text = nil
	}
	for ok := it.First(); ok; ok = it.Next() {
		separator := it.Key()
		h, err := x.nextHandle(it.Value(), limit)
		if err != nil {
			return fmt.Errorf("separator %s: %w", wire.Quote(separator), err)
		}
		if it.SharesKeys() && len(separator) > budget-len(text) {
			return fmt.Errorf("separators that share bytes have over %d bytes together, which is too much for a file of this size", budget)
		}
		text = append(text, separator...)
		x.ends = append(x.ends, uint32(len(text)))
		x.handles.append(h)
	}
	if x.text = text; len(text) <= min(cap(text)/2, budget) {
		x.text = slices.Clip(bytes.Clone(text))
	}
	return nil
}

// nextHandle decodes the handle of the next data block, and checks that it is behind the
// last one and ends before limit.
func (x *index) nextHandle(value []byte, limit uint64) (Handle, error) {
	h, _, err := decodeHandle(value, limit)
	if err != nil {
		return Handle{}, err
	}
	if n := x.len(); n > 0 {
		if end := x.handles.at(n - 1).end(); h.Offset < end {
			return Handle{}, fmt.Errorf("data block at %d, want it behind the one before, at %d or later", h.Offset, end)
		}
	}
	return h, nil
}
