package table

import (
	"bytes"
	"fmt"
	"sort"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
)

// index is the decoded index block: for each data block its separator and its
// handle, both in the order of the file.
type index struct {
	separators [][]byte
	handles    []handle
	compare    func(a, b []byte) int
}

func (x *index) len() int { return len(x.handles) }

// search returns the first data block whose separator is not below key: the
// only one that can hold it. It is x.len() if all separators are below.
func (x *index) search(key []byte) int {
	low, high := 0, x.len()
	for low < high {
		mid := int(uint(low+high) >> 1)
		if x.order(x.separators[mid], key) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

func (x *index) order(a, b []byte) int {
	if x.compare == nil {
		return bytes.Compare(a, b)
	}
	return x.compare(a, b)
}

// readIndex reads the index block.
func (r *Reader) readIndex(h handle) (*index, error) {
	var b buffers
	contents, err := r.readBlock(partIndex, h, &b)
	if err != nil {
		return nil, err
	}
	x := &index{compare: r.compare}
	if err := x.decode(contents, h.length, r.footerOffset); err != nil {
		return nil, &CorruptionError{Block: partIndex, Offset: int64(h.offset), Err: err}
	}
	return x, nil
}

// overlapping returns the data block that shares bytes with h, if one does.
func (x *index) overlapping(h handle) (handle, bool) {
	i := sort.Search(x.len(), func(i int) bool { return x.handles[i].end() > h.offset })
	if i < x.len() && x.handles[i].offset < h.end() {
		return x.handles[i], true
	}
	return handle{}, false
}

// decode decodes the index, which takes length bytes in the file, and whose
// blocks must lie below limit. It keeps contents.
//
// An index is written with a restart point at each entry, so that no key shares
// anything, and the separators are parts of contents. In one that does share,
// few bytes can make long separators: all together they are bounded.
func (x *index) decode(contents []byte, length, limit uint64) error {
	var it block.Iter
	budget := block.Budget{Memory: indexKeyBudget.of(limit), Work: compareBudget(length)}
	if err := it.Open(contents, x.compare, &budget); err != nil {
		return err
	}
	n, err := checkHandles(&it, limit)
	if err != nil {
		return err
	}
	x.separators, x.handles = make([][]byte, 0, n), make([]handle, 0, n)
	room := separatorBudget.of(limit)
	for ok := it.First(); ok; ok = it.Next() {
		separator := it.Key()
		if it.SharesKeys() {
			if room -= len(separator); room < 0 {
				return fmt.Errorf("separators that share bytes, of %d bytes together, which is too much for a file of this size", separatorBudget.of(limit)-room)
			}
			separator = bytes.Clone(separator)
		}
		h, _ := decodeWholeHandle(it.Value(), limit) // which checkHandles has checked
		x.separators, x.handles = append(x.separators, separator), append(x.handles, h)
	}
	return nil
}

// checkHandles checks that the index's handles follow one another below limit,
// and returns how many there are: no more than the file has room for blocks.
func checkHandles(it *block.Iter, limit uint64) (n int, err error) {
	last := uint64(0)
	for ok := it.First(); ok; ok = it.Next() {
		h, err := decodeWholeHandle(it.Value(), limit)
		if err != nil {
			return 0, fmt.Errorf("separator %s: %w", wire.Quote(it.Key()), err)
		}
		if h.offset < last {
			return 0, fmt.Errorf("separator %s: data block at %d, want it behind the one before, at %d or later",
				wire.Quote(it.Key()), h.offset, last)
		}
		last = h.end()
		n++
	}
	return n, nil
}
