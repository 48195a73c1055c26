package filter

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A BlockReader asks the filters of a filter block. It is immutable, and safe
// for concurrent use as its Policy is.
type BlockReader struct {
	policy  Policy
	bloom   bool // policy is Bloom, which is then asked directly
	filters []byte
	offsets []byte // where each filter starts, and where the last one ends
	baseLg  uint
}

// OpenBlock checks block as a whole and returns a BlockReader on it, which
// keeps the slice: the caller must not change it any more. A filter policy that
// is a [Checker] checks each filter too. A block in which anything is wrong is
// an error, since none of its answers could be relied on.
func OpenBlock(block []byte, p Policy) (*BlockReader, error) {
	if p == nil {
		return nil, errors.New("filter: no policy")
	}
	if len(block) < 5 {
		return nil, fmt.Errorf("filter block of %d bytes, want at least 5", len(block))
	}
	end := len(block) - 5 // where the array offset is
	array := binary.LittleEndian.Uint32(block[end:])
	baseLg := block[end+4]
	if uint64(array) > uint64(end) || (end-int(array))%4 != 0 {
		return nil, fmt.Errorf("filter offsets start at %d, want whole 4-byte offsets up to %d", array, end)
	}
	if baseLg > maxBaseLg {
		return nil, fmt.Errorf("base lg is %d, want at most %d", baseLg, maxBaseLg)
	}
	_, bloom := p.(Bloom)
	b := &BlockReader{
		policy:  p,
		bloom:   bloom,
		filters: block[:array:array],
		offsets: block[array : end+4],
		baseLg:  uint(baseLg),
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return b, nil
}

// Contains reports whether key may be in a data block that starts at offset:
// false means that it certainly is not.
func (b *BlockReader) Contains(offset uint64, key []byte) bool {
	return b.ContainsIn(b.Place(offset), key)
}

// A Place is where the filter of a data block lies in the filter block. Who asks
// often keeps it: finding it takes about as long as asking.
type Place struct{ start, limit uint32 }

// unfiltered is the Place for data blocks that there is no filter for.
var unfiltered = Place{1, 0}

// Place returns where the filter is for a data block that starts at offset.
func (b *BlockReader) Place(offset uint64) Place {
	i := offset >> b.baseLg
	if i >= uint64(b.Len()) {
		return unfiltered
	}
	start, limit := b.bounds(int(i))
	return Place{start, limit}
}

// ContainsIn is Contains for a data block whose Place is known, from the same
// BlockReader.
func (b *BlockReader) ContainsIn(p Place, key []byte) bool {
	switch {
	case p.start >= p.limit: // of no bytes, and so of no keys, or unfiltered
		return p == unfiltered
	case b.bloom:
		return mayContain(b.filters[p.start:p.limit], hash(key))
	}
	return b.policy.Contains(b.filters[p.start:p.limit], key)
}

// Len returns how many filters the block has, those of no bytes among them.
func (b *BlockReader) Len() int { return len(b.offsets)/4 - 1 }

// Filter returns filter i, from 0 on: of data blocks that start in
// [i·2^BaseLg, (i+1)·2^BaseLg). It is a part of the block, not to be changed.
func (b *BlockReader) Filter(i int) []byte {
	start, limit := b.bounds(i)
	return b.filters[start:limit:limit]
}

// BaseLg returns the base-2 logarithm of the range of file offsets that one filter
// covers.
func (b *BlockReader) BaseLg() int { return int(b.baseLg) }

// bounds returns where filter i starts and ends.
func (b *BlockReader) bounds(i int) (start, limit uint32) {
	o := b.offsets[4*i : 4*i+8]
	return binary.LittleEndian.Uint32(o), binary.LittleEndian.Uint32(o[4:])
}

func (b *BlockReader) check() error {
	checker, _ := b.policy.(Checker)
	for i := range b.Len() {
		start, limit := b.bounds(i)
		if start > limit || uint64(limit) > uint64(len(b.filters)) {
			return fmt.Errorf("filter %d is [%d, %d), want it in order and within %d bytes", i, start, limit, len(b.filters))
		}
		if checker == nil || start == limit {
			continue
		}
		if err := checker.Check(b.filters[start:limit]); err != nil {
			return fmt.Errorf("filter %d: %w", i, err)
		}
	}
	return nil
}
