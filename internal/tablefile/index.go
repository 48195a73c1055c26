package tablefile

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"sync/atomic"

	"github.com/sievetable/sievetable/internal/format"
)

// An Index is the stored index block: the separator and the handle of each data block, in file order. Every entry is
// a restart point, as engines write it.
//
// An entry is checked when it is used. So the cost of opening a table does not depend on the number of entries, and
// a corrupt entry affects only its data block, the next data block, and searches that compare its separator.
// CheckAll checks all entries.
//
// Lookups use binary search, until there have been enough of them to pay for a searchTree.
type Index struct {
	f      *File // named in errors
	stored format.Block
	N      int // number of data blocks

	inSource bool   // the stored block is memory of the source
	dataEnd  uint64 // where the last data block ends
	Filters  Spans  // locates block filters; nil if none are used; set before the first lookup

	tree    atomic.Pointer[searchTree] // nil until it is built
	sampled atomic.Uint32              // lookups without the tree, ÷ sampleRate; approximate
}

// Spans locates the filter of the data block at an offset.
type Spans interface {
	Span(offset uint64) format.FilterSpan
}

// An indexEntry is an entry of the index. Its slices are parts of the index block.
type indexEntry struct{ separator, value []byte }

// entry returns entry i. It checks the entry's form, and that it lies between its neighbors.
func (x *Index) entry(i int) (indexEntry, error) {
	entries, start, end := x.stored.Entries, x.start(i), x.start(i+1)
	if start >= end || end > uint64(len(entries)) || i == 0 && start > 0 {
		return indexEntry{}, fmt.Errorf("restart points %d and %d are %d and %d, with no entry of up to %d bytes between", i, i+1, start, end, len(entries))
	}
	e, err := format.DecodeEntry(entries, int(start))
	if err != nil {
		return indexEntry{}, err
	}
	if e.Shared > 0 || uint64(e.End) != end {
		return indexEntry{}, fmt.Errorf("entry at %d shares %d bytes and ends at %d: it must share none and end at the next restart point, %d", start, e.Shared, e.End, end)
	}
	return indexEntry{entries[e.Key:e.Value:e.Value], entries[e.Value:e.End:e.End]}, nil
}

// start returns the offset of entry i. If i is N, it returns the end of the last entry.
func (x *Index) start(i int) uint64 {
	if i == x.N {
		return uint64(len(x.stored.Entries))
	}
	return uint64(uint32(x.stored.Restart(i)))
}

// Handle returns the handle of data block i. It checks that the block lies before the footer and after the block
// before.
func (x *Index) Handle(i int) (Handle, error) {
	if t := x.tree.Load(); t != nil {
		return t.refs.handle(i), nil
	}
	e, h, err := x.decode(i)
	if err == nil && i > 0 {
		var before Handle
		if _, before, err = x.decode(i - 1); err == nil {
			err = checkBehind(before, h, e.separator)
		}
	}
	return h, x.fail(err)
}

// Filter returns the location of the filter of data block i. There must be filters. If entry i is corrupt, Filter
// returns an error.
func (x *Index) Filter(i int) (format.FilterSpan, error) {
	if t := x.tree.Load(); t != nil {
		return t.refs.filter(i), nil
	}
	h, err := x.Handle(i)
	return x.Filters.Span(h.Offset), err
}

// decode decodes entry i and its handle.
func (x *Index) decode(i int) (e indexEntry, h Handle, err error) {
	if e, err = x.entry(i); err != nil {
		return e, h, err
	}
	if h, _, err = DecodeHandle(e.value, x.f.FooterOffset); err == nil {
		err = x.f.Footer.checkData(h)
	}
	if err != nil {
		err = fmt.Errorf("separator %s: %w", format.Quote(e.separator), err)
	}
	return e, h, err
}

// checkBehind checks that the data block at h, whose separator is given, starts after the block before it.
func checkBehind(before, h Handle, separator []byte) error {
	if h.Offset < before.End() {
		return fmt.Errorf("separator %s: data block at %d overlaps the one before, which ends at %d", format.Quote(separator), h.Offset, before.End())
	}
	return nil
}

// Separator returns the separator of data block i. It is ≥ all keys of the block, and < all keys of the next one. If
// entry i is corrupt, Separator returns nil.
func (x *Index) Separator(i int) []byte {
	if t := x.tree.Load(); t != nil {
		return t.separator(i)
	}
	e, err := x.entry(i)
	if err != nil {
		return nil
	}
	return e.separator
}

// Search returns the first data block whose separator is ≥ key, the only block that can contain key. If all
// separators are < key, it returns N.
func (x *Index) Search(key []byte) (int, error) {
	t := x.tree.Load()
	if t == nil && x.N > maxUnbuilt && rand.Uint32()%sampleRate == 0 {
		t = x.sample()
	}
	switch {
	case t == nil:
		return x.binarySearch(key)
	case len(t.levels) == 0:
		return t.binarySearch(key), nil
	}
	ordered := key
	if t.order.Suffix > 0 {
		ordered = t.order.Prefix(key)
	}
	node := 0 // in each level: the one below the separator found in the level above
	for i := len(t.levels) - 1; i >= 0; i-- {
		l := &t.levels[i]
		if node = l.search(t, node, key, ordered); node == l.n {
			return x.N, nil
		}
	}
	return node, nil
}

// binarySearch is Search without a tree.
func (x *Index) binarySearch(key []byte) (int, error) {
	low, high := 0, x.N
	for low < high {
		mid := int(uint(low+high) >> 1)
		e, err := x.entry(mid)
		if err != nil {
			return 0, x.fail(err)
		}
		if x.f.o.Order.Compare(e.separator, key) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, nil
}

// sampleRate is the number of lookups per counted lookup. Counting all of them would slow down concurrent lookups in
// one table.
const sampleRate = 16

// maxUnbuilt is the largest number of entries that need no search tree: a binary search takes three steps.
const maxUnbuilt = 8

// sample counts a lookup without a search tree, and builds the tree if that pays. Building takes about as long per
// data block as the tree saves per lookup.
func (x *Index) sample() *searchTree {
	if x.f.o.Order.Unchecked || x.sampled.Add(1) != uint32(x.N)/sampleRate+1 {
		return nil
	}
	return x.build()
}

// build builds the search tree, and returns it. If the index is corrupt it returns nil, and lookups continue without
// a tree, with unchanged results.
func (x *Index) build() *searchTree {
	t, err := newSearchTree(x)
	if err != nil {
		return nil
	}
	x.tree.Store(t)
	return t
}

// Build builds the search tree at once, and reports whether the index is sound. It is for tests.
func (x *Index) Build() bool { return x.build() != nil }

// IsBuilt reports whether there is a search tree. It is for tests.
func (x *Index) IsBuilt() bool { return x.tree.Load() != nil }

// find returns the first data block that ends after offset, and its handle. If there is none, it returns N. Corrupt
// entries are ignored.
func (x *Index) find(offset uint64) (i int, found Handle) {
	i = sort.Search(x.N, func(i int) bool {
		h, err := x.Handle(i)
		return err == nil && h.End() > offset
	})
	if i < x.N {
		found, _ = x.Handle(i)
	}
	return i, found
}

// Overlaps reports whether h overlaps a data block. Most handles lie after all data blocks, which is checked first.
func (x *Index) Overlaps(h Handle) bool {
	if x.dataEnd <= h.Offset {
		return false
	}
	i, found := x.find(h.Offset)
	return i < x.N && found.Offset < h.End()
}

// keysOf returns bounds for the keys of the data block at h: they are > after and ≤ upTo. If there is no such block,
// both are nil. The slices belong to the caller.
func (x *Index) keysOf(h Handle) (after, upTo []byte) {
	i, found := x.find(h.Offset)
	if i == x.N || found != h {
		return nil, nil
	}
	if i > 0 {
		after = append([]byte{}, x.Separator(i-1)...)
	}
	return after, append([]byte{}, x.Separator(i)...)
}

// fail returns the error for err, found in the index, or nil if err is nil.
func (x *Index) fail(err error) error {
	if err == nil {
		return nil
	}
	return x.f.Damaged(IndexBlock, x.f.Footer.Index, err)
}
