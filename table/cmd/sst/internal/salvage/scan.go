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

	// maxBlock is the most that a block is decoded to: what a Reader takes.
	maxBlock = 1 << 30

	// workPerByte bounds how often the bytes of a file are gone over.
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
}

// scan returns the blocks in data and the gaps between them, in order, the footer's
// 48 bytes aside.
func scan(data []byte) (blocks []extent, gaps []gap) {
	s := scanner{data: data, work: workPerByte * (len(data) + 1<<16), deflate: true, chain: map[int]int{}}
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
			gaps = append(gaps, gap{at, next, s.work <= 0})
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
	data     []byte
	work     int  // how many bytes may still be gone over
	deflate  bool // blocks may be of deflate
	inflater io.Reader

	// chain has where entries start that rawEnd went over since the last block, and where
	// the restart points are that they lead to.
	chain map[int]int
}

// resume finds the next block of entries from at on.
func (s *scanner) resume(at int) (extent, bool) {
	ends := s.ends()
	clear(s.chain)
	for ; at < len(s.data) && s.work > 0; at++ {
		for _, end := range ends {
			n := end(s.data[at:])
			if n == 0 {
				continue
			}
			if b, ok := s.follow(at, at+n+trailerLen, hasEntries); ok {
				return b, true
			}
		}
	}
	return extent{}, false
}

// other finds the block that starts at start and ends before end, whatever is in it.
func (s *scanner) other(start, end int) (extent, bool) {
	if end-start <= trailerLen {
		return extent{}, false
	}
	return s.follow(start, end, decodes)
}

// decodes reports whether a block can be decompressed.
func decodes(data []byte, e extent) bool {
	_, err := decode(data, e)
	return err == nil
}

// hasEntries reports whether a block is of the form that data blocks have.
func hasEntries(data []byte, e extent) bool {
	contents, err := decode(data, e)
	if err != nil {
		return false
	}
	_, err = source.OpenBlock(contents, source.AnyOrder)
	return err == nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// follow looks for the end of a block that starts at start, with its trailer before end.
func (s *scanner) follow(start, end int, accept func([]byte, extent) bool) (extent, bool) {
	data := s.data
	end = min(end, len(data)) - trailerLen
	sum := ^uint32(0)
	for at := start; at <= end; at++ {
		sum = castagnoli[byte(sum)^data[at]] ^ sum>>8
		if at == start || crc.Mask(^sum) != binary.LittleEndian.Uint32(data[at+1:]) {
			continue
		}
		if b := (extent{start, at, data[at]}); accept(data, b) {
			s.work -= at - start
			return b, true
		}
	}
	s.work -= max(1, end-start)
	return extent{}, false
}
