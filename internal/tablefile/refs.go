package tablefile

import (
	"math"
	"unsafe"

	"github.com/sievetable/sievetable/internal/filterblock"
	"github.com/sievetable/sievetable/internal/format"
)

// A ref says where a data block and its filter are.
type ref struct {
	offset, length uint64
	filter         filterblock.Span // if there are filters
}

// blockRefs are the refs of all data blocks, in the order of the file. In most files each block begins where the one
// before ends, and so do the filters. Then it is enough to know where they begin, which takes a third of the memory.
type blockRefs struct {
	// Where each block and its filter begin, and where the last ones end; nil if that does not tell all. Data blocks
	// that are shorter than the filters' base can share a filter.
	starts []refStart

	all []ref // otherwise
}

type refStart struct{ block, filter uint32 }

// maxSharing is how many data blocks in a row may share a filter in starts, so that filter need not look far.
const maxSharing = 16

// packRefs returns blockRefs of refs in the order of the file. filters says whether there are filters.
func packRefs(all []ref, filters bool) blockRefs {
	starts := make([]refStart, 0, len(all)+1)
	var last refStart // where the last block and its filter end
	sharing := 0      // blocks in a row with the filter of the last one
	for i, r := range all {
		end := r.offset + r.length + format.TrailerLen
		if i > 0 && r.offset != uint64(last.block) || end > math.MaxUint32 {
			return blockRefs{all: all}
		}
		switch s := r.filter; {
		case !filters:
		case s.Start < s.Limit && s.Start == last.filter:
			sharing = 1
		case s.Start < s.Limit && i > 0 && s == all[i-1].filter && sharing < maxSharing:
			sharing++
		default:
			return blockRefs{all: all}
		}
		starts = append(starts, refStart{uint32(r.offset), r.filter.Start})
		last = refStart{uint32(end), r.filter.Limit}
	}
	return blockRefs{starts: append(starts, last)}
}

// handle returns where block i is.
func (b *blockRefs) handle(i int) Handle {
	if b.all != nil {
		return Handle{b.all[i].offset, b.all[i].length}
	}
	start := b.starts[i].block
	return Handle{uint64(start), uint64(b.starts[i+1].block - start - format.TrailerLen)}
}

// filter returns where the filter of block i is. There must be filters.
func (b *blockRefs) filter(i int) filterblock.Span {
	if b.all != nil {
		return b.all[i].filter
	}
	start := b.starts[i].filter
	for i++; b.starts[i].filter == start; i++ { // it shares its filter with the next block
	}
	return filterblock.Span{Start: start, Limit: b.starts[i].filter}
}

// memory returns how many bytes of memory they take.
func (b *blockRefs) memory() int {
	return cap(b.starts)*int(unsafe.Sizeof(refStart{})) + cap(b.all)*int(unsafe.Sizeof(ref{}))
}
