package salvage

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// A Salvage gives access to the readable parts of a damaged table.
type Salvage struct {
	Blocks   int    // number of undamaged data blocks
	Searched bool   // the index cannot be read, so blocks were found by their checksums
	Lost     Losses // unreadable parts; complete after all Pairs were read

	Compressions map[string]int // number of undamaged data blocks by compression name, if Searched

	Disorder Losses // keys out of order, if the order is known; complete when Lost is
	LeftOut  Losses // if Searched: blocks that do not look like data blocks

	file          *dbfile.File
	found         *search // nil if blocks were not searched for
	eachBlock     func(yield func(it *rowblock.Iter) bool)
	separator     []byte // of the current block, from the index; nil: none
	unreadRegions Losses // regions that the search could not read: Lost starts with them
}

// Found reports whether any block with entries was found, of any kind or size.
func (s *Salvage) Found() bool {
	return s.Blocks > 0 || s.LeftOut.Any() || s.Lost.anyTooLarge()
}

// Open finds the readable blocks of f through its index, and sets f.Internal and f.Order. If the index cannot be read,
// Open reads the whole file into memory and searches it for blocks with valid checksums.
func Open(f *dbfile.File, internal dbfile.InternalKeys) (*Salvage, error) {
	s := &Salvage{file: f}
	if f.Layout != nil {
		s.eachBlock = s.byIndex
		f.Internal = f.Internal && (internal == dbfile.Yes || dbfile.AllInternalKeys(s.eachBlock))
	} else {
		in, err := readImage(f)
		if err != nil {
			return nil, err
		}
		s.Searched, s.found, s.eachBlock = true, searchBlocks(in, func(region) {}), s.byChecksum
		s.Compressions = map[string]int{}
		for e := range s.found.data() {
			s.Blocks++
			s.Compressions[tablestats.CompressionOf(in.data[e.end], in.data[e.start:e.end])]++
		}
		f.Internal = internal == dbfile.Yes || internal == dbfile.Auto && f.DetectInternalKeys(s.eachBlock)
	}
	f.DetectOrder(s.eachBlock)
	if s.Searched {
		s.found.addLeftOut(&s.LeftOut)
		s.unreadRegions = s.found.lost(f.Separator)
		s.Lost = s.unreadRegions
	}
	return s, nil
}

// byIndex yields the data blocks that the index lists. Their keys may be in any order.
func (s *Salvage) byIndex(yield func(*rowblock.Iter) bool) {
	f := s.file
	s.Blocks, s.Lost = 0, Losses{}
	for i, part := range f.Layout.Data {
		it, _, _, err := f.OpenDataBlock(part.Handle, table.AnyOrder)
		if err != nil {
			s.Lost.add(func() string { return "the keys " + keyRangeOf(f, i) }, int(part.Length), err)
			continue
		}
		s.separator = part.Separator
		if s.Blocks++; !yield(it) {
			return
		}
	}
}

// keyRangeOf describes the range of keys in data block i by its separators.
func keyRangeOf(f *dbfile.File, i int) string {
	upTo := boundOf(f, f.Layout.Data[i].Separator, "≤", "<")
	if i == 0 {
		return upTo
	}
	return boundOf(f, f.Layout.Data[i-1].Separator, ">", "≥") + " and " + upTo
}

// boundOf formats a separator as a bound. A separator with the maximum sequence number precedes all versions of its
// user key.
func boundOf(f *dbfile.File, separator []byte, is, ofUserKeys string) string {
	if k, ok := internalkey.Parse(separator); ok && f.Internal && k.Sequence == internalkey.MaxSequence {
		return ofUserKeys + " " + format.Quote(k.UserKey)
	}
	return is + " " + f.Separator(separator)
}

// byChecksum yields the data blocks that were found by their checksums.
func (s *Salvage) byChecksum(yield func(*rowblock.Iter) bool) {
	s.Lost = s.unreadRegions
	s.Lost.First = slices.Clip(s.Lost.First)
	for e := range s.found.data() {
		it, err := s.found.open(e)
		if err != nil {
			s.Lost.add(func() string { return fmt.Sprintf("the data block of %d bytes at %d", e.end-e.start, e.start) }, e.end-e.start, err)
			continue
		}
		if !yield(it) {
			return
		}
	}
}

// Pairs yields the pairs of all undamaged blocks in file order, with the stored keys.
func (s *Salvage) Pairs() iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		s.Disorder = Losses{}
		var last []byte
		for it := range s.eachBlock {
			for it.Next() {
				if s.isBefore(it.Key(), last) || s.isBefore(s.separator, it.Key()) {
					s.Disorder.add(func() string { return "the key " + s.file.Separator(it.Key()) }, len(it.Key()), errDisorder)
				}
				last = append(last[:0], it.Key()...)
				if !yield(input.Pair{Key: it.Key(), Value: it.Value()}, nil) {
					return
				}
			}
		}
	}
}

var errDisorder = errors.New("keys are out of order: if one was changed, the original is lost")

// isBefore reports whether a is before b. It is false if the order is unknown, or a or b is nil.
func (s *Salvage) isBefore(a, b []byte) bool {
	return a != nil && b != nil && s.file.Order != table.AnyOrder && s.file.Comparer().Compare(a, b) < 0
}

// WholeUntil returns the last key of the longest sequence of data blocks that starts at the start of the file and
// has no gaps. If the index was found, it must list these blocks. No entry up to that key is lost. Blocks after a
// gap can belong to another table, which is a value of this one. WholeUntil returns nil if blocks were not searched
// for, if there are no such blocks, or if their keys are out of order. It also returns nil if first is set and is
// not the first key: then the file is another table.
func (s *Salvage) WholeUntil(first []byte) (key []byte) {
	if !s.Searched {
		return nil
	}
	var index *rowblock.Iter
	if s.found.index != nil {
		index, _ = s.found.open(*s.found.index) // opening it has succeeded before
	}
	end := 0
	for e := range s.found.data() {
		it, err := s.found.open(e)
		if e.start != end || err != nil {
			break
		}
		if index != nil && !s.isNext(index, e, it) {
			if end > 0 {
				break
			}
			index = nil // it belongs to a table that is a value
		}
		for ok := it.First(); ok; ok = it.Next() {
			if key == nil && first != nil && !bytes.Equal(it.Key(), first) || s.isBefore(it.Key(), key) {
				return nil
			}
			key = append(key[:0], it.Key()...)
		}
		end = e.end + format.TrailerLen
	}
	return key
}

// isNext moves to the next entry of the index, and reports whether it lists the block at e. It also compares keys:
// if bytes are missing from the file, the block can have moved to the place of another one of the same size.
func (s *Salvage) isNext(index *rowblock.Iter, e extent, block *rowblock.Iter) bool {
	if !index.Next() || !block.Last() || s.isBefore(index.Key(), block.Key()) {
		return false
	}
	offset, length, _ := decodeHandle(index.Value())
	return offset == uint64(e.start) && length == uint64(e.end-e.start)
}

// A FoundBlock is a block that was found by its checksum.
type FoundBlock struct {
	layout.Handle
	Kind        string // data, index, metaindex, properties, or block if unknown
	Compression byte   // id
	file        fileImage
}

// Contents returns the decompressed block. It may be a slice of the file in memory.
func (f FoundBlock) Contents() ([]byte, error) {
	return f.file.decode(extent{int(f.Offset), int(f.Offset + f.Length)})
}

// MaxFound is the maximum number of blocks that FindBlocks finds. Tables of engines have fewer. A hostile file can
// have a block in every 6 bytes, and its description takes far more memory than that.
const MaxFound = 1 << 17

// FindBlocks finds the first MaxFound blocks of a file by their checksums, in file order. It reads the whole file
// into memory.
func FindBlocks(f *dbfile.File) (found []FoundBlock, err error) {
	in, err := readImage(f)
	if err != nil {
		return nil, err
	}
	search := searchBlocks(in, func(p region) {
		if len(found) == MaxFound {
			return
		}
		h := layout.Handle{Offset: uint64(p.start), Length: uint64(p.end - p.start)}
		found = append(found, FoundBlock{h, kinds[p.kind].name, in.data[p.end], in})
	})
	for i, b := range found {
		if kind := search.kinds[int(b.Offset)]; kind != dataBlock {
			found[i].Kind = kinds[kind].name
		}
	}
	return found, nil
}
