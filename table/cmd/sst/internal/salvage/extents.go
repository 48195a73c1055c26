package salvage

import (
	"encoding/binary"
	"iter"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// extent is where a block is, its trailer aside.
type extent struct{ start, end int }

// extents are those of blocks that follow one another. Each takes a few bytes, as a file
// can have very many: how far it is behind the one before, and its length.
type extents struct {
	encoded []byte
	end     int // of the last one, and its trailer
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

// bitset has a bit for each byte of a file.
type bitset []uint64

func (b bitset) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) unset(i int)    { b[i>>6] &^= 1 << (i & 63) }
func (b bitset) has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }
