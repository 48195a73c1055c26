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
	// PageSize is the length in bytes of a page.
	PageSize = 4096

	// TrailerSize is the length in bytes of the trailer, which follows the last page.
	TrailerSize = 36

	sumSize    = 4
	lgPageSize = 12
	xxh3Hash   = 1
	version    = 1
)

// ErrCorrupt is wrapped by the errors for a corrupt trailer or page. Test for it with errors.Is.
var ErrCorrupt = errors.New("corrupt")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Shape is the contents of a filter's trailer. Its methods look up keys in pages that the caller
// reads and caches:
//
//	h := s.Hash(key)
//	n := s.Page(h)                   // read PageSize bytes at offset n*PageSize
//	err := s.CheckPage(page, n)      // once for each page read
//	mayContain := s.InPage(page, h)
//
// To look up many keys, sort them by Page and read neighbouring pages together. The methods are
// safe for concurrent use. They allocate only errors.
type Shape struct {
	Seed  uint64 // of the hash
	Keys  uint64 // number of keys added; the same key twice in a row counts once
	Pages uint64 // 1 to 2^32
	K     int    // bits that each key sets, 1 to 255

	hashSum  uint32 // of all keys
	checksum uint32 // of the trailer
}

// ReadShape returns the Shape of a filter of size bytes. tail is the end of the filter, at least
// TrailerSize bytes. ReadShape does not keep it. If tail is corrupt or belongs to a filter of another
// size, the error wraps [ErrCorrupt]. If the version is unknown, it does not.
func ReadShape(tail []byte, size uint64) (Shape, error) {
	if len(tail) < TrailerSize || size < PageSize+TrailerSize {
		return Shape{}, fmt.Errorf("paged: %w filter of %d bytes, want at least %d", ErrCorrupt, size, PageSize+TrailerSize)
	}
	b := tail[len(tail)-TrailerSize:]
	if v := b[31]; v != version {
		return Shape{}, fmt.Errorf("paged: filter of version %d, want %d: update this package, or rebuild the filter", v, version)
	}
	fields, stored := b[:TrailerSize-sumSize], binary.LittleEndian.Uint32(b[TrailerSize-sumSize:])
	if got := format.MaskCRC(crc32.Checksum(fields, castagnoli)); got != stored {
		return Shape{}, fmt.Errorf("paged: %w trailer: checksum mismatch: %#08x, want %#08x as stored", ErrCorrupt, got, stored)
	}
	if b[28] != lgPageSize || b[29] != xxh3Hash {
		return Shape{}, fmt.Errorf("paged: %w trailer: pages of 2^%d bytes and hash %d, want 2^%d and %d",
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
	s.checksum = format.MaskCRC(crc32.Checksum(b[start:], castagnoli))
	return binary.LittleEndian.AppendUint32(b, s.checksum)
}

// Size returns the length in bytes of the filter.
func (s *Shape) Size() uint64 { return s.Pages*PageSize + TrailerSize }

// Hash returns the hash of key for Page and InPage. It is the same for all filters with the same Seed.
func (s *Shape) Hash(key []byte) uint64 { return xxh3.HashSeed(key, s.Seed) }

// Page returns the number of the page that the key with hash h belongs to. It is < Pages.
func (s *Shape) Page(h uint64) uint64 {
	n, _ := bits.Mul64(h, s.Pages)
	return n
}

// CheckPage compares the checksum of page n. If page is corrupt, another page, or a page of another
// filter, the error wraps [ErrCorrupt].
func (s *Shape) CheckPage(page []byte, n uint64) error {
	if len(page) != PageSize {
		return fmt.Errorf("paged: %w page %d of %d bytes, want %d", ErrCorrupt, n, len(page), PageSize)
	}
	if got, stored := s.pageSum(page, n), storedSum(page); got != stored {
		return fmt.Errorf("paged: %w page %d: checksum mismatch: %#08x, want %#08x as stored", ErrCorrupt, n, got, stored)
	}
	return nil
}

// pageSum returns the checksum of page n, from its bits.
func (s *Shape) pageSum(page []byte, n uint64) uint32 {
	return format.MaskCRC(crc32.Update(s.checksum+uint32(n), castagnoli, page[:PageSize-sumSize]))
}

// storedSum returns the checksum stored in a page.
func storedSum(page []byte) uint32 { return binary.LittleEndian.Uint32(page[PageSize-sumSize:]) }

// InPage reports whether the filter may contain the key with hash h. page is the page of that key. It
// must have passed CheckPage: InPage panics if it is shorter than PageSize.
func (s *Shape) InPage(page []byte, h uint64) bool {
	_, rest := bits.Mul64(h, s.Pages)
	return mayContain((*[PageSize]byte)(page), rest, s.K)
}
