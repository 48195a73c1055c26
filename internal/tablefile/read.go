package tablefile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/format"
)

// A Scratch has the memory of one block: as it is stored and, if it is compressed, decompressed. The next block
// overwrites both. The zero value is ready to use.
type Scratch struct {
	stored, decompressed []byte
	block                []byte // as it is stored, with its trailer: in stored, or in the source
	inSource             bool   // block is in the source, and so are its contents
	copies               bool   // block is copied from the source before its checksum is compared
	compressed           bool   // the contents are in decompressed, not in block

	key  []byte    // a copy of a key that a lookup has found, or of names in meta
	meta Metaindex // the entries of a metaindex

	ahead Ahead
	ctx   context.Context // ends reads; nil: nothing does
}

var scratchPool = sync.Pool{New: func() any { return new(Scratch) }}

// TakeScratch returns a Scratch from the pool.
func TakeScratch() *Scratch { return scratchPool.Get().(*Scratch) }

// maxPooledBlock is the largest buffer that goes back to the pool, so that one huge value does not hold memory for
// ever. The others are the same for a key, and for the entries of a metaindex.
const (
	maxPooledBlock = 1<<20 + format.TrailerLen
	maxPooledKey   = 64 << 10
	maxPooledMeta  = 16
)

// Put gives s back to the pool.
func (s *Scratch) Put() {
	s.empty()
	scratchPool.Put(s)
}

// empty removes what need not stay in memory.
func (s *Scratch) empty() {
	if cap(s.stored) > maxPooledBlock || cap(s.decompressed) > maxPooledBlock {
		s.stored, s.decompressed = nil, nil
	}
	if cap(s.key) > maxPooledKey {
		s.key = nil
	}
	if len(s.meta) > 0 { // they can lie in memory that is given up
		clear(s.meta)
		if s.meta = s.meta[:0]; cap(s.meta) > maxPooledMeta {
			s.meta = nil
		}
	}
	s.block, s.copies, s.ahead, s.ctx = nil, false, Ahead{}, nil
}

// Trailer returns the trailer of the block that was read last.
func (s *Scratch) Trailer() []byte { return s.block[len(s.block)-format.TrailerLen:] }

// SetAhead has ReadAhead read that many bytes at once.
func (s *Scratch) SetAhead(size int) { s.ahead.size = size }

// own returns the contents of the block in memory of s.
func (s *Scratch) own(contents []byte) ([]byte, error) {
	if !s.inSource {
		return contents, nil
	}
	if err := s.copyBlock(); err != nil {
		return nil, err
	}
	s.inSource = false
	return s.stored[:len(contents):len(contents)], nil
}

// copyBlock copies the block from the source to memory of s.
func (s *Scratch) copyBlock() (err error) {
	if s.stored, err = sized(s.stored, len(s.block)); err != nil {
		return err
	}
	copy(s.stored, s.block)
	s.block = s.stored
	return nil
}

// sized returns n bytes, in the memory of b if that suffices. Memory for a large block, such as the filter of a table,
// may not be there: if it were allocated, the process would end.
func sized(b []byte, n int) ([]byte, error) {
	if n <= cap(b) {
		return b[:n], nil
	}
	if err := alloc.CheckLarge(uint64(n)); err != nil {
		return nil, fmt.Errorf("table: block of %d bytes %w", n, err)
	}
	return make([]byte, n), nil
}

// ReadBlock does what ReadInPlace does, but the contents are in memory of s. What the source hands out can change, and
// what checks it once and relies on that later would panic. So are those of the blocks that s is used for after it.
func (f *File) ReadBlock(kind Kind, h Handle, s *Scratch) ([]byte, error) {
	s.copies = true
	return f.ReadInPlace(kind, h, s)
}

// ReadInPlace reads the block at h, checks its checksum, and returns its contents, decompressed. They are valid until
// s is used for another block. If the source hands out its bytes, those of an uncompressed block are not copied.
func (f *File) ReadInPlace(kind Kind, h Handle, s *Scratch) ([]byte, error) {
	id, err := f.ReadStored(kind, h, s)
	if err != nil {
		return nil, err
	}
	stored := s.block[:h.Length:h.Length]
	if s.compressed = id != 0; !s.compressed {
		return stored, nil
	}
	codec := f.o.Codecs[id]
	if codec == nil {
		return nil, f.Corrupt(kind, h, "unknown compression id %d: not 0, 1 (Snappy), or the id of a Codec in the options (see package table/codecs)", id)
	}
	contents, err := codec.Decode(s.decompressed[:0], stored, f.o.MaxBlockSize)
	if err != nil {
		if refused := (*alloc.Error)(nil); errors.As(err, &refused) { // which is no damage
			return nil, fmt.Errorf("table: block of %d bytes: %w", h.Length, err)
		}
		return nil, f.Damaged(kind, h, err)
	}
	s.decompressed = contents
	return contents[:len(contents):len(contents)], nil
}

// ReadAny does what ReadBlock does for a block whose place the caller does not know to lie in the file. It returns the
// compression id too. The contents are the caller's.
func (f *File) ReadAny(kind Kind, h Handle) (contents []byte, id byte, err error) {
	if end := f.FooterOffset; h.Offset > end || h.Length > end || h.End() > end {
		return nil, 0, f.Corrupt(kind, h, "%d bytes and a trailer overlap the footer at %d", h.Length, end)
	}
	var s Scratch
	if contents, err = f.ReadBlock(kind, h, &s); err != nil {
		return nil, 0, err
	}
	return contents, s.Trailer()[0], nil
}

// ReadStored reads the block at h as it is stored, checks its checksum, and returns its compression id.
func (f *File) ReadStored(kind Kind, h Handle, s *Scratch) (id byte, err error) {
	if h.Length > uint64(f.o.MaxBlockSize) {
		return 0, f.Corrupt(kind, h, "%d bytes exceed the limit of %d", h.Length, f.o.MaxBlockSize)
	}
	n := int(h.Length)
	if s.inSource = false; f.slices != nil {
		err = f.sliceStored(kind, h, s)
	} else if s.stored, err = sized(s.stored, n+format.TrailerLen); err == nil {
		if s.block = s.stored; s.ahead.bytes != nil && s.ahead.has(h.Offset, h.End()) {
			copy(s.stored, s.ahead.bytes[h.Offset-s.ahead.offset:])
		} else {
			err = f.read(s.ctx, kind, s.stored, h.Offset)
		}
	}
	if err != nil {
		return 0, err
	}
	if id = s.block[n]; f.o.SkipChecksums {
		return id, nil
	}
	want := binary.LittleEndian.Uint32(s.block[n+1:])
	if got := format.Checksum(s.block[:n], id); got != want {
		return 0, f.Corrupt(kind, h, "checksum mismatch: stored %#08x, computed %#08x", want, got)
	}
	return id, nil
}

// maxFetched is how many bytes of a block are fetched.
const maxFetched = 8 << 10

// fetch reads a byte of each cache line of p, all of which the processor fetches at once. A search, which comes to the
// next entry by the one before, and a checksum too, wait for line after line. It returns their sum so that they are
// read.
//
//go:noinline
func fetch(p []byte) (sum byte) {
	for i := 0; i < len(p); i += 64 {
		sum += p[i]
	}
	return sum
}

// sliceStored sets s.block to the block at h of a source that hands out its bytes. A compressed block is copied: a
// codec then reads bytes that do not change.
func (f *File) sliceStored(kind Kind, h Handle, s *Scratch) (err error) {
	n := int(h.Length)
	size := n + format.TrailerLen
	if s.block, err = f.slice(s.ctx, kind, h.Offset, size); err != nil {
		return err
	}
	if !s.copies {
		fetch(s.block[:min(size, maxFetched)])
		if s.inSource = s.block[n] == 0; s.inSource {
			return nil
		}
	}
	return s.copyBlock()
}

// A Codec decompresses blocks: table.Codec.
type Codec interface {
	ID() byte
	Decode(dst, src []byte, limit int) ([]byte, error)
}

// SnappyOnly are the Codecs of most tables, by the compression id of a block.
var SnappyOnly = map[byte]Codec{Snappy{}.ID(): Snappy{}}

// Snappy is LevelDB's compression.
type Snappy struct{}

// ID returns 1.
func (Snappy) ID() byte { return 1 }

// Encode appends src to dst, compressed.
func (Snappy) Encode(dst, src []byte) []byte {
	dst = slices.Grow(dst, snappy.MaxEncodedLen(len(src)))
	return dst[:len(dst)+len(snappy.Encode(dst[len(dst):cap(dst)], src))]
}

// maxSnappyGain bounds how many times its length a Snappy block can decompress to. The densest element takes 3 bytes
// and stands for 64.
const maxSnappyGain = 22

// Decode appends src to dst, decompressed. More than limit bytes are an error.
func (Snappy) Decode(dst, src []byte, limit int) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, fmt.Errorf("snappy: decodes to %d bytes, more than the limit of %d", n, limit)
	}
	if uint64(n) > maxSnappyGain*uint64(len(src)) {
		return nil, fmt.Errorf("snappy: %d bytes claim to decode to %d", len(src), n)
	}
	if size := len(dst) + n; size > cap(dst) { // append would allocate more than that
		if err := alloc.CheckLarge(uint64(size)); err != nil {
			return nil, fmt.Errorf("snappy: %w", err)
		}
		dst = append(make([]byte, 0, size), dst...)
	}
	got, err := snappy.Decode(dst[len(dst):len(dst)+n], src)
	if err != nil {
		return nil, err
	}
	return dst[:len(dst)+len(got)], nil
}
