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

// A piece is a part of a file: a block, or what lies between two of them.
type piece struct {
	extent
	kind pieceKind
	err  error // why nothing there can be read, as far as that shows
}

type pieceKind int

const (
	gap            pieceKind = iota // to its end
	withEntries                     // a block, to its trailer
	withoutEntries                  // the same, of a filter most likely
)

var errGivenUp = errors.New("the search for blocks there would take too long, and was given up")

// scan yields the pieces of a file, in order, the footer's 48 bytes aside.
func scan(f image) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		words := len(f.data)/64 + 1
		s := scanner{image: f, work: workPerByte * (int64(len(f.data)) + 1<<16), deflate: true}
		s.run.starts, s.scratch.starts = make(bitset, words), make(bitset, words)
		for at := 0; at < len(f.data); {
			next, ok := s.resume(at)
			if !ok {
				next.start = len(f.data)
			}
			for p := range s.between(at, next.start) {
				if !yield(p) {
					return
				}
			}
			if at = next.start; ok {
				if !yield(next) {
					return
				}
				at = s.behind(next)
			}
		}
	}
}

// between yields what is between two blocks of entries: others, and then a gap.
func (s *scanner) between(start, end int) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		for p, ok := s.other(start, end); ok; p, ok = s.other(start, end) {
			if !yield(p) {
				return
			}
			start = s.behind(p)
		}
		if isFooter := end == len(s.data) && end-start == format.FooterLen; start == end || isFooter {
			return
		}
		if s.work <= 0 {
			s.err = errGivenUp
		}
		yield(piece{extent{start, end}, gap, s.err})
	}
}

// behind is where the next piece can start. What compression blocks have shows too.
func (s *scanner) behind(p piece) int {
	if p.kind == gap {
		return p.end
	}
	if p.kind == withEntries {
		id := s.data[p.end]
		s.deflate = id == deflateID || s.deflate && id == 0
	}
	return p.end + format.TrailerLen
}

// deflateID is the compression id of deflate.
const deflateID = 4

// scanner finds blocks, as long as it has work left.
type scanner struct {
	image
	err      error     // of the last block with a right checksum that cannot be read
	work     int64     // how many bytes may still be gone over
	deflate  bool      // blocks may be of deflate
	inflater io.Reader // of deflate
	unzlib   io.Reader

	run     run // of entries, a long one that rawEnd went over
	scratch run // another one
}

// resume finds the next block of entries from at on, or one that is too large.
func (s *scanner) resume(at int) (p piece, ok bool) {
	ends := s.ends()
	s.forget(&s.run)
	for s.err = nil; at < len(s.data) && s.work > 0; at++ {
		for _, end := range ends {
			if n := end(s.data[at:]); n > 0 {
				p, ok = s.block(extent{at, at + n})
				if ok && p.kind != withoutEntries {
					return p, true
				}
				if ok {
					s.err = unreadable(p.err)
				}
			}
		}
	}
	return piece{}, false
}

// block returns the block at e, which looks like one, if it has a right checksum.
func (s *scanner) block(e extent) (p piece, ok bool) {
	if e.end > len(s.data)-format.TrailerLen {
		return piece{}, false
	}
	s.work -= int64(e.end - e.start)
	if !s.checksum(e) {
		return piece{}, false
	}
	return s.read(e)
}

func (s *scanner) checksum(e extent) bool {
	return crc.Block(s.data[e.start:e.end], s.data[e.end]) == binary.LittleEndian.Uint32(s.data[e.end+1:])
}

// failedDecode is about how many times the length of a block it takes to find out that it
// does not decode.
const failedDecode = 1 << 10

// read tells what a block is that has a right checksum. One that is too large is a gap;
// what does not decode is none.
func (s *scanner) read(e extent) (p piece, ok bool) {
	contents, err := s.decode(e)
	if errors.As(err, new(*codecs.TooLargeError)) {
		return piece{extent{e.start, e.end + format.TrailerLen}, gap, err}, true
	}
	if err != nil {
		s.err = unreadable(err)
		s.work -= failedDecode * int64(e.end-e.start)
		return piece{}, false
	}
	if _, err = source.OpenBlock(contents, table.AnyOrder); err != nil {
		s.work -= int64(len(contents))
		return piece{e, withoutEntries, err}, true
	}
	return piece{e, withEntries, nil}, true
}

func unreadable(err error) error {
	return fmt.Errorf("a block with a right checksum is there, and cannot be read: %w", err)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// other finds the block that starts at start, whatever is in it, and ends with its
// trailer before end: where a checksum is right.
func (s *scanner) other(start, end int) (p piece, ok bool) {
	sum := ^uint32(0)
	at := start
	for ; at <= end-format.TrailerLen && s.work > 0; at++ {
		sum = castagnoli[byte(sum)^s.data[at]] ^ sum>>8
		if at == start || crc.Mask(^sum) != binary.LittleEndian.Uint32(s.data[at+1:]) {
			continue
		}
		if p, ok = s.read(extent{start, at}); ok {
			s.work -= int64(at - start)
			return p, true
		}
	}
	s.work -= int64(max(1, at-start))
	return piece{}, false
}
