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

// A Scratch holds the memory for one block: its stored bytes and, if it is compressed, its decompressed contents.
// The next block overwrites both. The zero value is ready to use.
type Scratch struct {
	stored, decompressed []byte
	block                []byte // stored bytes with the trailer: memory of stored, or of the source
	inSource             bool   // block and its contents are memory of the source
	copies               bool   // copy block from the source before verifying its checksum
	compressed           bool   // the contents are in decompressed

	key   []byte    // a copy of a found key
	names []byte    // of a metaindex
	meta  Metaindex // its entries

	ahead Ahead
	ctx   context.Context // cancels reads; may be nil
}

var scratchPool = sync.Pool{New: func() any { return new(Scratch) }}

// TakeScratch returns a Scratch from the pool.
func TakeScratch() *Scratch { return scratchPool.Get().(*Scratch) }

// maxPooledBlock is the largest buffer that returns to the pool, so that the pool does not hold huge ones.
// maxPooledKey and maxPooledNames do the same for keys and for the names in a metaindex.
const (
	maxPooledBlock = 1<<20 + format.TrailerLen
	maxPooledKey   = 64 << 10
	maxPooledNames = 8 << 10
)

// Put gives s back to the pool.
func (s *Scratch) Put() {
	s.empty()
	scratchPool.Put(s)
}

// empty drops references and large buffers.
func (s *Scratch) empty() {
	if cap(s.stored) > maxPooledBlock || cap(s.decompressed) > maxPooledBlock {
		s.stored, s.decompressed = nil, nil
	}
	if cap(s.key) > maxPooledKey {
		s.key = nil
	}
	clear(s.meta) // entries may refer to dropped buffers
	if s.meta = s.meta[:0]; cap(s.names) > maxPooledNames || cap(s.meta) > maxPooledNames/64 {
		s.names, s.meta = nil, nil
	}
	s.block, s.copies, s.ahead, s.ctx = nil, false, Ahead{}, nil
}

// Trailer returns the trailer of the block that was read last.
func (s *Scratch) Trailer() []byte { return s.block[len(s.block)-format.TrailerLen:] }

// SetAhead makes ReadAhead read size bytes at once.
func (s *Scratch) SetAhead(size int) { s.ahead.size = size }

// own returns the block's contents in memory of s.
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

// sized returns n bytes, in b's memory if its capacity suffices. It refuses a large block, such as a table filter,
// if memory is short: allocating it would end the process.
func sized(b []byte, n int) ([]byte, error) {
	if n <= cap(b) {
		return b[:n], nil
	}
	if err := alloc.CheckLarge(uint64(n)); err != nil {
		return nil, fmt.Errorf("table: block of %d bytes %w", n, err)
	}
	return make([]byte, n), nil
}

// ReadBlock is like ReadInPlace, but the contents always lie in memory of s. The bytes of a source can change, and
// code that relies on an earlier check of them would panic. From then on s copies all blocks it is used for.
func (f *File) ReadBlock(kind Kind, h Handle, s *Scratch) ([]byte, error) {
	s.copies = true
	return f.ReadInPlace(kind, h, s)
}

// ReadInPlace reads the block at h, verifies its checksum, and returns its decompressed contents, which are valid
// until s is used for another block. If the source is a Slicer, uncompressed blocks are not copied.
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
		if refused := (*alloc.Error)(nil); errors.As(err, &refused) { // not corruption
			return nil, fmt.Errorf("table: block of %d bytes: %w", h.Length, err)
		}
		return nil, f.Damaged(kind, h, err)
	}
	s.decompressed = contents
	return contents[:len(contents):len(contents)], nil
}

// ReadAny is like ReadBlock, for a handle that may point outside the file. It also returns the compression id. The
// contents belong to the caller.
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

// readData reads data block i into s, and counts the read.
func (f *File) readData(i int, s *Scratch) ([]byte, error) {
	h, err := f.Index.Handle(i)
	if err != nil {
		return nil, err
	}
	f.CountRead(h)
	return f.ReadInPlace(DataBlock, h, s)
}

// CountRead counts a read of the data block at h.
func (f *File) CountRead(h Handle) {
	if m := f.o.Counters; m != nil {
		m.BlocksRead.Add(1)
		m.BytesRead.Add(h.Length + format.TrailerLen)
	}
}

// ReadStored reads the stored bytes of the block at h, verifies the checksum, and returns the compression id.
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

// maxFetched is the number of bytes of a block that are prefetched.
const maxFetched = 8 << 10

// fetch reads a byte of each cache line of p, so that the processor loads all lines at once. A search, which finds
// the next entry through the one before, and a checksum wait for line after line. The sum keeps the compiler from
// dropping the reads.
//
//go:noinline
func fetch(p []byte) (sum byte) {
	for i := 0; i < len(p); i += 64 {
		sum += p[i]
	}
	return sum
}

// sliceStored sets s.block to the block at h of a Slicer. A compressed block is copied, so that codecs read bytes
// that do not change.
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

// A Codec decompresses blocks: see table.Codec.
type Codec interface {
	ID() byte
	Decode(dst, src []byte, limit int) ([]byte, error)
}

// SnappyOnly maps Snappy's compression id to its Codec. Most tables need no other.
var SnappyOnly = map[byte]Codec{Snappy{}.ID(): Snappy{}}

// Snappy is LevelDB's compression.
type Snappy struct{}

// ID returns 1.
func (Snappy) ID() byte { return 1 }

// Encode compresses src and appends the result to dst.
func (Snappy) Encode(dst, src []byte) []byte {
	dst = slices.Grow(dst, snappy.MaxEncodedLen(len(src)))
	return dst[:len(dst)+len(snappy.Encode(dst[len(dst):cap(dst)], src))]
}

// maxSnappyGain bounds the compression ratio of a Snappy block. The densest element takes 3 bytes and stands for 64.
const maxSnappyGain = 22

// Decode decompresses src and appends the result to dst. If it is longer than limit, Decode returns an error.
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
