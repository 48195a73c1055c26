package salvage

import (
	"regexp"
	"sort"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// kind is what a block that was found is. All but filters have the same form.
type kind int

const (
	dataBlock  kind = iota
	otherBlock      // a filter, most likely
	indexBlock
	metaindexBlock
	propertiesBlock
)

var (
	metaName     = regexp.MustCompile(`^((full|partitioned)?filter|rocksdb|pebble)\.`)
	propertyName = regexp.MustCompile(`^(rocksdb|pebble|sievetable)\.`)
)

// kindsOf tells what the blocks are, and where those start that a metaindex lists.
func kindsOf(data []byte, found []extent, gaps []gap) (kinds []kind, listed map[uint64]bool) {
	lengths := map[uint64]uint64{} // of blocks, by where they start
	for _, e := range found {
		lengths[uint64(e.start)] = uint64(e.end - e.start)
	}
	listed = map[uint64]bool{}
	for _, e := range found {
		k := otherBlock
		if contents, err := decode(data, e); err == nil {
			if it, err := source.OpenBlock(contents, source.AnyOrder); err == nil {
				k = kindOf(it, lengths, gaps)
				for ok := it.First(); ok && k == metaindexBlock; ok = it.Next() {
					offset, _, _ := handle(it.Value())
					listed[offset] = true
				}
			}
		}
		kinds = append(kinds, k)
	}
	return kinds, listed
}

// kindOf tells the kind by keys and values. Those of an index are handles of blocks that
// follow one another, or of one that was found or is lost; a metaindex has names and
// handles, and properties have names.
func kindOf(it *block.Iter, lengths map[uint64]uint64, gaps []gap) kind {
	n, known, chained, names, properties := 0, 0, 0, 0, 0
	end, counts := uint64(0), false
	for ; it.Next(); n++ {
		offset, length, ok := handle(it.Value())
		if ok && isKnown(offset, length, lengths, gaps) {
			known++
		}
		if ok && (n == 0 || offset == end) {
			chained++
		}
		if ok && metaName.Match(it.Key()) {
			names++
		}
		if propertyName.Match(it.Key()) {
			properties++
			counts = counts || string(it.Key()) == "rocksdb.num.entries"
		}
		end = offset + length + trailerLen
	}
	switch {
	case names == n: // and so it is if there is nothing in it
		return metaindexBlock
	case known == n, chained == n && n > 1:
		return indexBlock
	case properties == n && counts:
		return propertiesBlock
	}
	return dataBlock
}

// handle decodes a value that is a handle, of a block that a file can have.
func handle(value []byte) (offset, length uint64, ok bool) {
	offset, n := wire.Uvarint(value)
	length, m := wire.Uvarint(value[n:])
	ok = n > 0 && m > 0 && n+m == len(value) && length > 0 && offset < 1<<60 && length < 1<<60
	return offset, length, ok
}

// isKnown reports whether a block was found there, or is lost: it starts where a gap
// does, and behind it is the gap's end or a block.
func isKnown(offset, length uint64, lengths map[uint64]uint64, gaps []gap) bool {
	if known, ok := lengths[offset]; ok {
		return known == length
	}
	i := sort.Search(len(gaps), func(i int) bool { return uint64(gaps[i].start) >= offset })
	return i < len(gaps) && uint64(gaps[i].start) == offset && uint64(gaps[i].end) == offset+length+trailerLen
}
