package salvage

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"sort"

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
	Lost     []Loss // what was not, when all Pairs were gone over

	each func(yield func(it *block.Iter) bool)
}

// A Loss is what of a table could not be read.
type Loss struct {
	What string // it was, and between which keys: "the keys after …", "18 bytes at 0, …"
	Why  error
}

// Of finds what can be read of the file, by its index or, if that cannot be read,
// by the blocks' checksums. For this it takes the file into memory.
func Of(f *source.File, internal source.InternalKeys) (*Salvage, error) {
	s := &Salvage{Damage: f.Damage}
	if f.Layout != nil {
		s.Internal = f.Internal
		s.each = func(yield func(*block.Iter) bool) { s.byIndex(f, yield) }
		return s, nil
	}
	data := make([]byte, f.Size)
	if _, err := io.ReadFull(io.NewSectionReader(f.Src, 0, f.Size), data); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	in := image{data, f.Options.MaxBlockSize}
	blocks, gaps := s.find(in)
	s.Searched, s.Blocks = true, len(blocks)
	s.each = func(yield func(*block.Iter) bool) { s.byChecksum(in, blocks, yield) }
	s.Internal = internal == source.Yes || internal == source.Auto && source.LookInternal(s.each)
	f.Internal = s.Internal
	for _, g := range gaps {
		s.Lost = append(s.Lost, lossOf(f, in, blocks, g))
	}
	return s, nil
}

// lossOf says what bytes could not be read, and between which keys they are.
func lossOf(f *source.File, in image, blocks []extent, g gap) Loss {
	next := sort.Search(len(blocks), func(i int) bool { return blocks[i].start >= g.end })
	loss := Loss{fmt.Sprintf("%d bytes at %d", g.end-g.start, g.start), errors.New("no block with a right checksum is there")}
	if next > 0 {
		if it, err := in.open(blocks[next-1]); err == nil && it.Last() {
			loss.What += ", after the key " + f.Separator(it.Key())
		}
	}
	if next < len(blocks) {
		if it, err := in.open(blocks[next]); err == nil && it.First() {
			loss.What += ", before the key " + f.Separator(it.Key())
		}
	} else if next > 0 {
		loss.What += ", where filters and the index are, and perhaps more data"
	}
	if g.err != nil {
		loss.Why = fmt.Errorf("a block with a right checksum is there, and cannot be read: %w", g.err)
	}
	if g.givenUp {
		loss.Why = errors.New("the search for blocks there would take too long, and was given up")
	}
	return loss
}

// byIndex yields the data blocks that the index lists, with their keys in any order.
func (s *Salvage) byIndex(f *source.File, yield func(*block.Iter) bool) {
	for i, part := range f.Layout.Data {
		it, err := openListed(f, part)
		if err != nil {
			s.Lost = append(s.Lost, Loss{"the keys " + keysOf(f, i), err})
			continue
		}
		if s.Blocks++; !yield(it) {
			return
		}
	}
}

func openListed(f *source.File, part table.Part) (*block.Iter, error) {
	contents, _, err := f.Layout.ReadBlock(part.Handle)
	if err != nil {
		return nil, err
	}
	it, err := source.OpenBlock(contents, source.AnyOrder)
	if err != nil {
		return nil, &table.CorruptionError{Block: "data block", Offset: int64(part.Offset), Length: int64(part.Length), Err: err}
	}
	return it, nil
}

// keysOf says between which separators data block i's keys are.
func keysOf(f *source.File, i int) string {
	upTo := "up to " + f.Separator(f.Layout.Data[i].Name)
	if i == 0 {
		return upTo
	}
	return fmt.Sprintf("after %s, %s", f.Separator(f.Layout.Data[i-1].Name), upTo)
}

// byChecksum yields the blocks that were found. They were sound then.
func (s *Salvage) byChecksum(in image, blocks []extent, yield func(*block.Iter) bool) {
	for _, e := range blocks {
		it, err := in.open(e)
		if err != nil {
			s.Lost = append(s.Lost, Loss{fmt.Sprintf("the data block of %d bytes at %d", e.end-e.start, e.start), err})
			continue
		}
		if !yield(it) {
			return
		}
	}
}

// find finds the data blocks by checksums, and what is no block at all.
func (s *Salvage) find(in image) (blocks []extent, gaps []gap) {
	found, gaps := scan(in)
	kinds, listed := kindsOf(in, found)
	for i, e := range found {
		if kinds[i] == dataBlock && !listed[uint64(e.start)] {
			blocks = append(blocks, e)
		}
	}
	return blocks, gaps
}

// Pairs returns the pairs of all whole blocks, with their keys as they are stored.
// They come in the order of the file. What is lost is known when all were gone over.
func (s *Salvage) Pairs() iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		for it := range s.each {
			for it.Next() {
				if !yield(input.Pair{Key: it.Key(), Value: it.Value()}, nil) {
					return
				}
			}
		}
	}
}
