// Package salvage finds what can still be read of a damaged table.
package salvage

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/crc"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
)

// Without an index, blocks are found by their checksums: from where one starts, the
// checksum of all bytes so far is held against the four bytes that follow, until they
// are the same. That is one step for each byte of the file. Behind damage, each place
// that looks like the start of a block is tried, as far as that block could reach;
// there a checksum that is right by chance, which happens once in 2³² steps, is told by
// what it is of.
const (
	trailerLen = 5
	footerLen  = 48

	// blindWindow is how far a block is followed that does not show how long it can be,
	// and the most that one is decoded to.
	blindWindow = 64 << 20

	// compressedWindow is how far one is followed of a compression that only shows where
	// it starts.
	compressedWindow = 4 << 20

	// workPerByte bounds how often the bytes of a file are gone over.
	workPerByte = 64
)

// extent is a block that was found: where it is, and its compression id.
type extent struct {
	start, end int // without trailer
	id         byte
}

// gap is what lies between blocks that were found.
type gap struct{ start, end int }

// scan returns the blocks in data and the gaps between them, in order, the footer's
// 48 bytes aside.
func scan(data []byte) (blocks []extent, gaps []gap) {
	s := scanner{data, workPerByte*len(data) + blindWindow}
	for at := 0; at+trailerLen < len(data); {
		reach := s.likely(data[at:])
		if reach == 0 {
			reach = blindWindow
		}
		b, ok := s.follow(at, reach, decodes)
		if !ok {
			start := at
			if b, ok = s.resume(at + 1); ok {
				at = b.start
			} else {
				at = len(data)
			}
			if isFooter := at == len(data) && at-start == footerLen; !isFooter {
				gaps = append(gaps, gap{start, at})
			}
		}
		if ok {
			blocks = append(blocks, b)
			at = b.end + trailerLen
		}
	}
	return blocks, gaps
}

// scanner finds blocks, as long as it has work left.
type scanner struct {
	data []byte
	work int // how many bytes may still be gone over
}

// resume finds the next block of entries from at on.
func (s *scanner) resume(at int) (extent, bool) {
	for ; at < len(s.data) && s.work > 0; at++ {
		if reach := s.likely(s.data[at:]); reach > 0 {
			if b, ok := s.follow(at, reach, hasEntries); ok {
				return b, true
			}
		}
	}
	return extent{}, false
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
	_, err = block.Open(contents, anyOrder)
	return err == nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// follow looks for the end of a block that starts at start, up to reach bytes on.
func (s *scanner) follow(start, reach int, accept func([]byte, extent) bool) (extent, bool) {
	data := s.data
	end := min(start+reach, len(data)-4)
	sum := ^uint32(0)
	for at := start; at < end; at++ {
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

// likely returns how far a block that starts with data is to be followed, or 0 if it
// does not look like the start of one.
func (s *scanner) likely(data []byte) int {
	if n := s.likelySnappy(data); n > 0 {
		return n
	}
	if codecs.IsZstd(data) || likelyZlib(data) {
		return compressedWindow
	}
	return s.likelyRaw(data)
}

// likelySnappy goes over what Snappy's format has: how many bytes it decodes to, and
// literals and copies up to that.
func (s *scanner) likelySnappy(data []byte) int {
	length, at := wire.Uvarint(data)
	if at == 0 || length == 0 || length > blindWindow {
		return 0
	}
	for made := uint64(0); made < length; {
		s.work--
		size, n, back := element(data[at:])
		if n == 0 || n > len(data)-at || back > made || made == 0 && back == 0 && data[at+n-size] != 0 {
			return 0 // the first literal starts with an entry that shares nothing
		}
		at, made = at+n, made+uint64(size)
		if made > length {
			return 0
		}
	}
	return at + trailerLen
}

// likelyZlib looks for zlib's header: deflate with a window of 32 KiB, and a check.
func likelyZlib(data []byte) bool {
	return len(data) > 1 && data[0] == 0x78 && binary.BigEndian.Uint16(data)%31 == 0 && data[1]&0x20 == 0
}

// element reads one element of Snappy's format: how many bytes it makes, how many it
// takes, and how far back a copy goes, which is 0 for a literal. If there is none it
// takes 0 bytes.
func element(data []byte) (size, n int, back uint64) {
	if len(data) < 5 {
		return 0, 0, 0
	}
	tag := data[0]
	size = int(tag>>2) + 1
	switch tag & 3 {
	case 0:
		extra := max(0, size-60) // so many bytes have the length
		if extra > 0 {
			size = int(binary.LittleEndian.Uint32(data[1:])&(1<<(8*extra)-1)) + 1
		}
		return size, 1 + extra + size, 0
	case 1:
		size, n, back = int(tag>>2&7)+4, 2, uint64(tag>>5)<<8|uint64(data[1])
	case 2:
		n, back = 3, uint64(binary.LittleEndian.Uint16(data[1:]))
	case 3:
		n, back = 5, uint64(binary.LittleEndian.Uint32(data[1:]))
	}
	if back == 0 {
		return 0, 0, 0
	}
	return size, n, back
}

// likelyRaw goes over what a block of entries has: those, each above the one before,
// and where restart points are, the first of which is 0, with their number.
func (s *scanner) likelyRaw(data []byte) int {
	at, last := 0, uint64(0)
	for {
		s.work--
		shared, unshared, next := entry(data[at:])
		if next == 0 || shared > last || at > 0 && unshared == 0 { // no entry, or not above
			break
		}
		at, last = at+next, shared+unshared
	}
	for n, before := uint32(0), uint32(0); len(data)-at >= 4+trailerLen; n++ {
		s.work--
		point := binary.LittleEndian.Uint32(data[at:])
		at += 4
		switch {
		case n > 0 && point == n: // no restart point: it would be that many entries on
			return at + trailerLen
		case n == 0 && point != 0 || n > 0 && point <= before:
			return 0
		}
		before = point
	}
	return 0
}

// entry reads the lengths of an entry, and where the next one starts, which is 0 if
// data is too short.
func entry(data []byte) (shared, unshared uint64, next int) {
	var lengths [3]uint64
	at := 0
	for i := range lengths {
		length, n := wire.Uvarint(data[at:])
		if n == 0 {
			return 0, 0, 0
		}
		lengths[i], at = length, at+n
	}
	room := uint64(len(data) - at)
	if lengths[1] > room || lengths[2] > room-lengths[1] {
		return 0, 0, 0
	}
	return lengths[0], lengths[1], at + int(lengths[1]+lengths[2])
}
