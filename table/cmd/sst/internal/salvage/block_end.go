package salvage

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"math"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/codecs"
)

// snappyEnd returns the length of the Snappy block at the start of data. It reads the decoded length, and then
// literals and copies until they add up to it.
func (s *scanner) snappyEnd(data []byte) int {
	length, at := format.Uvarint(data)
	if at == 0 || length == 0 || length > MaxBlock {
		return 0
	}
	for made := uint64(0); made < length; {
		s.budget--
		size, n, back := snappyElement(data[at:])
		if n == 0 || n > len(data)-at || back > made || made == 0 && back == 0 && data[at+n-size] != 0 {
			return 0 // the first entry of a block shares 0 bytes
		}
		at, made = at+n, made+uint64(size)
		if made > length {
			return 0
		}
	}
	return at
}

// snappyElement decodes the header of a Snappy element: size is its decoded length, n its
// encoded length, and back the offset of a copy, or 0 for a literal. n is 0 if the element
// is malformed.
func snappyElement(data []byte) (size, n int, back uint64) {
	if len(data) < 5 {
		return 0, 0, 0
	}
	tag := data[0]
	size = int(tag>>2) + 1
	switch tag & 3 {
	case 0:
		extra := max(0, size-60) // bytes of the length after the tag
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

// zstdEnd returns the length of the zstd frame at the start of data.
func (s *scanner) zstdEnd(data []byte) int {
	if !codecs.IsZstd(data) {
		return 0
	}
	end, blocks, ok := dbfile.ZstdEnd(bytes.NewReader(data), int64(len(data)), math.MaxInt)
	s.budget -= int64(blocks)
	if !ok {
		return 0
	}
	return int(end)
}

// zlibEnd returns the length of the zlib stream at the start of data: a header of 2 bytes, a deflate stream, which
// it decompresses, and a checksum of 4 bytes.
func (s *scanner) zlibEnd(data []byte) int {
	if len(data) < 2 || data[0]&0x0f != 8 || binary.BigEndian.Uint16(data)%31 != 0 {
		return 0
	}
	s.budget -= 1 << 10 // about the cost of starting
	if n := s.inflatedEnd(data[2:]); n > 0 {
		return 2 + n + 4
	}
	return 0
}

// deflateEnd returns the length of the deflate stream at the start of data. Deflate has no magic number, so it is
// tried only while all blocks before are compressed with deflate or not at all.
func (s *scanner) deflateEnd(data []byte) int {
	if !s.deflate || !startsDeflate(data) {
		return 0
	}
	return s.inflatedEnd(data)
}

// startsDeflate checks the first bits of a deflate stream, which is much cheaper than to start decompressing (RFC
// 1951, sections 3.2.3 to 3.2.7).
func startsDeflate(data []byte) bool {
	if len(data) < 5 {
		return false
	}
	switch header := data[0] >> 3; data[0] >> 1 & 3 {
	case 0: // stored: the length, and its complement
		return binary.LittleEndian.Uint16(data[1:]) == ^binary.LittleEndian.Uint16(data[3:])
	case 1: // fixed codes: the first byte is 0, because the first entry of a block shares 0 bytes
		return header == 0b01100 && data[1]&7 == 0
	case 2: // dynamic codes: at most 286 literal and length codes, and 30 distance codes
		return header <= 29 && data[1]&31 <= 29
	}
	return false
}

// inflatedEnd decompresses the deflate stream at the start of data, and returns its compressed length. The first
// decompressed byte must be 0, because the first entry of a block shares 0 bytes.
func (s *scanner) inflatedEnd(data []byte) int {
	in := bytes.NewReader(data)
	if s.inflater == nil {
		s.inflater = flate.NewReader(in)
	} else if err := s.inflater.(flate.Resetter).Reset(in, nil); err != nil {
		return 0
	}
	var first [1]byte
	_, err := io.ReadFull(s.inflater, first[:])
	if err == nil && first[0] == 0 {
		var n int64
		n, err = io.Copy(io.Discard, io.LimitReader(s.inflater, MaxBlock))
		s.budget -= n
	}
	s.budget -= int64(len(data) - in.Len() + 64)
	if err != nil || first[0] != 0 {
		return 0
	}
	return len(data) - in.Len()
}

// rawEnd returns the length of the uncompressed block at the start of data: entries with increasing keys, restart
// points, and their number. The first restart point is 0. The entry at each restart point shares 0 bytes.
func (s *scanner) rawEnd(data []byte) int {
	if len(data) < 8 || data[0] != 0 {
		return 0
	}
	base := len(s.data) - len(data)
	array := s.entriesEnd(base) - base
	at := array
	for n, before := uint32(0), uint32(0); len(data)-at >= 4+format.TrailerLen; n++ {
		s.budget -= 4 * entryCost
		point := binary.LittleEndian.Uint32(data[at:])
		at += 4
		switch {
		case n > 0 && point == n: // the number of restart points
			return at
		case n == 0 && point != 0 || n > 0 && point <= before || int64(point) >= int64(array) || data[point] != 0:
			return 0
		}
		before = point
	}
	return 0
}

// entryCost is the cost of reading an entry, relative to copying a byte.
const entryCost = 4

// minKeptRun is the number of entries from which on a run is worth keeping.
const minKeptRun = 16

// An entryRun is a run of adjacent entries from base to end. starts has a bit for each byte of the file, which is
// set if an entry of the run starts there.
type entryRun struct {
	base, end int
	starts    []uint64
}

func (r *entryRun) has(at int) bool {
	return r.base <= at && at < r.end && r.starts[at>>6]>>(at&63)&1 != 0
}

// set makes r the run from base to end. It flips the bits of the entries, which is cheaper than clearing all.
func (r *entryRun) set(data []byte, base, end int) {
	for _, next := range [][2]int{{r.base, r.end}, {base, end}} {
		for at := next[0]; at < next[1]; {
			r.starts[at>>6] ^= 1 << (at & 63)
			e, _ := format.DecodeEntry(data, at)
			at = e.End
		}
	}
	r.base, r.end = base, end
}

// entriesEnd reads entries from base on, and returns their end, where restart points can follow. If it reaches the
// kept run, it returns that run's end without reading it again.
func (s *scanner) entriesEnd(base int) int {
	at, n := base, 0
	for last := uint64(0); at-base <= MaxBlock; n++ {
		s.budget -= entryCost
		if s.kept.has(at) {
			return s.kept.end
		}
		e, err := format.DecodeEntry(s.data, at)
		unshared := uint64(e.Value - e.Key)
		if err != nil || e.Shared > last || at > base && unshared == 0 { // or the key is not greater than the one before
			break
		}
		at, last = e.End, e.Shared+unshared
	}
	if n > minKeptRun && at > s.kept.end {
		s.kept.set(s.data, base, at)
	}
	return at
}
