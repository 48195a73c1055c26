package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/sievetable/sievetable/internal/crc"
	"github.com/sievetable/sievetable/internal/format"
)

// maxAtOnce is the most that is read in one go, where several parts or blocks are:
// whatever is asked for, and whatever size a file says it has.
const maxAtOnce = 1 << 30

// buffers hold a block while it is in use: as stored and, if it was compressed,
// decompressed. Both are used again for the next block.
type buffers struct {
	stored, decoded []byte
	compressed      bool // the contents are in decoded

	ahead readAhead
}

// keep returns value, a part of the contents, in memory that nothing else will
// use: a copy, or the buffer itself, given up, if much of it is the value.
func (b *buffers) keep(value []byte) []byte {
	_, value = b.keepEntry(nil, value)
	return value
}

// keepEntry is keep for a key and a value, of which the key may be in memory of its
// own.
func (b *buffers) keepEntry(key, value []byte) (k, v []byte) {
	if len(key)+len(value) < cap(*b.contents())/4 {
		return slices.Clip(bytes.Clone(key)), slices.Clip(bytes.Clone(value))
	}
	*b.contents() = nil
	return key, value
}

// contents is the buffer that the contents are in.
func (b *buffers) contents() *[]byte {
	if b.compressed {
		return &b.decoded
	}
	return &b.stored
}

// maxPooledBlock keeps the block of one huge value from staying in memory.
const maxPooledBlock = 1<<20 + format.TrailerLen

// put gives the buffers to the next lookup.
func (b *buffers) put() {
	if cap(b.stored) > maxPooledBlock {
		b.stored = nil
	}
	if cap(b.decoded) > maxPooledBlock {
		b.decoded = nil
	}
	buffersPool.Put(b)
}

// readBlock reads the block at h into b, checks its checksum, and returns its
// contents, decompressed. They are valid until b is used again: keep makes a
// value of them last.
func (f *tableFile) readBlock(kind BlockKind, h Handle, b *buffers) ([]byte, error) {
	id, err := f.readStored(kind, h, b)
	if err != nil {
		return nil, err
	}
	return f.decompress(kind, h, b, id)
}

// readStored reads the stored block, checks its checksum, and returns its
// compression id.
func (f *tableFile) readStored(kind BlockKind, h Handle, b *buffers) (byte, error) {
	if h.Length > uint64(f.maxBlockSize) {
		return 0, f.corrupt(kind, h, "%d bytes, want at most %d", h.Length, f.maxBlockSize)
	}
	n := int(h.Length)
	b.stored = extend(b.stored[:0], n+format.TrailerLen)[:n+format.TrailerLen]
	if !b.ahead.read(b.stored, h.Offset) {
		if err := f.readAt(kind, b.stored, h.Offset); err != nil {
			return 0, err
		}
	}
	id := b.stored[n]
	if f.skipChecksums {
		return id, nil
	}
	want := binary.LittleEndian.Uint32(b.stored[n+1:])
	if got := crc.Block(b.stored[:n], id); got != want {
		return 0, f.corrupt(kind, h, "checksum mismatch: %#08x, want %#08x as stored", got, want)
	}
	return id, nil
}

// decompress decompresses the stored block.
func (f *tableFile) decompress(kind BlockKind, h Handle, b *buffers, id byte) ([]byte, error) {
	stored := b.stored[:h.Length:h.Length]
	if b.compressed = id != NoCompression.ID(); !b.compressed {
		return stored, nil
	}
	codec := f.codec(id)
	if codec == nil {
		return nil, f.corrupt(kind, h, "compression id %d, for which there is no codec", id)
	}
	decoded, err := codec.Decode(b.decoded[:0], stored, f.maxBlockSize)
	if err != nil {
		return nil, f.damaged(kind, h, err)
	}
	b.decoded = decoded
	return decoded[:len(decoded):len(decoded)], nil
}

// codec returns the codec with the id, or nil.
func (f *tableFile) codec(id byte) Codec {
	for _, c := range f.codecs {
		if c != nil && c.ID() == id {
			return c
		}
	}
	if id == Snappy.ID() {
		return Snappy
	}
	return nil
}

// readAt fills p from offset. An error of the source is in the chain of the one
// returned; a source that ends early is io.ErrUnexpectedEOF.
func (f *tableFile) readAt(kind BlockKind, p []byte, offset uint64) error {
	n, err := f.src.ReadAt(p, int64(offset))
	end := err == nil || err == io.EOF // not wrapped: that could be a connection's
	if n == len(p) && end {
		return nil
	}
	if f.closed.Load() {
		return ErrClosed
	}
	if end {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("table: reading %s at %d: %w", kind, offset, err)
}
