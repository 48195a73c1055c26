package salvage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"sort"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// A Salvage is what can be read of a table.
type Salvage struct {
	Internal bool    // keys are internal keys
	Blocks   int     // data blocks that are whole
	Lost     []error // what was not
	ByIndex  bool    // the index told where blocks are, and not their checksums

	each func(yield func(contents []byte) bool)
}

// Of finds what can be read of the file, by its index or, if that cannot be read,
// by the blocks' checksums. For this it takes the file into memory.
func Of(f *source.File, internal source.InternalKeys) (*Salvage, error) {
	s := &Salvage{}
	if f.Layout != nil {
		s.ByIndex, s.Internal = true, f.Internal
		s.each = func(yield func([]byte) bool) { s.byIndex(f, yield) }
		return s, nil
	}
	s.Lost = append(s.Lost, f.Damage)
	data := make([]byte, f.Size)
	if _, err := io.ReadFull(io.NewSectionReader(f.Src, 0, f.Size), data); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	blocks, gaps := s.find(data)
	s.Blocks = len(blocks)
	s.each = func(yield func([]byte) bool) { byChecksum(data, blocks, yield) }
	s.Internal = internal == source.Yes || internal == source.Auto && source.LookInternal(s.each)
	f.Internal = s.Internal
	for _, g := range gaps {
		s.Lost = append(s.Lost, gapError(f, data, blocks, g))
	}
	return s, nil
}

// gapError says what bytes could not be read, and behind which key they are.
func gapError(f *source.File, data []byte, blocks []extent, g gap) error {
	what := fmt.Sprintf("the %d up to %d are no block with a right checksum", g.end-g.start, g.end)
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].start >= g.end })
	if i > 0 {
		if contents, err := decode(data, blocks[i-1]); err == nil {
			if b, err := block.Open(contents, anyOrder); err == nil {
				it := b.NewIter()
				it.Last()
				what += ", behind the key " + f.Separator(it.Key())
			}
		}
	}
	return &table.CorruptionError{Block: "bytes", Offset: int64(g.start), Err: errors.New(what)}
}

// byIndex yields the data blocks that the index lists.
func (s *Salvage) byIndex(f *source.File, yield func([]byte) bool) {
	for i, part := range f.Layout.Data {
		contents, _, err := f.Layout.ReadBlock(part.Handle)
		if err == nil {
			if _, err = block.Open(contents, f.Compare); err != nil {
				err = &table.CorruptionError{Block: "data block", Offset: int64(part.Offset), Err: err}
			}
		}
		if err != nil {
			s.Lost = append(s.Lost, fmt.Errorf("%w: lost the keys %s", err, keysOf(f, i)))
			continue
		}
		if s.Blocks++; !yield(contents) {
			return
		}
	}
}

// keysOf says between which separators data block i's keys are.
func keysOf(f *source.File, i int) string {
	upTo := "up to " + f.Separator(f.Layout.Data[i].Name)
	if i == 0 {
		return upTo
	}
	return fmt.Sprintf("above %s, %s", f.Separator(f.Layout.Data[i-1].Name), upTo)
}

// byChecksum yields the blocks.
func byChecksum(data []byte, blocks []extent, yield func([]byte) bool) {
	for _, e := range blocks {
		contents, err := decode(data, e)
		if err == nil && !yield(contents) { // that there is no error was seen before
			return
		}
	}
}

// find finds the data blocks by checksums, and what is no block at all.
func (s *Salvage) find(data []byte) (blocks []extent, gaps []gap) {
	found, gaps := scan(data)
	lengths := map[uint64]uint64{} // of blocks, by where they start
	for _, e := range found {
		lengths[uint64(e.start)] = uint64(e.end - e.start)
	}
	for _, e := range found {
		contents, err := decode(data, e)
		if err != nil {
			s.Lost = append(s.Lost, &table.CorruptionError{Block: "block", Offset: int64(e.start), Err: err})
			continue
		}
		b, err := block.Open(contents, anyOrder)
		if err == nil && !listsBlocks(b, lengths, gaps) { // else a filter, or the metaindex or the index
			blocks = append(blocks, e)
		}
	}
	return blocks, gaps
}

func anyOrder(_, _ []byte) int { return -1 }

// decode decompresses a block. The file being short of what it says is not to be
// feared: Decode takes what the bytes can make.
func decode(data []byte, e extent) ([]byte, error) {
	stored := data[e.start:e.end:e.end]
	if e.id == table.NoCompression.ID() {
		return stored, nil
	}
	for _, c := range append(codecs.All(), table.Snappy) {
		if c.ID() == e.id {
			return c.Decode(nil, stored, blindWindow)
		}
	}
	return nil, fmt.Errorf("compression id %d, for which there is no codec", e.id)
}

var metaName = regexp.MustCompile(`^((full|partitioned)?filter|rocksdb|pebble)\.`)

// listsBlocks reports whether a block is an index, a metaindex, or properties: all
// values are handles of blocks that were found or are lost, or that follow one another,
// or all keys are names of meta blocks.
func listsBlocks(b block.Block, lengths map[uint64]uint64, gaps []gap) bool {
	known, names, chained, n := 0, 0, 0, 0
	end := uint64(0)
	for it := b.NewIter(); it.Next(); n++ {
		offset, length, ok := handle(it.Value())
		if ok && isKnown(offset, length, lengths, gaps) {
			known++
		}
		if ok && (n == 0 || offset == end) {
			chained++
		}
		end = offset + length + trailerLen
		if metaName.Match(it.Key()) || bytes.HasPrefix(it.Key(), []byte("sievetable.")) {
			names++
		}
	}
	return known == n || names == n || chained == n && n > 1
}

func handle(value []byte) (offset, length uint64, ok bool) {
	offset, n := wire.Uvarint(value)
	length, m := wire.Uvarint(value[n:])
	return offset, length, n > 0 && m > 0 && n+m == len(value)
}

// isKnown reports whether a block there was found, or can have been in a gap.
func isKnown(offset, length uint64, lengths map[uint64]uint64, gaps []gap) bool {
	if known, ok := lengths[offset]; ok {
		return known == length
	}
	for _, g := range gaps {
		if offset >= uint64(g.start) && offset+length <= uint64(g.end) && length > 1 {
			return true
		}
	}
	return false
}

// Pairs returns the pairs of all whole blocks, with their keys as they are stored.
// They come in the order of the file.
func (s *Salvage) Pairs() iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		for contents := range s.each {
			b, err := block.Open(contents, anyOrder)
			if err != nil {
				continue // it was opened before
			}
			for it := b.NewIter(); it.Next(); {
				if !yield(input.Pair{Key: it.Key(), Value: it.Value()}, nil) {
					return
				}
			}
		}
	}
}

// Err is what was lost, or nil.
func (s *Salvage) Err() error { return errors.Join(s.Lost...) }
