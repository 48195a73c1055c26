package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/crc"
	"github.com/sievetable/sievetable/internal/format"
)

// maxReadSize is the most bytes of a single read that covers several blocks, whatever the
// options say.
const maxReadSize = 1 << 30

// buffers have the memory of one block: as it is stored and, if it is compressed,
// decompressed. The next block overwrites both.
type buffers struct {
	stored, decompressed []byte
	block                []byte // as it is stored, with its trailer: in stored, or in the source
	inSource             bool   // block is in the source, and so are its contents
	copies               bool   // block is copied from the source before its checksum is compared
	compressed           bool   // the contents are in decompressed, not in block

	key  []byte    // a copy of a key that a lookup has found, or of names in meta
	meta metaindex // the entries of a metaindex

	ahead readAhead
	ctx   context.Context // ends reads; nil: nothing does
}

// detach returns value, a part of the contents, in memory that the next block does not
// overwrite. If the value is a large part of its buffer, the buffers give that up;
// otherwise it is a copy.
func (b *buffers) detach(value []byte) []byte {
	_, value = b.detachEntry(nil, value)
	return value
}

// detachEntry does what detach does with a key and a value. The key may be in memory of
// its own.
func (b *buffers) detachEntry(key, value []byte) (k, v []byte) {
	if b.inSource || len(key)+len(value) < cap(*b.contents())/4 {
		return slices.Clip(bytes.Clone(key)), slices.Clip(bytes.Clone(value))
	}
	*b.contents() = nil
	return key, value
}

// contents returns the buffer that the contents are in.
func (b *buffers) contents() *[]byte {
	if b.compressed {
		return &b.decompressed
	}
	return &b.stored
}

// maxPooledBlock is the largest buffer that goes back to the pool, so that one huge value
// does not hold memory for ever.
const maxPooledBlock = 1<<20 + format.TrailerLen

// maxPooledKey is the same for a key.
const maxPooledKey = 64 << 10

// maxPooledMeta is the same for the entries of a metaindex.
const maxPooledMeta = 16

// put gives the buffers back to the pool.
func (b *buffers) put() {
	b.empty()
	buffersPool.Put(b)
}

// isLarge reports whether one of the buffers is too large for a pool.
func (b *buffers) isLarge() bool {
	return cap(b.stored) > maxPooledBlock || cap(b.decompressed) > maxPooledBlock
}

// empty removes what need not stay in memory.
func (b *buffers) empty() {
	if b.isLarge() {
		b.stored, b.decompressed = nil, nil
	}
	if cap(b.key) > maxPooledKey {
		b.key = nil
	}
	if clear(b.meta); cap(b.meta) > maxPooledMeta { // they can lie in memory that is given up
		b.meta = nil
	}
	b.meta = b.meta[:0]
	b.block, b.copies, b.ahead, b.ctx = nil, false, readAhead{}, nil
}

// readBlock does what readInPlace does, but the contents are in memory of b. What the source hands
// out can change, and what checks it once and relies on that later would panic. So are those of the
// blocks that b is used for after it.
func (f *tableFile) readBlock(kind BlockKind, h Handle, b *buffers) ([]byte, error) {
	b.copies = true
	return f.readInPlace(kind, h, b)
}

// own returns the contents of the block in memory of b.
func (b *buffers) own(contents []byte) []byte {
	if !b.inSource {
		return contents
	}
	b.stored = append(extend(b.stored[:0], len(b.block)), b.block...)
	b.block, b.inSource = b.stored, false
	return b.stored[:len(contents):len(contents)]
}

// readInPlace reads the block at h, checks its checksum, and returns its contents, decompressed.
// They are valid until b is used for another block. If the source hands out its bytes, those of an
// uncompressed block are not copied.
func (f *tableFile) readInPlace(kind BlockKind, h Handle, b *buffers) ([]byte, error) {
	id, err := f.readStored(kind, h, b)
	if err != nil {
		return nil, err
	}
	return f.decompress(kind, h, b, id)
}

// readStored sets b.block to the block at h, checks its checksum, and returns its compression id.
func (f *tableFile) readStored(kind BlockKind, h Handle, b *buffers) (id byte, err error) {
	if h.Length > uint64(f.o.MaxBlockSize) {
		return 0, f.corrupt(kind, h, "%d bytes, want at most %d", h.Length, f.o.MaxBlockSize)
	}
	n := int(h.Length)
	if b.inSource = false; f.slices != nil {
		err = f.sliceStored(kind, h, b)
	} else if err = checkMemory(n); err == nil {
		b.stored = extend(b.stored[:0], n+format.TrailerLen)[:n+format.TrailerLen]
		if b.block = b.stored; !b.ahead.read(b.stored, h.Offset) {
			err = f.readAt(b.ctx, kind, b.stored, h.Offset)
		}
	}
	if err != nil {
		return 0, err
	}
	if id = b.block[n]; f.o.SkipChecksums {
		return id, nil
	}
	want := binary.LittleEndian.Uint32(b.block[n+1:])
	if got := crc.Block(b.block[:n], id); got != want {
		return 0, f.corrupt(kind, h, "checksum mismatch: %#08x, want %#08x as stored", got, want)
	}
	return id, nil
}

// checkMemory returns an error if there is not the memory for a large block, such as the filter of a table: the
// process would end.
func checkMemory(n int) error {
	if err := alloc.CheckLarge(uint64(n)); err != nil {
		return fmt.Errorf("table: block of %d bytes %w", n, err)
	}
	return nil
}

// maxFetched is how many bytes of a block are fetched.
const maxFetched = 8 << 10

// fetch reads a byte of each cache line of p, all of which the processor fetches at once. A search, which
// comes to the next entry by the one before, and a checksum too, wait for line after line. It returns
// their sum so that they are read.
//
//go:noinline
func fetch(p []byte) (sum byte) {
	for i := 0; i < len(p); i += 64 {
		sum += p[i]
	}
	return sum
}

// sliceStored sets b.block to the block at h of a source that hands out its bytes. A compressed block is
// copied: a codec then reads bytes that do not change.
func (f *tableFile) sliceStored(kind BlockKind, h Handle, b *buffers) (err error) {
	n := int(h.Length)
	size := n + format.TrailerLen
	if b.block, err = f.slice(b.ctx, kind, h.Offset, size); err != nil {
		return err
	}
	if !b.copies {
		fetch(b.block[:min(size, maxFetched)])
		if b.inSource = b.block[n] == NoCompression.ID(); b.inSource {
			return nil
		}
	}
	if err := checkMemory(size); err != nil {
		return err
	}
	b.stored = append(extend(b.stored[:0], size), b.block...)
	b.block = b.stored
	return nil
}

// decompress returns the contents of the block in b.block, which has that compression id.
func (f *tableFile) decompress(kind BlockKind, h Handle, b *buffers, id byte) ([]byte, error) {
	stored := b.block[:h.Length:h.Length]
	if b.compressed = id != NoCompression.ID(); !b.compressed {
		return stored, nil
	}
	codec := f.codec(id)
	if codec == nil {
		return nil, f.corrupt(kind, h, "compression id %d, want 0, 1 for Snappy, or the id of a Codec in the options", id)
	}
	contents, err := codec.Decode(b.decompressed[:0], stored, f.o.MaxBlockSize)
	if err != nil {
		if refused := (*alloc.Error)(nil); errors.As(err, &refused) { // which is no damage
			return nil, fmt.Errorf("table: block of %d bytes: %w", h.Length, err)
		}
		return nil, f.damaged(kind, h, err)
	}
	b.decompressed = contents
	return contents[:len(contents):len(contents)], nil
}

// codec returns the codec with that id, or nil if there is none.
func (f *tableFile) codec(id byte) Codec {
	for _, c := range f.o.Codecs {
		if c != nil && c.ID() == id {
			return c
		}
	}
	if id == Snappy.ID() {
		return Snappy
	}
	return nil
}
