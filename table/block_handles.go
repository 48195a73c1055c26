package table

import (
	"math"
	"unsafe"

	"github.com/sievetable/sievetable/internal/format"
)

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
