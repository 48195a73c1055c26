package table

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// A Handle says where a block is in the file. Index and metaindex entries and the footer
// store it as two uvarints: offset, then length.
type Handle struct {
	Offset uint64 // of the block, in bytes from the start of the file
	Length uint64 // of the block in the file, in bytes, without the trailer of 5 bytes
}

// end returns where the block's trailer ends.
func (h Handle) end() uint64 { return h.Offset + h.Length + format.TrailerLen }

// overlaps reports whether the two blocks share bytes of the file.
func (h Handle) overlaps(g Handle) bool { return h.Offset < g.end() && g.Offset < h.end() }

// append appends the stored form of h to dst.
func (h Handle) append(dst []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, h.Offset), h.Length)
}

// decodeHandle decodes the handle at the start of b, and returns it and its length. The block
// with its trailer must end before limit. In an index or a metaindex, more bytes may follow:
// LevelDB's reader ignores them, to allow extensions of the format.
func decodeHandle(b []byte, limit uint64) (Handle, int, error) {
	offset, n := wire.Uvarint(b)
	length, m := wire.Uvarint(b[n:])
	if n == 0 || m == 0 {
		return Handle{}, 0, fmt.Errorf("handle %x is not two minimal varints", b[:min(len(b), 2*binary.MaxVarintLen64)])
	}
	if length == 0 {
		return Handle{}, 0, fmt.Errorf("handle of 0 bytes at %d, want at least 1", offset)
	}
	if offset > limit || length > limit-offset || limit-offset-length < format.TrailerLen {
		return Handle{}, 0, fmt.Errorf("handle of %d bytes at %d is not within the %d bytes before the footer", length, offset, limit)
	}
	return Handle{offset, length}, n + m, nil
}

// A footer is the decoded footer: the end of the file.
type footer struct{ metaindex, index Handle }

// checkData checks that a data block at h shares no bytes with metaindex and index.
func (f footer) checkData(h Handle) error {
	for _, other := range []Handle{f.metaindex, f.index} {
		if h.overlaps(other) {
			return fmt.Errorf("data block at %d overlaps the block at %d", h.Offset, other.Offset)
		}
	}
	return nil
}

// append appends the 48 bytes of the footer to dst.
func (f footer) append(dst []byte) []byte {
	start := len(dst)
	dst = f.index.append(f.metaindex.append(dst))
	dst = append(dst, make([]byte, start+format.FooterLen-8-len(dst))...)
	return binary.LittleEndian.AppendUint64(dst, format.Magic)
}

// decodeFooter decodes b, the 48 bytes at offset at of the file. The blocks must end before
// that. It returns the padding between the handles and the magic number too, which engines write
// as zeros and do not read.
func decodeFooter(b []byte, at uint64) (f footer, padding []byte, err error) {
	if m := binary.LittleEndian.Uint64(b[format.FooterLen-8:]); m != format.Magic {
		return f, nil, fmt.Errorf("magic number 0x%016x, want 0x%016x: not a LevelDB table, or cut short", m, uint64(format.Magic))
	}
	rest := b[:format.FooterLen-8]
	for _, h := range []*Handle{&f.metaindex, &f.index} {
		var n int
		if *h, n, err = decodeHandle(rest, at); err != nil {
			return f, nil, err
		}
		rest = rest[n:]
	}
	return f, rest, nil
}

// blockHandles are the handles of all data blocks, in the order of the file. In most files each
// block begins where the one before ends. Then it is enough to know where they begin, which
// takes a quarter of the memory of handles.
type blockHandles struct {
	// Where each block begins, and where the last one ends; nil if that does not tell all.
	starts []uint32

	all []Handle // otherwise
}

// makeBlockHandles returns blockHandles with space for n.
func makeBlockHandles(n int) blockHandles { return blockHandles{starts: make([]uint32, 0, n+1)} }

func (b *blockHandles) len() int {
	if b.all != nil {
		return len(b.all)
	}
	return max(0, len(b.starts)-1)
}

// at returns the handle of block i.
func (b *blockHandles) at(i int) Handle {
	if b.all != nil {
		return b.all[i]
	}
	start := b.starts[i]
	return Handle{uint64(start), uint64(b.starts[i+1] - start - format.TrailerLen)}
}

// append adds the handle of a block that is behind all others.
func (b *blockHandles) append(h Handle) {
	n := len(b.starts)
	switch {
	case b.all == nil && h.end() <= math.MaxUint32 && n == 0:
		b.starts = append(b.starts, uint32(h.Offset), uint32(h.end()))
	case b.all == nil && h.end() <= math.MaxUint32 && uint64(b.starts[n-1]) == h.Offset:
		b.starts = append(b.starts, uint32(h.end()))
	default:
		b.keepAll()
		b.all = append(b.all, h)
	}
}

// keepAll keeps the handles from now on.
func (b *blockHandles) keepAll() {
	if b.all != nil {
		return
	}
	all := make([]Handle, b.len(), cap(b.starts))
	for i := range all {
		all[i] = b.at(i)
	}
	b.starts, b.all = nil, all
}

// memory returns how many bytes of memory the handles take.
func (b *blockHandles) memory() int {
	return cap(b.starts)*int(unsafe.Sizeof(uint32(0))) + cap(b.all)*int(unsafe.Sizeof(Handle{}))
}
