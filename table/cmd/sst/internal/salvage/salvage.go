package salvage

import (
	"fmt"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// A Salvage is what can be read of a table.
type Salvage struct {
	Internal bool   // keys are internal keys
	Blocks   int    // data blocks that are whole
	Damage   error  // why the table cannot be opened; nil if it can
	Searched bool   // there is no index to go by: blocks were found by their checksums
	Lost     Losses // what was not, when all Pairs were gone over

	LeftOut Losses // blocks that look like no data, where no index says which are

	eachBlock     func(yield func(it *block.Iter) bool)
	unreadRegions Losses // what is Lost before any block is read
}

// Found reports whether there is any block of entries, of whatever kind or size.
func (s *Salvage) Found() bool {
	return s.Blocks > 0 || s.LeftOut.Any() || s.Lost.anyTooLarge()
}

// Open finds what can be read of the file, by its index or, if that cannot be read,
// by the blocks' checksums. For this it takes the file into memory.
func Open(f *source.File, internal source.InternalKeys) (*Salvage, error) {
	s := &Salvage{Damage: f.Damage}
	if f.Layout != nil {
		s.eachBlock = func(yield func(*block.Iter) bool) { s.byIndex(f, yield) }
		s.Internal = f.Internal && (internal == source.Yes || source.AllInternalKeys(s.eachBlock))
		f.DetectOrder(s.eachBlock)
		return s, nil
	}
	in, err := readImage(f)
	if err != nil {
		return nil, err
	}
	found := searchBlocks(in)
	for range found.data() {
		s.Blocks++
	}
	s.Searched = true
	s.eachBlock = func(yield func(*block.Iter) bool) { s.byChecksum(found, yield) }
	s.Internal = internal == source.Yes || internal == source.Auto && f.DetectInternalKeys(s.eachBlock)
	f.Internal = s.Internal
	f.DetectOrder(s.eachBlock)
	found.addLeftOut(&s.LeftOut)
	s.unreadRegions = found.lost(f.Separator)
	s.Lost = s.unreadRegions
	return s, nil
}

// byIndex yields the data blocks that the index lists, with their keys in any order.
func (s *Salvage) byIndex(f *source.File, yield func(*block.Iter) bool) {
	s.Blocks, s.Lost = 0, Losses{}
	for i, part := range f.Layout.Data {
		it, err := openDataBlock(f, part)
		if err != nil {
			s.Lost.add(func() string { return "the keys " + keyRangeOf(f, i) }, int(part.Length), err)
			continue
		}
		if s.Blocks++; !yield(it) {
			return
		}
	}
}

func openDataBlock(f *source.File, part table.IndexEntry) (*block.Iter, error) {
	contents, _, err := f.Layout.ReadBlock(part.Handle)
	if err != nil {
		return nil, err
	}
	it, err := source.OpenBlock(contents, table.AnyOrder)
	if err != nil {
		return nil, &table.CorruptionError{Block: "data block", Offset: int64(part.Offset), Length: int64(part.Length), Err: err}
	}
	return it, nil
}

// keyRangeOf says between which separators data block i's keys are.
func keyRangeOf(f *source.File, i int) string {
	upTo := "≤ " + f.Separator(f.Layout.Data[i].Separator)
	if i == 0 {
		return upTo
	}
	return fmt.Sprintf("> %s and %s", f.Separator(f.Layout.Data[i-1].Separator), upTo)
}

// byChecksum yields the blocks that were found. They were sound then.
func (s *Salvage) byChecksum(found *search, yield func(*block.Iter) bool) {
	s.Lost = s.unreadRegions
	s.Lost.First = slices.Clip(s.Lost.First)
	for e := range found.data() {
		it, err := found.open(e)
		if err != nil {
			s.Lost.add(func() string { return fmt.Sprintf("the data block of %d bytes at %d", e.end-e.start, e.start) }, e.end-e.start, err)
			continue
		}
		if !yield(it) {
			return
		}
	}
}

// Pairs returns the pairs of all whole blocks, with their keys as they are stored.
// They come in the order of the file. What is lost is known when all were gone over.
func (s *Salvage) Pairs() iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		for it := range s.eachBlock {
			for it.Next() {
				if !yield(input.Pair{Key: it.Key(), Value: it.Value()}, nil) {
					return
				}
			}
		}
	}
}
