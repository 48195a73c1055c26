package salvage

import (
	"encoding/binary"
	"iter"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// An extent is the range of a block in the file, without its trailer.
type extent struct{ start, end int }

// extents is a compact list of extents in file order. A file can have very many of them.
// Each is encoded as its distance from the one before, and its length.
type extents struct {
	encoded []byte
	end     int // the end of the last extent, with its trailer
}

func (l *extents) add(e extent) {
	l.encoded = binary.AppendUvarint(l.encoded, uint64(e.start-l.end))
	l.encoded = binary.AppendUvarint(l.encoded, uint64(e.end-e.start))
	l.end = e.end + format.TrailerLen
}

func (l *extents) all() iter.Seq[extent] {
	return func(yield func(extent) bool) {
		at := 0
		for rest := l.encoded; len(rest) > 0; {
			behind, n := wire.Uvarint(rest)
			length, m := wire.Uvarint(rest[n:])
			e := extent{at + int(behind), at + int(behind+length)}
			if rest, at = rest[n+m:], e.end+format.TrailerLen; !yield(e) {
				return
			}
		}
	}
}

// A bitset has a bit for each byte of a file.
type bitset []uint64

func (b bitset) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) unset(i int)    { b[i>>6] &^= 1 << (i & 63) }
func (b bitset) has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }
