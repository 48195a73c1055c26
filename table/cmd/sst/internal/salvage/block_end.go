package salvage

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"io"
	"math"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/codecs"
)

// snappyEnd walks through a Snappy block: the decoded length, and literals and copies up to
// it.
func (s *scanner) snappyEnd(data []byte) int {
	length, at := wire.Uvarint(data)
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

// zstdEnd returns where the zstd frame at the start of data ends.
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

// zlibEnd decompresses data that starts with a zlib header.
func (s *scanner) zlibEnd(data []byte) int {
	if len(data) < 2 || data[0]&0x0f != 8 || binary.BigEndian.Uint16(data)%31 != 0 {
		return 0
	}
	s.budget -= 1 << 10 // about the cost of starting
	return s.inflatedEnd(&s.zlibReader, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }, data)
}

// deflateEnd decompresses data that may be deflate. Deflate has no magic number, so it is
// tried only while no block was found, and after a block that was compressed with deflate.
func (s *scanner) deflateEnd(data []byte) int {
	if !s.deflate || !startsDeflate(data) {
		return 0
	}
	return s.inflatedEnd(&s.flateReader, func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil }, data)
}

// startsDeflate checks the first bits of a deflate stream, which is much cheaper than
// starting to decompress (RFC 1951, sections 3.2.3 to 3.2.7).
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

// inflatedEnd decompresses data to its end with a Reader that open opens, unless there is one already. The first
// decompressed byte must be 0, because the first entry of a block shares 0 bytes.
func (s *scanner) inflatedEnd(reader *io.Reader, open func(io.Reader) (io.Reader, error), data []byte) int {
	in := bytes.NewReader(data)
	var err error
	if *reader == nil {
		*reader, err = open(in)
	} else {
		err = (*reader).(flate.Resetter).Reset(in, nil) // which is also that of zlib
	}
	if err != nil {
		return 0
	}
	r := *reader
	var first [1]byte
	_, err = io.ReadFull(r, first[:])
	if err == nil && first[0] == 0 {
		var n int64
		n, err = io.Copy(io.Discard, io.LimitReader(r, MaxBlock))
		s.budget -= n
	}
	s.budget -= int64(len(data) - in.Len() + 64)
	if err != nil || first[0] != 0 {
		return 0
	}
	return len(data) - in.Len()
}

// rawEnd walks through an uncompressed block: entries with increasing keys, the restart
// points, and their number. The first restart point is 0. The entry at each restart point
// shares 0 bytes.
func (s *scanner) rawEnd(data []byte) int {
	if len(data) < 8 || data[0] != 0 {
		return 0
	}
	base := len(s.data) - len(data)
	isStart, array := s.entries(base)
	at := array - base
	for n, before := uint32(0), uint32(0); len(data)-at >= 4+format.TrailerLen; n++ {
		s.budget -= 4 * entryCost
		point := binary.LittleEndian.Uint32(data[at:])
		at += 4
		switch {
		case n > 0 && point == n: // this is the number of restart points
			return at
		case n == 0 && point != 0 || n > 0 && point <= before || !isStart(base+int(point)) || data[point] != 0:
			return 0
		}
		before = point
	}
	return 0
}

// An entryRun is a run of adjacent entries. starts has where they start, and array where
// they end: the restart points can follow there.
type entryRun struct {
	base, array int
	starts      bitset
}

func (r *entryRun) has(at int) bool { return at >= r.base && at < r.array && r.starts.has(at) }

// forget makes a run empty. It walks through the entries again to clear starts, which is
// cheaper than clearing all of it.
func (s *scanner) forget(r *entryRun) {
	for at := r.base; at < r.array; {
		r.starts.unset(at)
		_, _, next := decodeEntryLens(s.data[at:])
		at += next
	}
	r.base, r.array = 0, 0
}

// entryCost is the cost of reading an entry, compared with copying a byte.
const entryCost = 4

// minKeptRun is the length of a run of entries that is worth keeping.
const minKeptRun = 16

// entries walks through the entries from base on. It returns where the restart points would
// start, and a function that reports whether an entry starts at an offset. When it reaches
// the kept run, it uses that instead of walking through it again.
func (s *scanner) entries(base int) (isStart func(at int) bool, array int) {
	r := &s.scratch
	s.forget(r)
	r.base = base
	n, last := 0, uint64(0)
	at := base
	for ; at-base <= MaxBlock; n++ {
		s.budget -= entryCost
		if s.keptRun.has(at) {
			r.array = at
			return func(at int) bool { return r.has(at) || s.keptRun.has(at) }, s.keptRun.array
		}
		shared, unshared, next := decodeEntryLens(s.data[at:])
		if next == 0 || shared > last || at > base && unshared == 0 { // malformed, or the key is not greater than the one before
			break
		}
		r.starts.set(at)
		at, last = at+next, shared+unshared
	}
	r.array = at
	if n > minKeptRun && (s.keptRun.array <= base || at > s.keptRun.array) {
		s.keptRun, s.scratch = s.scratch, s.keptRun
		r = &s.keptRun
	}
	return r.has, at
}

// decodeEntryLens decodes the lengths of the entry at the start of data, and returns where
// the next entry starts. next is 0 if the entry is malformed.
func decodeEntryLens(data []byte) (shared, unshared uint64, next int) {
	var lengths [3]uint64
	at := 0
	for i := range lengths {
		length, n := wire.Uvarint(data[at:])
		if n == 0 {
			return 0, 0, 0
		}
		lengths[i], at = length, at+n
	}
	rest := uint64(len(data) - at)
	if lengths[1] > rest || lengths[2] > rest-lengths[1] {
		return 0, 0, 0
	}
	return lengths[0], lengths[1], at + int(lengths[1]+lengths[2])
}
