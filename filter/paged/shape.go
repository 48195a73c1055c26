package paged

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/internal/format"
)

const (
	PageSize    = 4096 // length in bytes of a page
	TrailerSize = 36   // length in bytes of the trailer, which follows the last page

	sumSize    = 4
	lgPageSize = 12
	xxh3Hash   = 1
	version    = 1
)

// ErrCorrupt is wrapped by errors for a corrupt trailer or page.
var ErrCorrupt = errors.New("corrupt")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Shape is the contents of a filter's trailer. Its methods look up keys in pages that the caller reads and
// caches:
//
//	h := s.Hash(key)
//	n := s.Page(h)                   // read PageSize bytes at offset n*PageSize
//	err := s.CheckPage(page, n)      // once for each page read
//	mayContain := s.InPage(page, h)
//
// To look up many keys, sort them by Page and read neighboring pages together. The methods are safe for concurrent
// use.
type Shape struct {
	Seed  uint64 // seed of the hash
	Keys  uint64 // number of keys added; the same key twice in a row counts once
	Pages uint64 // number of pages, 1 to 2^32
	K     int    // bits that each key sets, 1 to 255

	hashSum  uint32 // of all keys
	checksum uint32 // of the trailer
}

// ReadShape returns the Shape of a filter of size bytes. tail is its end, at least TrailerSize bytes, which
// ReadShape does not keep. If tail is corrupt or size is wrong, the error wraps [ErrCorrupt]; if the version is
// unknown, it does not.
func ReadShape(tail []byte, size uint64) (Shape, error) {
	if size < PageSize+TrailerSize {
		return Shape{}, fmt.Errorf("paged: %w filter of %d bytes is too short (minimum %d)",
			ErrCorrupt, size, PageSize+TrailerSize)
	}
	if len(tail) < TrailerSize {
		return Shape{}, fmt.Errorf("paged: tail of %d bytes is too short (minimum %d)", len(tail), TrailerSize)
	}
	b := tail[len(tail)-TrailerSize:]
	if v := b[31]; v != version {
		return Shape{}, fmt.Errorf("paged: filter of version %d, not %d: update this package, or rebuild the filter",
			v, version)
	}
	fields, stored := b[:TrailerSize-sumSize], binary.LittleEndian.Uint32(b[TrailerSize-sumSize:])
	if got := format.CRC(fields); got != stored {
		return Shape{}, fmt.Errorf("paged: %w trailer: checksum mismatch: stored %#08x, computed %#08x",
			ErrCorrupt, stored, got)
	}
	if b[28] != lgPageSize || b[29] != xxh3Hash {
		return Shape{}, fmt.Errorf("paged: %w trailer: pages of 2^%d bytes and hash %d, not 2^%d and %d",
			ErrCorrupt, b[28], b[29], lgPageSize, xxh3Hash)
	}
	s := Shape{
		Seed:  binary.LittleEndian.Uint64(b),
		Keys:  binary.LittleEndian.Uint64(b[8:]),
		Pages: binary.LittleEndian.Uint64(b[16:]),
		K:     int(b[30]),

		hashSum:  binary.LittleEndian.Uint32(b[24:]),
		checksum: stored,
	}
	if s.K < 1 || s.Pages < 1 || s.Pages > maxPages || s.Size() != size {
		return Shape{}, fmt.Errorf("paged: %w filter of %d bytes: %d pages and k = %d", ErrCorrupt, size, s.Pages, s.K)
	}
	return s, nil
}

// appendTrailer appends the trailer that ReadShape reads, and sets its checksum.
func (s *Shape) appendTrailer(b []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint64(b, s.Seed)
	b = binary.LittleEndian.AppendUint64(b, s.Keys)
	b = binary.LittleEndian.AppendUint64(b, s.Pages)
	b = binary.LittleEndian.AppendUint32(b, s.hashSum)
	b = append(b, lgPageSize, xxh3Hash, byte(s.K), version)
	s.checksum = format.CRC(b[start:])
	return binary.LittleEndian.AppendUint32(b, s.checksum)
}

// Size returns the length in bytes of the filter.
func (s *Shape) Size() uint64 { return s.Pages*PageSize + TrailerSize }

// Hash returns the hash of key for Page and InPage. It is the same for all filters with the same Seed.
func (s *Shape) Hash(key []byte) uint64 { return xxh3.HashSeed(key, s.Seed) }

// Page returns the number of the page of the key with hash h.
func (s *Shape) Page(h uint64) uint64 {
	n, _ := bits.Mul64(h, s.Pages)
	return n
}

// CheckPage checks page n. If page is corrupt, or from another place or filter, the error wraps [ErrCorrupt].
func (s *Shape) CheckPage(page []byte, n uint64) error {
	if len(page) != PageSize {
		return fmt.Errorf("paged: %w page %d of %d bytes, not %d", ErrCorrupt, n, len(page), PageSize)
	}
	if got, stored := s.pageSum(page, n), storedSum(page); got != stored {
		return fmt.Errorf("paged: %w page %d: checksum mismatch: stored %#08x, computed %#08x", ErrCorrupt, n, stored, got)
	}
	return nil
}

// pageSum returns the checksum of page n, from its bits.
func (s *Shape) pageSum(page []byte, n uint64) uint32 {
	return format.MaskCRC(crc32.Update(s.checksum+uint32(n), castagnoli, page[:PageSize-sumSize]))
}

// storedSum returns the checksum stored in a page.
func storedSum(page []byte) uint32 { return binary.LittleEndian.Uint32(page[PageSize-sumSize:]) }

// InPage reports whether the filter may contain the key with hash h, given its page, which CheckPage has accepted.
// If page is shorter than PageSize, InPage panics.
func (s *Shape) InPage(page []byte, h uint64) bool {
	_, rest := bits.Mul64(h, s.Pages)
	return mayContain((*[PageSize]byte)(page), rest, s.K)
}
