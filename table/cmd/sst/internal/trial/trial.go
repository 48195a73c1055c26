// Package trial finds out how large a table would be with other block sizes and
// compressions. It writes the entries with the Writer of package table, and counts the bytes.
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

// A Sample is what is tried of a table: all data blocks, or stretches of adjacent ones that
// are spread evenly over the file. It must not be used by several goroutines at a time.
type Sample struct {
	Blocks, Tried   int            // data blocks of the table, and those that are tried
	Entries         int            // in the blocks that are tried
	Data, Index     uint64         // bytes that all data blocks and the index take in the file
	BlockSize       int            // that the table was written with, as far as it shows
	RestartInterval int            // likewise
	Compression     map[string]int // blocks that are tried, by the name of their compression

	file      *dbfile.File
	stretches []*stretch
	stored    uint64 // bytes that the blocks that are tried take in the file
	largest   int    // size of the largest block that is tried, uncompressed
	estimate  tablestats.Estimate
}

// A stretch is a part of the data blocks, of which those before next are tried, unless they are damaged.
type stretch struct {
	next, end int
	blocks    []*rowblock.Iter // in memory, as each size needs them again
}

const (
	// stretchSize is how many bytes of blocks a stretch has at least, uncompressed: enough for several blocks of
	// the largest size that is tried, so that few of them have entries of two stretches.
	stretchSize  = 1 << 20
	maxStretches = 32 // of a table

	maxBlockSize = 512 << 20 // of a Writer
)

// Take chooses a Sample with blocks of about most bytes, uncompressed, and reads them. If
// blocks are damaged, the Sample goes without them. The error joins what is wrong with them.
// If the table has a filter only, there is no Sample, and the error is table.ErrFilterOnly.
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
	p, err := f.Reader.Properties()
	if err != nil {
		p = new(layout.Properties) // which say nothing
	}
	s.BlockSize = int(cmp.Or(min(p.BlockSize, maxBlockSize), uint64(blockSize(&s.estimate))))
	s.RestartInterval = s.estimate.RestartInterval(p)
	return s, damage
}

// stored returns how many bytes a block of that length takes in the file.
func stored(length uint64) uint64 { return length + format.TrailerLen }

// read reads blocks of about most bytes, in rounds: what some stretches do not use, because
// they are at their end, is for the others. If blocks are so large that those of a round exceed
// twice most, the last of them are left out. The error joins all damage.
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

// readNext reads the next block of a stretch, and returns how much of the Sample it takes.
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

// emptyTail is what a table has behind its data blocks and its index if it has no filters: a
// metaindex without entries, and the footer.
const emptyTail = 8 + format.TrailerLen + format.FooterLen

// hugeBlock is the size from which on few blocks are in memory at a time, although that takes
// longer.
const hugeBlock = 8 << 20

// Size returns how many bytes data blocks and index of the table would take with another
// block size and compression. If a part of the table is tried, the rest counts as if it
// were like this part.
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

// unchecked is an order that does not check whether blocks are in order. Sizes hardly depend on
// that, and sst verify checks it.
type unchecked struct{ table.Comparer }

func (unchecked) Compare(_, _ []byte) int { return -1 }

// blockSize returns a block size that gives these blocks.
func blockSize(e *tablestats.Estimate) int {
	const byDefault = 4096
	size := e.BlockSize()
	if size == 0 { // any size > Growing gives a single block
		size = max(byDefault, 1<<bits.Len(uint(e.Growing)))
	}
	return min(size, maxBlockSize)
}
