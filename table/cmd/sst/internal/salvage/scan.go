// Package salvage finds what can still be read of a damaged table.
package salvage

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/sievetable/sievetable/internal/crc"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// Without an index, blocks are found by their form and their checksums: from a place on,
// each is tried that looks like the start of a block, as far as that reaches. What lies
// between two blocks of entries may be one of other things, a filter, if its checksum
// says so.
const (
	trailerLen = 5
	footerLen  = 48

	// maxBlock is more than a block takes, decompressed.
	maxBlock = 1 << 30

	// workPerByte bounds how often the bytes of a file are gone over, and what is
	// decompressed of them to no avail.
	workPerByte = 256
)

// extent is a block that was found: where it is, and its compression id.
type extent struct {
	start, end int // without trailer
	id         byte
}

// gap is what lies between blocks that were found. In the last one the search may have
// been given up.
type gap struct {
	start, end int
	givenUp    bool
	err        error // why a block there that has a right checksum cannot be read
}

// scan returns the blocks in data and the gaps between them, in order, the footer's
// 48 bytes aside.
func scan(f image) (blocks []extent, gaps []gap) {
	s := scanner{image: f, work: workPerByte * (int64(len(f.data)) + 1<<16), deflate: true}
	data := f.data
	for at := 0; at < len(data); {
		b, ok := s.resume(at)
		next := len(data)
		if ok {
			next = b.start
		}
		for other, ok := s.other(at, next); ok; other, ok = s.other(at, next) {
			blocks = append(blocks, other)
			at = other.end + trailerLen
		}
		if isFooter := next == len(data) && next-at == footerLen; at < next && !isFooter {
			gaps = append(gaps, gap{at, next, s.work <= 0, s.err})
		}
		if at = next; ok {
			s.deflate = b.id == deflateID || s.deflate && b.id == 0
			blocks = append(blocks, b)
			at = b.end + trailerLen
		}
	}
	return blocks, gaps
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

	run     run      // of entries, a long one that rawEnd went over
	scratch []uint32 // for other runs
}

// resume finds the next block of entries from at on.
func (s *scanner) resume(at int) (extent, bool) {
	ends := s.ends()
	s.run, s.err = run{}, nil
	for ; at < len(s.data) && s.work > 0; at++ {
		for _, end := range ends {
			if n := end(s.data[at:]); n > 0 && s.isBlock(at, at+n) {
				return extent{at, at + n, s.data[at+n]}, true
			}
		}
	}
	return extent{}, false
}

// isBlock reports whether a block from start to end, which looks like one, has a right
// checksum and entries.
func (s *scanner) isBlock(start, end int) bool {
	if end > len(s.data)-trailerLen {
		return false
	}
	s.work -= int64(end - start)
	e := extent{start, end, s.data[end]}
	if !s.checksum(e) {
		return false
	}
	contents, err := s.tryDecode(e)
	if err != nil {
		return false
	}
	if _, err = source.OpenBlock(contents, source.AnyOrder); err != nil {
		s.err = err
		s.work -= int64(len(contents))
	}
	return err == nil
}

func (s *scanner) checksum(e extent) bool {
	return crc.Block(s.data[e.start:e.end], e.id) == binary.LittleEndian.Uint32(s.data[e.end+1:])
}

// failedDecode is about how many times the length of a block it takes to find out that it
// does not decode.
const failedDecode = 1 << 10

// tryDecode decompresses a block that may be none.
func (s *scanner) tryDecode(e extent) ([]byte, error) {
	contents, err := s.decode(e)
	if err != nil {
		s.err = err
		s.work -= failedDecode * int64(e.end-e.start)
	}
	return contents, err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// other finds the block that starts at start, whatever is in it, and ends with its
// trailer before end: where a checksum is right.
func (s *scanner) other(start, end int) (extent, bool) {
	sum := ^uint32(0)
	at := start
	for ; at <= end-trailerLen && s.work > 0; at++ {
		sum = castagnoli[byte(sum)^s.data[at]] ^ sum>>8
		if at == start || crc.Mask(^sum) != binary.LittleEndian.Uint32(s.data[at+1:]) {
			continue
		}
		e := extent{start, at, s.data[at]}
		if _, err := s.tryDecode(e); err == nil {
			s.work -= int64(at - start)
			return e, true
		}
	}
	s.work -= int64(max(1, at-start))
	return extent{}, false
}
