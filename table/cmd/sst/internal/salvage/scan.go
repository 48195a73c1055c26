// Package salvage reads the undamaged parts of a damaged table. If the index cannot be read, it finds blocks by
// their form and checksums.
package salvage

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/codecs"
)

// Without an index, blocks are found by their form and checksums. At each offset, one function for each compression
// computes where a block starting there would end. If the checksum after it is valid, it is a block. Between two
// blocks with entries, other blocks such as filters are found by their checksums alone.
const (
	// MaxBlock is the largest size of a block, decompressed.
	MaxBlock = 1 << 30

	// workPerByte bounds the work of the search per byte of the file: bytes read, and bytes decompressed without
	// finding a block.
	workPerByte = 256
)

// A region is a block without its trailer, or a gap between blocks.
type region struct {
	extent
	kind blockKind // dataBlock for any block with entries, metaBlock for one without, or gap
	err  error     // why a gap cannot be read; nil if unknown
}

var errSearchTooLong = errors.New("the search for blocks stopped here: it would take too long")

// scan yields the regions of a file in order, without the footer.
func scan(f fileImage) iter.Seq[region] {
	return func(yield func(region) bool) {
		s := scanner{fileImage: f, budget: workPerByte * (int64(len(f.data)) + 1<<16), deflate: true}
		s.kept.starts = make([]uint64, len(f.data)/64+1)
		for at := 0; at < len(f.data); {
			next, ok := s.nextEntryBlock(at)
			if !ok {
				next.start = len(f.data)
			}
			if !s.between(at, next.start, yield) || !ok || !yield(next) {
				return
			}
			at = s.nextStart(next)
		}
	}
}

// between yields the regions between two blocks with entries: other blocks, and then a gap. It returns false if
// yield does.
func (s *scanner) between(start, end int, yield func(region) bool) bool {
	for p, ok := s.blockByChecksum(start, end); ok; p, ok = s.blockByChecksum(start, end) {
		if !yield(p) {
			return false
		}
		start = s.nextStart(p)
	}
	if isFooter := end == len(s.data) && end-start == format.FooterLen; start == end || isFooter {
		return true
	}
	if s.budget <= 0 {
		s.err = errSearchTooLong
	}
	return yield(region{extent{start, end}, gap, s.err})
}

// nextStart returns the offset at which the next region can start. It also records whether blocks are compressed
// with deflate.
func (s *scanner) nextStart(p region) int {
	if p.kind == gap {
		return p.end
	}
	if p.kind == dataBlock {
		id := s.data[p.end]
		s.deflate = id == codecs.Deflate.ID() || s.deflate && id == 0
	}
	return p.end + format.TrailerLen
}

// A scanner finds blocks until its budget is spent.
type scanner struct {
	fileImage
	err      error     // why the last block with a valid checksum could not be read
	budget   int64     // bytes that may still be read or decompressed
	deflate  bool      // blocks may be compressed with deflate
	inflater io.Reader // decompresses deflate
	kept     entryRun  // a long run of entries that rawEnd found
}

// nextEntryBlock finds the next block with entries that starts at or after at. It also returns blocks that are too
// large.
func (s *scanner) nextEntryBlock(at int) (p region, ok bool) {
	// Each function returns the length of the block at the start of data, or 0 if data does not look like a block
	// of its form. All these forms show where they end.
	ends := []func(data []byte) int{s.snappyEnd, s.zstdEnd, s.zlibEnd, s.rawEnd, s.deflateEnd}
	s.kept.set(s.data, 0, 0)
	for s.err = nil; at < len(s.data) && s.budget > 0; at++ {
		for _, end := range ends {
			if n := end(s.data[at:]); n > 0 {
				p, ok = s.block(extent{at, at + n})
				if ok && p.kind != metaBlock {
					return p, true
				}
				if ok {
					s.err = undecodable(p.err)
				}
			}
		}
	}
	return region{}, false
}

// block returns the block at e, if the checksum after it is valid.
func (s *scanner) block(e extent) (p region, ok bool) {
	if e.end > len(s.data)-format.TrailerLen {
		return region{}, false
	}
	s.budget -= int64(e.end - e.start)
	if format.Checksum(s.data[e.start:e.end], s.data[e.end]) != binary.LittleEndian.Uint32(s.data[e.end+1:]) {
		return region{}, false
	}
	return s.read(e)
}

// failedDecodeCost is the cost of a failed decoding, per byte of the block.
const failedDecodeCost = 1 << 10

// read returns the region of a block with a valid checksum. A block that is too large becomes a gap. If the block
// cannot be decoded, ok is false.
func (s *scanner) read(e extent) (p region, ok bool) {
	contents, err := s.decode(e)
	if errors.As(err, new(*codecs.TooLargeError)) {
		return region{extent{e.start, e.end + format.TrailerLen}, gap, err}, true
	}
	if err != nil {
		s.err = undecodable(err)
		s.budget -= failedDecodeCost * int64(e.end-e.start)
		return region{}, false
	}
	if _, err = dbfile.OpenBlock(contents, table.AnyOrder); err != nil {
		s.budget -= int64(len(contents))
		return region{e, metaBlock, err}, true
	}
	return region{e, dataBlock, nil}, true
}

func undecodable(err error) error {
	return fmt.Errorf("a block with a valid checksum cannot be decoded: %w", err)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockByChecksum finds a block of any contents that starts at start. It ends at the first valid checksum where it
// can be decoded, and its trailer must end at or before end.
func (s *scanner) blockByChecksum(start, end int) (p region, ok bool) {
	sum := ^uint32(0)
	at := start
	for ; at <= end-format.TrailerLen && s.budget > 0; at++ {
		sum = castagnoli[byte(sum)^s.data[at]] ^ sum>>8
		if at == start || format.MaskCRC(^sum) != binary.LittleEndian.Uint32(s.data[at+1:]) {
			continue
		}
		if p, ok = s.read(extent{start, at}); ok {
			s.budget -= int64(at - start)
			return p, true
		}
	}
	s.budget -= int64(max(1, at-start))
	return region{}, false
}

// A fileImage is a file in memory.
type fileImage struct {
	data     []byte
	maxBlock int // the largest size of a block, stored or decoded; 0: MaxBlock
}

func readImage(f *dbfile.File) (fileImage, error) {
	data := make([]byte, f.Size)
	if _, err := io.ReadFull(io.NewSectionReader(f.Src, 0, f.Size), data); err != nil {
		return fileImage{}, fmt.Errorf("%s: %w", f.Path, err)
	}
	return fileImage{data, f.Options.MaxBlockSize}, nil
}

// decode decompresses a block.
func (f fileImage) decode(e extent) ([]byte, error) {
	stored, id, limit := f.data[e.start:e.end:e.end], f.data[e.end], cmp.Or(f.maxBlock, MaxBlock)
	if id == table.NoCompression.ID() && len(stored) > limit {
		return nil, &codecs.TooLargeError{Size: len(stored), Limit: limit}
	}
	if id == table.NoCompression.ID() {
		return stored, nil
	}
	for _, c := range codecs.All() {
		if c.ID() == id {
			return c.Decode(nil, stored, limit)
		}
	}
	return nil, fmt.Errorf("unknown compression id %d", id)
}

// open opens a block.
func (f fileImage) open(e extent) (*rowblock.Iter, error) {
	contents, err := f.decode(e)
	if err != nil {
		return nil, err
	}
	return dbfile.OpenBlock(contents, table.AnyOrder)
}
