package salvage

import (
	"bytes"
	"slices"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// A blockKind is the kind of a block with entries.
type blockKind int

const (
	dataBlock blockKind = iota
	indexBlock
	metaindexBlock
	propertiesBlock
	metaBlock // a block that the metaindex lists
)

// leftOutReasons says why a block is not taken for a data block.
var leftOutReasons = map[blockKind]string{
	indexBlock: "it looks like an index", metaindexBlock: "it looks like a metaindex",
	propertiesBlock: "it looks like properties", metaBlock: "a metaindex lists it",
}

// isPropertyName reports whether a key begins as the names of properties do.
func isPropertyName(key []byte) bool {
	writer, _, found := bytes.Cut(key, []byte("."))
	switch string(writer) {
	case "rocksdb", "pebble", "sievetable":
		return found
	}
	return false
}

// maxTrailingBlocks is how many blocks at the end of a table have entries but no data:
// index, metaindex and properties, in any order.
const maxTrailingBlocks = 3

// A classifier tells the kinds of the blocks with entries. They are data blocks, except for
// some of the last ones, and for those that a metaindex lists.
type classifier struct {
	last   map[int]blockKind // the kinds of the last blocks, by offset
	listed []uint64          // sorted offsets of the blocks that the metaindex lists
}

// classify classifies the last blocks with entries of a file. lengths holds the lengths of
// all blocks.
func classify(in fileImage, last []extent, lengths map[uint64]bool) (k classifier) {
	k.last = map[int]blockKind{}
	taken := map[blockKind]bool{} // a table has at most one of each
	index := indexBeforeFooter(in.data)
	for _, e := range slices.Backward(last) {
		it, err := in.open(e)
		if err != nil {
			continue // it was decoded before
		}
		is := kindOf(it, lengths, uint64(e.start), e == index)
		if taken[is] {
			is = dataBlock
		}
		k.last[e.start], taken[is] = is, true
		for ok := it.First(); ok && is == metaindexBlock; ok = it.Next() {
			offset, _, _ := decodeHandle(it.Value())
			k.listed = append(k.listed, offset)
		}
	}
	slices.Sort(k.listed)
	return k
}

// of returns the kind of a block.
func (k classifier) of(e extent) blockKind {
	is := k.last[e.start]
	if _, listed := slices.BinarySearch(k.listed, uint64(e.start)); listed && is == dataBlock {
		return metaBlock
	}
	return is
}

// kindOf tells the kind of the block at start by its keys and values. All values of an
// index are handles: either of adjacent blocks, from the start of the file on, or with the
// lengths of blocks that were found. A metaindex has names as keys and handles as values.
// Properties have names as keys.
func kindOf(it *encoded.Iter, lengths map[uint64]bool, start uint64, isIndex bool) blockKind {
	n, handles, chained, found, names, properties := 0, 0, 0, 0, 0, 0
	end, counts, fromStart := uint64(0), false, true
	count := func(to *int, is bool) {
		if is {
			*to++
		}
	}
	for ; it.Next(); n++ {
		offset, length, ok := decodeHandle(it.Value())
		count(&handles, ok)
		count(&chained, ok && (n == 0 || offset == end))
		count(&found, ok && lengths[length])
		end = offset + length + format.TrailerLen
		fromStart = fromStart && (n > 0 || offset == 0)
		count(&names, format.MetaName.Match(it.Key()))
		count(&properties, isPropertyName(it.Key()))
		counts = counts || string(it.Key()) == "rocksdb.num.entries"
	}
	switch {
	case names == n && handles == n: // also true for an empty block
		return metaindexBlock
	case handles == n && isIndex:
		return indexBlock
	case chained == n && n > 1 && (2*found >= n || fromStart && n > 2 && end <= start), n == 1 && found == 1 && end <= start:
		return indexBlock
	case properties == n && counts:
		return propertiesBlock
	}
	return dataBlock
}

// indexBeforeFooter returns the index that ends right before the footer, if the footer says
// that there is one. It ignores the magic number. Otherwise it returns an empty extent.
func indexBeforeFooter(data []byte) extent {
	end := len(data) - format.FooterLen
	if end < format.TrailerLen {
		return extent{}
	}
	handles := data[end:]
	for range 2 { // skip the handle of the metaindex
		_, n := wire.Uvarint(handles)
		handles = handles[n:]
	}
	offset, n := wire.Uvarint(handles)
	length, _ := wire.Uvarint(handles[n:])
	if uint64(end) != offset+length+format.TrailerLen || offset > uint64(end) {
		return extent{}
	}
	return extent{int(offset), int(offset + length)}
}

// decodeHandle decodes a value that is a handle and nothing else.
func decodeHandle(value []byte) (offset, length uint64, ok bool) {
	offset, n := wire.Uvarint(value)
	length, m := wire.Uvarint(value[n:])
	ok = n > 0 && m > 0 && n+m == len(value) && length > 0 && offset < 1<<60 && length < 1<<60
	return offset, length, ok
}
