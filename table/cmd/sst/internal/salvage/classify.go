package salvage

import (
	"regexp"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// blockKind is what a block of entries is.
type blockKind int

const (
	dataBlock blockKind = iota
	indexBlock
	metaindexBlock
	propertiesBlock
	metaBlock // by the metaindex
)

// leftOutReasons say what blocks with entries are taken for that are no data.
var leftOutReasons = map[blockKind]string{
	indexBlock: "it looks like an index", metaindexBlock: "it looks like a metaindex",
	propertiesBlock: "it looks like properties", metaBlock: "a metaindex lists it",
}

var propertyName = regexp.MustCompile(`^(rocksdb|pebble|sievetable)\.`)

// maxTrailingBlocks is how many blocks at the end of a table can be no data: index, metaindex, and
// properties, in any order.
const maxTrailingBlocks = 3

// classifier tell what the blocks of entries are: data, but for the last few, and those that a
// metaindex lists.
type classifier struct {
	last   map[int]blockKind // by where they start
	listed []uint64          // where the blocks start that the metaindex lists, in order
}

// classify tells the kinds of a table's blocks by the last of them, and by all lengths that
// blocks have.
func classify(in fileImage, last []extent, lengths map[uint64]bool) (k classifier) {
	k.last = map[int]blockKind{}
	taken := map[blockKind]bool{} // a table has one of each
	index := indexBeforeFooter(in.data)
	for _, e := range slices.Backward(last) {
		it, err := in.open(e)
		if err != nil {
			continue // it could be, before
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

// of is the kind of a block.
func (k classifier) of(e extent) blockKind {
	is := k.last[e.start]
	if _, listed := slices.BinarySearch(k.listed, uint64(e.start)); listed && is == dataBlock {
		return metaBlock
	}
	return is
}

// kindOf tells the kind of a block that starts at start by its keys and values. Those of an
// index are handles: of blocks that follow one another, from the start of the file on or as
// long as some that were found. A metaindex has names and handles, and properties have names.
func kindOf(it *block.Iter, lengths map[uint64]bool, start uint64, isIndex bool) blockKind {
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
		count(&properties, propertyName.Match(it.Key()))
		counts = counts || string(it.Key()) == "rocksdb.num.entries"
	}
	switch {
	case names == n && handles == n: // and so it is if there is nothing in it
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

// indexBeforeFooter returns the index that lies right before the footer, as the footer says it, its
// magic number aside. Where it does not, that is no block.
func indexBeforeFooter(data []byte) extent {
	end := len(data) - format.FooterLen
	if end < format.TrailerLen {
		return extent{}
	}
	handles := data[end:]
	for range 2 { // those of the metaindex
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

// decodeHandle decodes a value that is a decodeHandle, of a block that a file can have.
func decodeHandle(value []byte) (offset, length uint64, ok bool) {
	offset, n := wire.Uvarint(value)
	length, m := wire.Uvarint(value[n:])
	ok = n > 0 && m > 0 && n+m == len(value) && length > 0 && offset < 1<<60 && length < 1<<60
	return offset, length, ok
}
