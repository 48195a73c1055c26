package salvage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// A search contains the blocks and gaps of a file without an index. It takes less memory than the file, however
// many there are.
type search struct {
	fileImage
	blocks   extents           // blocks with entries
	kinds    map[int]blockKind // kinds of blocks other than data blocks, by offset
	index    *extent           // the index, if it is the last block with entries, as in a complete table; otherwise nil
	gaps     []region          // the first gaps
	moreGaps Losses            // counts of the other gaps
}

// searchBlocks finds the blocks and gaps of a file. It calls each with every block, in file order.
func searchBlocks(in fileImage, each func(region)) *search {
	s := &search{fileImage: in, kinds: map[int]blockKind{}}
	lengths := map[uint64]bool{} // there are few, since distinct lengths add up to at most the size of the file
	var last []extent
	unread := 0 // size of the gap at the start of the file
	for p := range scan(in) {
		if p.kind == gap && p.start == 0 {
			unread = p.end
		}
		switch {
		case p.kind == gap && len(s.gaps) < maxListedLosses:
			s.gaps = append(s.gaps, p)
			continue
		case p.kind == gap:
			s.moreGaps.count(p.end-p.start, p.err)
			continue
		}
		each(p)
		lengths[uint64(p.end-p.start)] = true
		if p.kind == dataBlock {
			s.blocks.add(p.extent)
			last = append(last, p.extent)
			last = last[max(0, len(last)-maxTrailingBlocks-1):]
		}
	}
	s.classify(last, lengths, unread)
	return s
}

// data returns the extents of the data blocks.
func (s *search) data() iter.Seq[extent] {
	return func(yield func(extent) bool) {
		for e := range s.blocks.all() {
			if s.kinds[e.start] == dataBlock && !yield(e) {
				return
			}
		}
	}
}

// addLeftOut adds the blocks with entries that are not data blocks.
func (s *search) addLeftOut(l *Losses) {
	for e := range s.blocks.all() {
		if k := s.kinds[e.start]; k != dataBlock {
			what := func() string { return fmt.Sprintf("the block of %d bytes at %d", e.end-e.start, e.start) }
			l.add(what, e.end-e.start, errors.New(kinds[k].leftOut))
		}
	}
}

// A blockKind is the kind of a block, or of a gap between blocks.
type blockKind int

const (
	dataBlock blockKind = iota
	indexBlock
	metaindexBlock
	propertiesBlock
	metaBlock // a block that the metaindex lists, or one without entries: most likely a filter
	gap       // bytes that belong to no block
)

// kinds are the names of the kinds, and the reasons to leave their blocks out.
var kinds = [...]struct{ name, leftOut string }{
	dataBlock: {"data", ""}, indexBlock: {"index", "it looks like an index"}, metaindexBlock: {"metaindex", "it looks like a metaindex"},
	propertiesBlock: {"properties", "it looks like properties"}, metaBlock: {"block", "a metaindex lists it"},
}

// magic is the end of a table.
var magic = binary.LittleEndian.AppendUint64(nil, format.Magic)

// maxSequence is the end of an internal key with the maximum sequence number and the kind that separators have.
var maxSequence = []byte("\x01\xff\xff\xff\xff\xff\xff\xff")

// propertyName matches keys that start like names of properties.
var propertyName = regexp.MustCompile(`^(rocksdb|pebble|sievetable)\.`)

// maxTrailingBlocks is the number of blocks with entries that can follow the data blocks: index, metaindex and
// properties, in any order.
const maxTrailingBlocks = 3

// classify determines the kinds of all blocks. last contains the last blocks with entries and one more. lengths
// contains the lengths of all blocks. unread is the size of the gap at the start of the file.
func (s *search) classify(last []extent, lengths map[uint64]bool, unread int) {
	if len(last) > maxTrailingBlocks {
		s.classifyInner(last[1].start, lengths)
	}
	taken := map[blockKind]bool{} // a table has at most one of each
	written := bytes.TrimRight(s.fileImage.data, "\x00")
	index, hasMagic := indexBeforeFooter(written), bytes.HasSuffix(written, magic)
	var listed []int
	for i, e := range slices.Backward(last) {
		it, err := s.open(e)
		if err != nil || len(last)-i > maxTrailingBlocks {
			continue // only the last ones; decoding them has succeeded before
		}
		atEnd := e.end+format.TrailerLen+format.FooterLen >= len(written)
		is := kindOf(it, lengths, uint64(e.start), uint64(unread), e == index || atEnd && hasMagic, atEnd, s.overlaps(e, last[:i]))
		if taken[is] {
			var before extent
			if i > 0 {
				before = last[i-1]
			}
			is = s.innerKind(before, e, last[i+1], lengths)
		}
		s.kinds[e.start], taken[is] = is, it.First() // the empty index of an empty table looks like a metaindex
		if is == indexBlock && i == len(last)-1 {
			s.index = &e
		}
		for ok := it.First(); ok && is == metaindexBlock; ok = it.Next() {
			offset, _, _ := decodeHandle(it.Value())
			listed = append(listed, int(offset))
		}
	}
	for _, at := range listed {
		if s.kinds[at] == dataBlock {
			s.kinds[at] = metaBlock
		}
	}
}

// overlaps reports whether the key range of the block at e overlaps that of an earlier block. Separators of an
// index do.
func (s *search) overlaps(e extent, before []extent) bool {
	from, to := s.bounds(e)
	return slices.ContainsFunc(before, func(b extent) bool {
		least, most := s.bounds(b)
		return bytes.Compare(from, most) <= 0 && bytes.Compare(least, to) <= 0
	})
}

// bounds returns the first and last key of a block, whichever is bytewise smaller first.
func (s *search) bounds(e extent) (least, most []byte) {
	it, err := s.open(e)
	if err != nil || !it.First() {
		return []byte{0xff}, nil
	}
	least = bytes.Clone(it.Key())
	it.Last()
	if most = it.Key(); bytes.Compare(least, most) > 0 {
		return most, least
	}
	return least, most
}

// kindOf determines the kind of the block at start by its keys and values. A metaindex has names as keys and handles
// as values. Properties have names as keys. A block whose values are all handles is an index if it precedes the
// footer, or if a key has the maximum sequence number, as only separators do. Otherwise the handles must be of
// adjacent blocks, and
//   - at least half of them have lengths of blocks that were found, or
//   - they begin at the start of the file, and the first block is in the unread bytes there, the keys overlap those
//     of an earlier block, there are more than two handles and they end before this block, or there is a single one
//     and at most a footer follows.
func kindOf(it *rowblock.Iter, lengths map[uint64]bool, start, unread uint64, isIndex, atEnd, overlaps bool) blockKind {
	n, found, first, end := 0, 0, uint64(0), uint64(0) // first is the end of the first block
	handles, chained, names, properties, counts, fromStart, separates := true, true, true, true, false, true, false
	for ; it.Next(); n++ {
		offset, length, ok := decodeHandle(it.Value())
		handles = handles && ok
		chained = chained && ok && (n == 0 || offset == end)
		if ok && lengths[length] {
			found++
		}
		if end = offset + length + format.TrailerLen; n == 0 {
			first = end
		}
		fromStart = fromStart && (n > 0 || offset == 0)
		names = names && format.MetaName.Match(it.Key())
		properties = properties && propertyName.Match(it.Key())
		counts = counts || string(it.Key()) == "rocksdb.num.entries"
		separates = separates || bytes.HasSuffix(it.Key(), maxSequence)
	}
	switch {
	case names && handles: // also true for an empty block
		return metaindexBlock
	case handles && (isIndex || separates):
		return indexBlock
	case chained && fromStart && (first <= unread || n == 1 && atEnd || n > 1 && overlaps || n > 2 && end <= start):
		return indexBlock
	case chained && (n > 1 && 2*found >= n || n == 1 && found == 1 && end <= start):
		return indexBlock
	case properties && counts:
		return propertiesBlock
	}
	return dataBlock
}

// indexBeforeFooter returns the index that ends right before the footer, according to the footer's handles, or an
// empty extent if there is none. It ignores the magic number.
func indexBeforeFooter(data []byte) extent {
	end := len(data) - format.FooterLen
	if end < format.TrailerLen {
		return extent{}
	}
	handles := data[end:]
	for range 2 { // skip the handle of the metaindex
		_, n := format.Uvarint(handles)
		handles = handles[n:]
	}
	offset, n := format.Uvarint(handles)
	length, _ := format.Uvarint(handles[n:])
	if uint64(end) != offset+length+format.TrailerLen || offset > uint64(end) {
		return extent{}
	}
	return extent{int(offset), int(offset + length)}
}

// decodeHandle decodes a value that is a handle and nothing else.
func decodeHandle(value []byte) (offset, length uint64, ok bool) {
	offset, n := format.Uvarint(value)
	length, m := format.Uvarint(value[n:])
	ok = n > 0 && m > 0 && n+m == len(value) && length > 0 && offset < 1<<60 && length < 1<<60
	return offset, length, ok
}

// An extent is the range of a block in the file, without its trailer.
type extent struct{ start, end int }

// extents is a compact list of extents in file order, since a file can have very many. Each is encoded as its
// distance from the end of the one before, and its length.
type extents struct {
	encoded []byte
	end     int // the end of the last extent, with its trailer
}

func (l *extents) add(e extent) {
	l.encoded = binary.AppendUvarint(l.encoded, uint64(e.start-l.end))
	l.encoded = binary.AppendUvarint(l.encoded, uint64(e.end-e.start))
	l.end = e.end + format.TrailerLen
}

func (l *extents) all() iter.Seq[extent] {
	return func(yield func(extent) bool) {
		at := 0
		for rest := l.encoded; len(rest) > 0; {
			behind, n := format.Uvarint(rest)
			length, m := format.Uvarint(rest[n:])
			e := extent{at + int(behind), at + int(behind+length)}
			if rest, at = rest[n+m:], e.end+format.TrailerLen; !yield(e) {
				return
			}
		}
	}
}
