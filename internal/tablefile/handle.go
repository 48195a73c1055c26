package tablefile

import (
	"encoding/binary"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// A Handle says where a block is in the file. Index and metaindex entries and the footer store it as two uvarints:
// offset, then length.
type Handle struct {
	Offset uint64 // of the block, in bytes from the start of the file
	Length uint64 // of the block in the file, in bytes, without the trailer of 5 bytes
}

// End returns where the block's trailer ends.
func (h Handle) End() uint64 { return h.Offset + h.Length + format.TrailerLen }

// Overlaps reports whether the two blocks share bytes of the file.
func (h Handle) Overlaps(g Handle) bool { return h.Offset < g.End() && g.Offset < h.End() }

// Append appends the stored form of h to dst.
func (h Handle) Append(dst []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, h.Offset), h.Length)
}

// DecodeHandle decodes the handle at the start of b, and returns it and its length. The block
// with its trailer must end before limit. In an index or a metaindex, more bytes may follow:
// LevelDB's reader ignores them, to allow extensions of the format.
func DecodeHandle(b []byte, limit uint64) (Handle, int, error) {
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

// A Footer is the decoded footer: the end of the file.
type Footer struct{ Metaindex, Index Handle }

// checkData checks that a data block at h shares no bytes with metaindex and index.
func (f Footer) checkData(h Handle) error {
	for _, other := range []Handle{f.Metaindex, f.Index} {
		if h.Overlaps(other) {
			return fmt.Errorf("data block at %d overlaps the block at %d", h.Offset, other.Offset)
		}
	}
	return nil
}

// Append appends the 48 bytes of the footer to dst.
func (f Footer) Append(dst []byte) []byte {
	start := len(dst)
	dst = f.Index.Append(f.Metaindex.Append(dst))
	dst = append(dst, make([]byte, start+format.FooterLen-8-len(dst))...)
	return binary.LittleEndian.AppendUint64(dst, format.Magic)
}

// decodeFooter decodes b, the 48 bytes at offset at of the file. The blocks must end before
// that. It returns the padding between the handles and the magic number too, which engines write
// as zeros and do not read.
func decodeFooter(b []byte, at uint64) (f Footer, padding []byte, err error) {
	if m := binary.LittleEndian.Uint64(b[format.FooterLen-8:]); m != format.Magic {
		return f, nil, fmt.Errorf("magic number 0x%016x, want 0x%016x: not a LevelDB table, or cut short", m, uint64(format.Magic))
	}
	rest := b[:format.FooterLen-8]
	for _, h := range []*Handle{&f.Metaindex, &f.Index} {
		var n int
		if *h, n, err = DecodeHandle(rest, at); err != nil {
			return f, nil, err
		}
		rest = rest[n:]
	}
	return f, rest, nil
}
