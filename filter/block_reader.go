package filter

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/internal/format"
)

// A BlockReader checks keys against the filters of a filter block. It is immutable and safe for concurrent use.
type BlockReader struct {
	policy  Policy
	checker checker // policy, if it is one; else nil
	bloom   bool    // policy is Bloom, or EitherHash of it: a direct call saves 2 of 13 ns
	either  bool    // policy is EitherHash
	filters []byte
	offsets []byte // where each filter starts, and where the last one ends
	baseLg  uint
}

// A checker is a Policy with the optional method Check.
type checker interface {
	Check(filter []byte) error
}

// NewBlockReader returns a BlockReader for a filter block with filters of policy p. It keeps the slice, which the
// caller must not modify. It checks where the filters are, but not the filters: see [BlockReader.Check].
func NewBlockReader(block []byte, p Policy) (*BlockReader, error) {
	if p == nil {
		return nil, errors.New("filter: no policy")
	}
	if len(block) < 5 {
		return nil, fmt.Errorf("filter: filter block of %d bytes is too short (minimum 5)", len(block))
	}
	end := len(block) - 5 // where the array offset is
	array := binary.LittleEndian.Uint32(block[end:])
	baseLg := block[end+4]
	if uint64(array) > uint64(end) || (end-int(array))%4 != 0 {
		return nil, fmt.Errorf("filter: filter offsets at [%d, %d): not a whole number of 4-byte offsets", array, end)
	}
	if baseLg > maxBaseLg {
		return nil, fmt.Errorf("filter: base lg is %d (maximum %d)", baseLg, maxBaseLg)
	}
	b := &BlockReader{policy: p, filters: block[:array:array], offsets: block[array : end+4], baseLg: uint(baseLg)}
	b.checker, _ = p.(checker)
	if either, ok := p.(eitherHash); ok {
		b.either, p = true, either.Policy
	}
	_, b.bloom = p.(Bloom)
	return b, nil
}

// Contains reports whether key may be in a data block that starts at offset in the file. A corrupt filter may
// contain every key.
func (b *BlockReader) Contains(offset uint64, key []byte) bool {
	return b.ContainsInSpan(b.Span(offset), key)
}

// Span returns the position of the filter for a data block that starts at offset in the file, to check several keys
// with [BlockReader.ContainsInSpan].
func (b *BlockReader) Span(offset uint64) format.FilterSpan {
	if i := offset >> b.baseLg; i < uint64(b.Len()) {
		if s, sound := b.span(int(i)); sound {
			return s
		}
	}
	return format.NoFilter
}

// ContainsInSpan is like [BlockReader.Contains] for a Span that the same BlockReader returned.
func (b *BlockReader) ContainsInSpan(s format.FilterSpan, key []byte) bool {
	if s.Start >= s.Limit { // no filter, or one of 0 bytes, which holds no keys
		return s == format.NoFilter
	}
	one := b.filters[s.Start:s.Limit]
	switch {
	case !b.bloom:
		return b.checker != nil && b.checker.Check(one) != nil || b.policy.Contains(one, key)
	case len(one) <= bloom.MinBits/8: // corrupt; k = 0 is corrupt too, but then MayContain checks no bit
		return true
	}
	return bloom.MayContain(one, bloom.Hash(key, bloom.UnsignedTail)) ||
		b.either && len(key)%4 > 0 && bloom.MayContainSigned(one, key)
}

// Len returns the number of filters in the block, including empty ones.
func (b *BlockReader) Len() int { return len(b.offsets)/4 - 1 }

// Filter returns filter i, 0 <= i < Len. The caller must not modify the slice. If its offsets are corrupt, Filter
// returns nil.
func (b *BlockReader) Filter(i int) []byte {
	if s, sound := b.span(i); sound {
		return b.filters[s.Start:s.Limit:s.Limit]
	}
	return nil
}

// EitherHash reports whether the policy comes from the function [EitherHash].
func (b *BlockReader) EitherHash() bool { return b.either }

// BaseLg returns the base lg: a filter covers 2^BaseLg bytes of the file.
func (b *BlockReader) BaseLg() int { return int(b.baseLg) }

// span returns the position of filter i, and whether it lies within the block. It reads the offsets only once, since
// they can change if the block is in a mapped file.
func (b *BlockReader) span(i int) (s format.FilterSpan, sound bool) {
	o := b.offsets[4*i : 4*i+8]
	s = format.FilterSpan{Start: binary.LittleEndian.Uint32(o), Limit: binary.LittleEndian.Uint32(o[4:])}
	return s, s.Start <= s.Limit && uint64(s.Limit) <= uint64(len(b.filters))
}

// Check checks that the filters are in order, within the block, and accepted by the policy's Check method.
func (b *BlockReader) Check() error {
	for i := range b.Len() {
		s, sound := b.span(i)
		if !sound {
			return fmt.Errorf("filter: filter %d is at [%d, %d): out of order, or outside the %d bytes of filters",
				i, s.Start, s.Limit, len(b.filters))
		}
		if b.checker == nil || s.Start == s.Limit {
			continue
		}
		if err := b.checker.Check(b.filters[s.Start:s.Limit]); err != nil {
			return fmt.Errorf("%w, in filter %d of the block", err, i)
		}
	}
	return nil
}
