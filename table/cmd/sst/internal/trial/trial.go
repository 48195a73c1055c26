// Package trial determines the size that a table would have with other block sizes and compressions. It writes the
// entries with a table.Writer and counts the bytes.
package trial

import (
	"cmp"
	"errors"
	"io"
	"math/bits"
	"runtime"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/layout"
)

// A Sample is the part of a table that is rewritten: all data blocks, or stretches of adjacent blocks spread evenly
// over the file. It is not safe for concurrent use.
type Sample struct {
	Blocks, Tried   int            // data blocks of the table, and of the Sample
	Entries         int            // entries of the Sample
	Data, Index     uint64         // size of all data blocks, and of the index, in the file
	BlockSize       int            // that the table was written with; an estimate if it is not recorded
	RestartInterval int            // likewise
	Compression     map[string]int // blocks of the Sample by compression name

	file      *dbfile.File
	stretches []*stretch
	stored    uint64 // size of the Sample in the file
	largest   int    // size of the largest block of the Sample, uncompressed
	estimate  tablestats.Estimate
}

// A stretch is a range of data blocks. Those before next are in the Sample, unless they are damaged.
type stretch struct {
	next, end int
	blocks    []*rowblock.Iter // kept in memory, since Size reads them each time
}

const (
	// stretchSize is the minimum size of a stretch, uncompressed. It is enough for several blocks of the largest
	// size that is tried, so that few of them have entries of two stretches.
	stretchSize  = 1 << 20
	maxStretches = 32 // of a table

	maxBlockSize = 512 << 20 // of a table.Writer
)

// Take reads a Sample of about most bytes, uncompressed. It leaves out damaged blocks, and returns their errors
// joined. For a filter-only table, it returns no Sample and table.ErrFilterOnly.
func Take(f *dbfile.File, most int64) (*Sample, error) {
	if f.Reader.FilterOnly() {
		return nil, f.Wrap(table.ErrFilterOnly)
	}
	s := &Sample{Blocks: len(f.Layout.Data), Index: stored(f.Layout.Index.Length), Compression: map[string]int{}, file: f}
	for _, part := range f.Layout.Data {
		s.Data += stored(part.Length)
	}
	n := int(min(max(1, most/stretchSize), maxStretches, int64(s.Blocks)))
	for i := range n {
		s.stretches = append(s.stretches, &stretch{next: i * s.Blocks / n, end: (i + 1) * s.Blocks / n})
	}
	damage := s.read(most)
	p, _ := f.Reader.Properties() // nil if there are none
	s.BlockSize, s.RestartInterval = blockSize(&s.estimate, p), s.estimate.RestartInterval(p)
	return s, damage
}

// stored returns the size of a block in the file, with its trailer.
func stored(length uint64) uint64 { return length + format.TrailerLen }

// read reads blocks of about most bytes in rounds: stretches that end early leave their share to the others. If
// blocks are so large that a round exceeds twice most, its last blocks are left out. The error joins all damage.
func (s *Sample) read(most int64) error {
	var damage []error
	open := slices.Clone(s.stretches)
	for left := most; left > 0 && len(open) > 0; {
		share := max(1, left/int64(len(open)))
		for _, part := range open {
			for n := int64(0); n < share && part.next < part.end && left > -most; part.next++ {
				size, err := s.readNext(part)
				n, left = n+size, left-size
				damage = append(damage, s.file.Wrap(err))
			}
		}
		open = slices.DeleteFunc(open, func(s *stretch) bool { return s.next == s.end })
	}
	return errors.Join(damage...)
}

// readNext reads the next block of a stretch, and returns how much it counts towards the Sample's size.
func (s *Sample) readNext(of *stretch) (size int64, err error) {
	part := s.file.Layout.Data[of.next]
	b, err := tablestats.ReadBlock(s.file, part)
	if err != nil {
		return int64(part.Length) + 1, err
	}
	of.blocks = append(of.blocks, b.Iter)
	s.Tried++
	s.Entries += b.Entries
	s.stored += stored(part.Length)
	s.Compression[tablestats.Compression(s.file, part.Handle, b.Compression)]++
	s.largest = max(s.largest, b.Raw)
	s.estimate.Add(b, of.next == s.Blocks-1)
	return int64(b.Raw), nil
}

// emptyTail is the size of everything but data blocks and index in a table without filters: an empty metaindex, and
// the footer.
const emptyTail = 8 + format.TrailerLen + format.FooterLen

// hugeBlock is the block size from which on few blocks are kept in memory at a time, although that takes longer.
const hugeBlock = 8 << 20

// Size returns the size that the table's data blocks and index would have with another block size and compression.
// It extrapolates from the Sample to the whole table.
func (s *Sample) Size(blockSize int, codec table.Codec) (uint64, error) {
	if s.stored == 0 {
		return 0, nil
	}
	concurrency := min(4, runtime.NumCPU())
	if s.largest >= hugeBlock {
		concurrency = 1
		runtime.GC() // before the next such blocks are allocated
	}
	w, err := table.NewWriter(io.Discard, &table.WriterOptions{
		BlockSize: blockSize, RestartInterval: s.RestartInterval, Compression: codec,
		Comparer: unchecked{s.file.Comparer()}, Concurrency: concurrency,
	})
	if err != nil {
		return 0, err
	}
	defer w.Abort() // does nothing after Close
	for _, part := range s.stretches {
		for _, it := range part.blocks {
			for ok := it.First(); ok; ok = it.Next() {
				if err := w.Append(it.Key(), it.Value()); err != nil {
					return 0, s.file.Wrap(err)
				}
			}
		}
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return uint64(float64(w.Size()-emptyTail) * (float64(s.Data) / float64(s.stored))), nil
}

// unchecked is an order in which any keys are ascending. Sizes hardly depend on the order of keys, which sst verify
// checks.
type unchecked struct{ table.Comparer }

func (unchecked) Compare(_, _ []byte) int { return -1 }

// blockSize returns the block size recorded in p, which may be nil, or else one with which a Writer would write these
// blocks.
func blockSize(e *tablestats.Estimate, p *layout.Properties) int {
	single := uint64(max(4096, 1<<bits.Len(uint(e.Growing)))) // any size > Growing results in a single block
	return int(min(cmp.Or(e.BlockSize(p), single), maxBlockSize))
}
