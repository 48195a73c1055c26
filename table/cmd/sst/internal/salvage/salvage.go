package salvage

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// A Salvage is what can be read of a damaged table.
type Salvage struct {
	Internal bool   // the keys are internal keys
	Blocks   int    // number of undamaged data blocks
	Damage   error  // why the table cannot be opened; nil: it can
	Searched bool   // the index cannot be read, so blocks were found by their checksums
	Lost     Losses // what could not be read; complete after all Pairs were read

	Disorder Losses // keys that are out of order in a known order; complete as Lost is
	LeftOut  Losses // blocks that do not look like data blocks, if the index cannot be read

	file          *dbfile.File
	found         *search // nil if blocks were not searched for
	eachBlock     func(yield func(it *encoded.Iter) bool)
	separator     []byte // of the block, by the index; nil: there is none
	unreadRegions Losses // the value of Lost before the first block is read
}

// Found reports whether there is any block with entries, of any kind or size.
func (s *Salvage) Found() bool {
	return s.Blocks > 0 || s.LeftOut.Any() || s.Lost.anyTooLarge()
}

// Open finds what can be read of the file: through its index or, if that cannot be read, by
// the checksums of blocks. In the second case it reads the whole file into memory.
func Open(f *dbfile.File, internal dbfile.InternalKeys) (*Salvage, error) {
	s := &Salvage{Damage: f.Damage, file: f}
	if f.Layout != nil {
		s.eachBlock = func(yield func(*encoded.Iter) bool) { s.byIndex(f, yield) }
		s.Internal = f.Internal && (internal == dbfile.Yes || dbfile.AllInternalKeys(s.eachBlock))
		f.Internal = s.Internal
		f.DetectOrder(s.eachBlock)
		return s, nil
	}
	in, err := readImage(f)
	if err != nil {
		return nil, err
	}
	found := searchBlocks(in)
	s.found = found
	for range found.data() {
		s.Blocks++
	}
	s.Searched = true
	s.eachBlock = func(yield func(*encoded.Iter) bool) { s.byChecksum(found, yield) }
	s.Internal = internal == dbfile.Yes || internal == dbfile.Auto && f.DetectInternalKeys(s.eachBlock)
	f.Internal = s.Internal
	f.DetectOrder(s.eachBlock)
	found.addLeftOut(&s.LeftOut)
	s.unreadRegions = found.lost(f.Separator)
	s.Lost = s.unreadRegions
	return s, nil
}

// byIndex yields the data blocks that the index lists. Their keys may be in any order.
func (s *Salvage) byIndex(f *dbfile.File, yield func(*encoded.Iter) bool) {
	s.Blocks, s.Lost = 0, Losses{}
	for i, part := range f.Layout.Data {
		it, err := openDataBlock(f, part)
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

func openDataBlock(f *dbfile.File, part table.IndexEntry) (*encoded.Iter, error) {
	contents, _, err := f.Layout.ReadBlock(part.Handle)
	if err != nil {
		return nil, err
	}
	it, err := dbfile.OpenBlock(contents, table.AnyOrder)
	if err != nil {
		return nil, &table.CorruptionError{Block: table.DataBlock, Offset: int64(part.Offset), Length: int64(part.Length), Err: err}
	}
	return it, nil
}

// keyRangeOf says between which separators the keys of data block i are.
func keyRangeOf(f *dbfile.File, i int) string {
	upTo := "≤ " + f.Separator(f.Layout.Data[i].Separator)
	if i == 0 {
		return upTo
	}
	return fmt.Sprintf("> %s and %s", f.Separator(f.Layout.Data[i-1].Separator), upTo)
}

// byChecksum yields the data blocks that were found by their checksums.
func (s *Salvage) byChecksum(found *search, yield func(*encoded.Iter) bool) {
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

// Pairs returns the pairs of all undamaged blocks, in file order, with the stored keys.
// Afterwards Lost is complete.
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

var errDisorder = errors.New("keys are out of order: if one was altered, what it was is lost")

// isBefore reports whether a is before b in a known order. They may be nil.
func (s *Salvage) isBefore(a, b []byte) bool {
	return a != nil && b != nil && s.file.Order != table.AnyOrder && s.file.Comparer().Compare(a, b) < 0
}
