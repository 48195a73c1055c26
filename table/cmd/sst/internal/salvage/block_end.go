package salvage

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"io"
	"math"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/codecs"
)

// endFinders return, each for a form of blocks, where the one endFinders that data starts with, or 0
// if it does not look like the start of one. All show their end to who goes over them.
func (s *scanner) endFinders() []func(data []byte) int {
	return []func([]byte) int{s.snappyEnd, s.zstdEnd, s.zlibEnd, s.rawEnd, s.deflateEnd}
}

// snappyEnd goes over what Snappy's format has: how many bytes it decodes to, and
// literals and copies up to that.
func (s *scanner) snappyEnd(data []byte) int {
	length, at := wire.Uvarint(data)
	if at == 0 || length == 0 || length > maxBlock {
		return 0
	}
	for made := uint64(0); made < length; {
		s.budget--
		size, n, back := snappyElement(data[at:])
		if n == 0 || n > len(data)-at || back > made || made == 0 && back == 0 && data[at+n-size] != 0 {
			return 0 // the first literal starts with an entry that shares nothing
		}
		at, made = at+n, made+uint64(size)
		if made > length {
			return 0
		}
	}
	return at
}

// snappyElement reads one snappyElement of Snappy's format: how many bytes it makes, how many it
// takes, and how far back a copy goes, which is 0 for a literal. If there is none it
// takes 0 bytes.
func snappyElement(data []byte) (size, n int, back uint64) {
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

// zstdEnd returns where the zstd frame at the start of data ends.
func (s *scanner) zstdEnd(data []byte) int {
	if !codecs.IsZstd(data) {
		return 0
	}
	end, blocks, ok := codecs.ZstdFrameEnd(bytes.NewReader(data), int64(len(data)), math.MaxInt)
	s.budget -= int64(blocks)
	if !ok {
		return 0
	}
	return int(end)
}

// zlibEnd decompresses what starts with zlib's header: deflate, and a check.
func (s *scanner) zlibEnd(data []byte) int {
	if len(data) < 2 || data[0]&0x0f != 8 || binary.BigEndian.Uint16(data)%31 != 0 {
		return 0
	}
	s.budget -= 1 << 10 // about what it takes to begin
	in := bytes.NewReader(data)
	var err error
	if s.zlibReader == nil {
		s.zlibReader, err = zlib.NewReader(in)
	} else {
		err = s.zlibReader.(zlib.Resetter).Reset(in, nil)
	}
	if err != nil {
		return 0
	}
	return s.inflatedEnd(s.zlibReader, in)
}

// deflateEnd decompresses what deflate may have made. It does not show where it starts,
// so that it is tried only where a block was of it, or none was found yet.
func (s *scanner) deflateEnd(data []byte) int {
	if !s.deflate || !startsDeflate(data) {
		return 0
	}
	in := bytes.NewReader(data)
	if s.flateReader == nil {
		s.flateReader = flate.NewReader(in)
	} else if err := s.flateReader.(flate.Resetter).Reset(in, nil); err != nil {
		return 0
	}
	return s.inflatedEnd(s.flateReader, in)
}

// startsDeflate looks at the first bits of deflate's format, which takes far less time than
// to begin decompressing (RFC 1951, 3.2.3 to 3.2.7).
func startsDeflate(data []byte) bool {
	if len(data) < 5 {
		return false
	}
	switch header := data[0] >> 3; data[0] >> 1 & 3 {
	case 0: // stored: its length, and the complement
		return binary.LittleEndian.Uint16(data[1:]) == ^binary.LittleEndian.Uint16(data[3:])
	case 1: // fixed codes: that of the byte 0, with which an entry starts that shares nothing
		return header == 0b01100 && data[1]&7 == 0
	case 2: // codes of its own: of literals and lengths at most 286, of distances 30
		return header <= 29 && data[1]&31 <= 29
	}
	return false
}

// inflatedEnd reads r, which takes its bytes from in, to its end. What comes out must
// start with an entry that shares nothing.
func (s *scanner) inflatedEnd(r io.Reader, in *bytes.Reader) int {
	size := int(in.Size())
	var first [1]byte
	_, err := io.ReadFull(r, first[:])
	if err == nil && first[0] == 0 {
		var n int64
		n, err = io.Copy(io.Discard, io.LimitReader(r, maxBlock))
		s.budget -= n
	}
	s.budget -= int64(size - in.Len() + 64)
	if err != nil || first[0] != 0 {
		return 0
	}
	return size - in.Len()
}
