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

// index is the decoded index block: for each data block its separator and its
// handle, both in the order of the file.
type index struct {
	text    []byte // what the separators are parts of
	spans   []span // where in text each is
	handles []Handle
	order   block.Order
	tree    searchTree // if the order is bytewise, but for a suffix
}

// span is the part of a text from start to end.
type span struct{ start, end uint32 }

func (x *index) len() int { return len(x.handles) }

// separator returns data block i's: it is not below any key of the block, and
// below all keys of the next.
func (x *index) separator(i int) []byte {
	s := x.spans[i]
	return x.text[s.start:s.end:s.end]
}

// search returns the first data block whose separator is not below key: the
// only one that can hold it. It is x.len() if all separators are below.
func (x *index) search(key []byte) int {
	if x.order.Bytewise() {
		return x.tree.search(x, key)
	}
	return sort.Search(x.len(), func(i int) bool { return x.order.Func(x.separator(i), key) >= 0 })
}

// readIndex reads the index block.
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

// overlapping returns the data block that shares bytes with h, if one does.
func (x *index) overlapping(h Handle) (Handle, bool) {
	i := sort.Search(x.len(), func(i int) bool { return x.handles[i].end() > h.Offset })
	if i < x.len() && x.handles[i].Offset < h.end() {
		return x.handles[i], true
	}
	return Handle{}, false
}

// decode decodes the index, whose blocks must lie below limit. It takes contents over.
//
// An index is written with a restart point at each entry, so that no key shares
// anything, and the separators together are shorter than contents. In one that
// does share, few bytes can make long separators: all together they are bounded.
func (x *index) decode(contents []byte, limit uint64) error {
	var it block.Iter
	budget := block.Budget{Memory: indexKeyBudget.of(limit), Compared: compareBudget(len(contents))}
	if err := it.Open(contents, x.order, &budget); err != nil {
		return err
	}
	if err := x.keep(&it, contents[:0], limit); err != nil {
		return err
	}
	if x.order.Bytewise() {
		x.tree = newSearchTree(x)
	}
	return nil
}

// keep checks that the handles of it follow one another below limit, and keeps
// them and the separators. These move into text, which is the start of the block
// that they are in.
func (x *index) keep(it *block.Iter, text []byte, limit uint64) error {
	const minBlock = 1 + format.TrailerLen // so there are no more than the file has room for
	n := int(min(uint64(it.Len()), limit/minBlock+1))
	x.spans, x.handles = make([]span, 0, n), make([]Handle, 0, n)
	room := int(min(uint64(separatorBudget.of(limit)), math.MaxUint32))
	if it.SharesKeys() {
		text = nil
	}
	last := uint64(0)
	for ok := it.First(); ok; ok = it.Next() {
		key := it.Key()
		h, _, err := decodeHandle(it.Value(), limit)
		if err != nil {
			return fmt.Errorf("separator %s: %w", wire.Quote(key), err)
		}
		if h.Offset < last {
			return fmt.Errorf("separator %s: data block at %d, want it behind the one before, at %d or later", wire.Quote(key), h.Offset, last)
		}
		if it.SharesKeys() && len(key) > room-len(text) {
			return fmt.Errorf("separators that share bytes, of over %d bytes together, which is too much for a file of this size", room)
		}
		last = h.end()
		start := len(text)
		text = append(text, key...)
		x.spans = append(x.spans, span{uint32(start), uint32(len(text))})
		x.handles = append(x.handles, h)
	}
	if x.text = text; len(text) <= min(cap(text)/2, room) {
		x.text = slices.Clip(bytes.Clone(text))
	}
	return nil
}
