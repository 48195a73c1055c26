package table

import (
	"encoding/binary"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// The parts of a file, as errors name them.
const (
	partFooter      = "footer"
	partIndex       = "index block"
	partMetaindex   = "metaindex block"
	partFilter      = "filter block"
	partTableFilter = "table filter block"
	partProperties  = "properties block"
	partMeta        = "meta block" // any other block that the metaindex lists
	partData        = "data block"
)

// handle is where a block is: its offset in the file, and its length without
// the trailer.
type handle struct{ offset, length uint64 }

// end is where the block's trailer ends.
func (h handle) end() uint64 { return h.offset + h.length + format.TrailerLen }

// overlaps reports whether the two blocks share bytes.
func (h handle) overlaps(g handle) bool { return h.offset < g.end() && g.offset < h.end() }

func (h handle) append(dst []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, h.offset), h.length)
}

// decodeHandle decodes a handle at the start of b, checks that its block and
// trailer lie below limit, and returns how many bytes it took. In an index or a
// metaindex there may be more bytes behind it: LevelDB's reader ignores them, as room
// for extensions of the format.
func decodeHandle(b []byte, limit uint64) (handle, int, error) {
	offset, n := wire.Uvarint(b)
	length, m := wire.Uvarint(b[n:])
	if n == 0 || m == 0 {
		return handle{}, 0, fmt.Errorf("handle %x is not two minimal varints", b[:min(len(b), 2*binary.MaxVarintLen64)])
	}
	if length == 0 {
		return handle{}, 0, fmt.Errorf("handle of 0 bytes at %d, want at least 1", offset)
	}
	if offset > limit || length > limit-offset || limit-offset-length < format.TrailerLen {
		return handle{}, 0, fmt.Errorf("handle of %d bytes at %d is not within the %d bytes before the footer", length, offset, limit)
	}
	return handle{offset, length}, n + m, nil
}

// footer is the end of the file.
type footer struct{ metaindex, index handle }

func (f footer) append(dst []byte) []byte {
	start := len(dst)
	dst = f.index.append(f.metaindex.append(dst))
	dst = append(dst, make([]byte, start+format.FooterLen-8-len(dst))...)
	return binary.LittleEndian.AppendUint64(dst, format.Magic)
}

// decodeFooter decodes the 48 bytes at offset at, which its handles must keep
// below.
func decodeFooter(b []byte, at uint64) (f footer, err error) {
	if m := binary.LittleEndian.Uint64(b[format.FooterLen-8:]); m != format.Magic {
		return f, fmt.Errorf("magic number 0x%016x, want 0x%016x: not a LevelDB table, or cut short", m, uint64(format.Magic))
	}
	rest := b[:format.FooterLen-8]
	for _, h := range []*handle{&f.metaindex, &f.index} {
		var n int
		if *h, n, err = decodeHandle(rest, at); err != nil {
			return f, err
		}
		rest = rest[n:]
	}
	for _, c := range rest {
		if c != 0 {
			return f, fmt.Errorf("padding %x, want zeros", rest)
		}
	}
	return f, nil
}
