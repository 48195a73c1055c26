// Package salvage finds what can still be read of a damaged table.
package salvage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/sievetable/sievetable/internal/crc"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// Without an index, blocks are found by their form and their checksums: from a place on,
// each is tried that looks like the start of a block, as far as that reaches. What lies
// between two blocks of entries may be one of other things, a filter, if its checksum
// says so.
const (
	// maxBlock is more than a block takes, decompressed.
	maxBlock = 1 << 30

	// workPerByte bounds how often the bytes of a file are gone over, and what is
	// decompressed of them to no avail.
	workPerByte = 256
)

// A region is a part of a file: a block, or what lies between two of them.
type region struct {
	extent
	kind regionKind
	err  error // why nothing there can be read, as far as that shows
}

type regionKind int

const (
	gap        regionKind = iota // to its end
	entryBlock                   // a block, to its trailer
	otherBlock                   // the same, of a filter most likely
)

var errSearchTooLong = errors.New("the search for blocks was stopped here, because it would take too long")

// scan yields the pieces of a file, in order, the footer's 48 bytes aside.
func scan(f fileImage) iter.Seq[region] {
	return func(yield func(region) bool) {
		words := len(f.data)/64 + 1
		s := scanner{fileImage: f, budget: workPerByte * (int64(len(f.data)) + 1<<16), deflate: true}
		s.keptRun.starts, s.scratch.starts = make(bitset, words), make(bitset, words)
		for at := 0; at < len(f.data); {
			next, ok := s.nextEntryBlock(at)
			if !ok {
				next.start = len(f.data)
			}
			for p := range s.regionsBetween(at, next.start) {
				if !yield(p) {
					return
				}
			}
			if at = next.start; ok {
				if !yield(next) {
					return
				}
				at = s.nextStart(next)
			}
		}
	}
}

// regionsBetween yields what is regionsBetween two blocks of entries: others, and then a gap.
func (s *scanner) regionsBetween(start, end int) iter.Seq[region] {
	return func(yield func(region) bool) {
		for p, ok := s.blockByChecksum(start, end); ok; p, ok = s.blockByChecksum(start, end) {
			if !yield(p) {
				return
			}
			start = s.nextStart(p)
		}
		if isFooter := end == len(s.data) && end-start == format.FooterLen; start == end || isFooter {
			return
		}
		if s.budget <= 0 {
			s.err = errSearchTooLong
		}
		yield(region{extent{start, end}, gap, s.err})
	}
}

// nextStart is where the next piece can start. What compression blocks have shows too.
func (s *scanner) nextStart(p region) int {
	if p.kind == gap {
		return p.end
	}
	if p.kind == entryBlock {
		id := s.data[p.end]
		s.deflate = id == deflateID || s.deflate && id == 0
	}
	return p.end + format.TrailerLen
}

// deflateID is the compression id of deflate.
const deflateID = 4

// scanner finds blocks, as long as it has work left.
type scanner struct {
	fileImage
	err         error     // of the last block with a right checksum that cannot be read
	budget      int64     // how many bytes may still be gone over
	deflate     bool      // blocks may be of deflate
	flateReader io.Reader // of deflate
	zlibReader  io.Reader

	keptRun entryRun // of entries, a long one that rawEnd went over
	scratch entryRun // another one
}

// nextEntryBlock finds the next block of entries from at on, or one that is too large.
func (s *scanner) nextEntryBlock(at int) (p region, ok bool) {
	ends := s.endFinders()
	s.forget(&s.keptRun)
	for s.err = nil; at < len(s.data) && s.budget > 0; at++ {
		for _, end := range ends {
			if n := end(s.data[at:]); n > 0 {
				p, ok = s.block(extent{at, at + n})
				if ok && p.kind != otherBlock {
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

// block returns the block at e, which looks like one, if it has a right checksum.
func (s *scanner) block(e extent) (p region, ok bool) {
	if e.end > len(s.data)-format.TrailerLen {
		return region{}, false
	}
	s.budget -= int64(e.end - e.start)
	if !s.checksum(e) {
		return region{}, false
	}
	return s.read(e)
}

func (s *scanner) checksum(e extent) bool {
	return crc.Block(s.data[e.start:e.end], s.data[e.end]) == binary.LittleEndian.Uint32(s.data[e.end+1:])
}

// failedDecodeCost is about how many times the length of a block it takes to find out that it
// does not decode.
const failedDecodeCost = 1 << 10

// read tells what a block is that has a right checksum. One that is too large is a gap;
// what does not decode is none.
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
	if _, err = source.OpenBlock(contents, table.AnyOrder); err != nil {
		s.budget -= int64(len(contents))
		return region{e, otherBlock, err}, true
	}
	return region{e, entryBlock, nil}, true
}

func undecodable(err error) error {
	return fmt.Errorf("a block with a valid checksum cannot be decoded: %w", err)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockByChecksum finds the block that starts at start, whatever is in it, and ends with its
// trailer before end: where a checksum is right.
func (s *scanner) blockByChecksum(start, end int) (p region, ok bool) {
	sum := ^uint32(0)
	at := start
	for ; at <= end-format.TrailerLen && s.budget > 0; at++ {
		sum = castagnoli[byte(sum)^s.data[at]] ^ sum>>8
		if at == start || crc.Mask(^sum) != binary.LittleEndian.Uint32(s.data[at+1:]) {
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
