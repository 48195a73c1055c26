package filterblock

import (
	"encoding/binary"
	"fmt"

	"github.com/sievetable/sievetable/internal/bloom"
)

// A Policy is what a Reader needs of filter.Policy.
type Policy interface {
	Contains(filter, key []byte) bool
}

// A Checker is filter.Checker.
type Checker interface {
	Check(filter []byte) error
}

// A Reader checks keys against the filters of a filter block. It is immutable, and safe for concurrent use.
// NewReader returns one.
type Reader struct {
	policy  Policy
	checker Checker // policy, if it is one; else nil
	bloom   bool    // policy is Bloom, or EitherHash of it: a direct call saves 2 of 13 ns
	either  bool    // policy is EitherHash
	filters []byte
	offsets []byte // where each filter starts, and where the last one ends
	baseLg  uint
}

// NewReader returns a Reader on the contents of a filter block, as filter.NewBlockReader does. isBloom says
// that p is Bloom, or EitherHash of it, and either that it is EitherHash.
func NewReader(block []byte, p Policy, isBloom, either bool) (*Reader, error) {
	if len(block) < 5 {
		return nil, fmt.Errorf("filter: filter block of %d bytes, want at least 5", len(block))
	}
	end := len(block) - 5 // where the array offset is
	array := binary.LittleEndian.Uint32(block[end:])
	baseLg := block[end+4]
	if uint64(array) > uint64(end) || (end-int(array))%4 != 0 {
		return nil, fmt.Errorf("filter: filter offsets start at %d, want whole 4-byte offsets up to %d", array, end)
	}
	if baseLg > maxBaseLg {
		return nil, fmt.Errorf("filter: base lg is %d, want at most %d", baseLg, maxBaseLg)
	}
	checker, _ := p.(Checker)
	return &Reader{
		policy:  p,
		checker: checker,
		bloom:   isBloom,
		either:  either,
		filters: block[:array:array],
		offsets: block[array : end+4],
		baseLg:  uint(baseLg),
	}, nil
}

// Contains reports whether key may be in a data block that starts at offset, in
// bytes from the start of the file. If it returns false, the key is certainly not in
// that block. It checks the filter that it asks: one that is damaged may contain every key.
func (b *Reader) Contains(offset uint64, key []byte) bool {
	return b.ContainsInSpan(b.Span(offset), key)
}

// Span returns the Span of a data block that starts at offset, in bytes from the
// start of the file.
func (b *Reader) Span(offset uint64) Span {
	i := offset >> b.baseLg
	if i >= uint64(b.Len()) {
		return NoFilter
	}
	s, sound := b.span(int(i))
	if !sound {
		return NoFilter
	}
	return s
}

// ContainsInSpan is Contains for a data block whose Span is known. The Span must be
// from the same Reader.
func (b *Reader) ContainsInSpan(s Span, key []byte) bool {
	if s.Start >= s.Limit { // no filter, or one of 0 bytes, which holds no keys
		return s == NoFilter
	}
	one := b.filters[s.Start:s.Limit]
	switch {
	case !b.bloom:
		return b.checker != nil && b.checker.Check(one) != nil || b.policy.Contains(one, key)
	case len(one) <= bloom.MinBits/8: // damage; with k = 0, which is damage too, no bit is looked up
		return true
	}
	return bloom.MayContain(one, bloom.Hash(key, bloom.UnsignedTail)) || b.either && len(key)%4 > 0 && bloom.MayContainSigned(one, key)
}

// Len returns the number of filters in the block. It counts those of 0 bytes too.
func (b *Reader) Len() int { return len(b.offsets)/4 - 1 }

// Filter returns filter i, 0 ≤ i < Len: the one for data blocks that start in
// [i·2^BaseLg, (i+1)·2^BaseLg). If its offsets are damaged it is nil. The slice is a part of the
// block, and the caller must not change it.
func (b *Reader) Filter(i int) []byte {
	s, sound := b.span(i)
	if !sound {
		return nil
	}
	return b.filters[s.Start:s.Limit:s.Limit]
}

// EitherHash reports whether the filters are read with the function [EitherHash].
func (b *Reader) EitherHash() bool { return b.either }

// BaseLg returns the base-2 logarithm of the number of bytes of the file that share
// one filter.
func (b *Reader) BaseLg() int { return int(b.baseLg) }

// span returns where filter i is, and whether that is in the block. Its offsets are read once: they
// can change, if the block is in a mapped file.
func (b *Reader) span(i int) (s Span, sound bool) {
	o := b.offsets[4*i : 4*i+8]
	s = Span{Start: binary.LittleEndian.Uint32(o), Limit: binary.LittleEndian.Uint32(o[4:])}
	return s, s.Start <= s.Limit && uint64(s.Limit) <= uint64(len(b.filters))
}

// Check checks all filters: that each lies in the block, behind the one before, and what it holds
// if the policy is a [Checker].
func (b *Reader) Check() error {
	for i := range b.Len() {
		s, sound := b.span(i)
		if !sound {
			return fmt.Errorf("filter: filter %d is at [%d, %d), want it in order and within %d bytes", i, s.Start, s.Limit, len(b.filters))
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
