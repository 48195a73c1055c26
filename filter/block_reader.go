package filter

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A BlockReader checks keys against the filters of a filter block. It is immutable,
// and safe for concurrent use. NewBlockReader returns one.
type BlockReader struct {
	policy  Policy
	bloom   bool // policy is Bloom, or EitherHash of it: a direct call saves 2 of 13 ns for an absent key
	either  bool // policy is EitherHash
	filters []byte
	offsets []byte // where each filter starts, and where the last one ends
	baseLg  uint
}

// NewBlockReader returns a BlockReader on the contents of a filter block whose
// filters are of policy p. It keeps the slice, which the caller must not change any
// more. It is an error if p is nil, if the offsets are damaged, or if p is a
// [Checker] and finds a filter damaged: none of the answers would be reliable.
func NewBlockReader(block []byte, p Policy) (*BlockReader, error) {
	if p == nil {
		return nil, errors.New("filter: no policy")
	}
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
	either, isEither := p.(eitherHash)
	bloom := p
	if isEither {
		bloom = either.Policy
	}
	_, isBloom := bloom.(Bloom)
	b := &BlockReader{
		policy:  p,
		bloom:   isBloom,
		either:  isEither,
		filters: block[:array:array],
		offsets: block[array : end+4],
		baseLg:  uint(baseLg),
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return b, nil
}

// Contains reports whether key may be in a data block that starts at offset, in
// bytes from the start of the file. If it returns false, the key is certainly not in
// that block.
func (b *BlockReader) Contains(offset uint64, key []byte) bool {
	return b.ContainsInSpan(b.Span(offset), key)
}

// A Span is where the filter of a data block is in the filter block. Get it once with
// [BlockReader.Span] and store it to check many keys of one data block: finding it
// takes about as long as [BlockReader.ContainsInSpan].
type Span struct{ start, limit uint32 }

// noFilter is the Span of a data block that has no filter.
var noFilter = Span{1, 0}

// Span returns the Span of a data block that starts at offset, in bytes from the
// start of the file.
func (b *BlockReader) Span(offset uint64) Span {
	i := offset >> b.baseLg
	if i >= uint64(b.Len()) {
		return noFilter
	}
	return b.span(int(i))
}

// ContainsInSpan is Contains for a data block whose Span is known. The Span must be
// from the same BlockReader.
func (b *BlockReader) ContainsInSpan(s Span, key []byte) bool {
	switch {
	case s.start >= s.limit: // no filter, or one of 0 bytes, which holds no keys
		return s == noFilter
	case b.bloom:
		one := b.filters[s.start:s.limit]
		return mayContain(one, hash(key, unsignedTail)) || b.either && len(key)%4 > 0 && mayContainSigned(one, key)
	}
	return b.policy.Contains(b.filters[s.start:s.limit], key)
}

// Len returns the number of filters in the block. It counts those of 0 bytes too.
func (b *BlockReader) Len() int { return len(b.offsets)/4 - 1 }

// Filter returns filter i, 0 ≤ i < Len: the one for data blocks that start in
// [i·2^BaseLg, (i+1)·2^BaseLg). The slice is a part of the block, and the caller must
// not change it.
func (b *BlockReader) Filter(i int) []byte {
	s := b.span(i)
	return b.filters[s.start:s.limit:s.limit]
}

// EitherHash reports whether the filters are read with the function [EitherHash].
func (b *BlockReader) EitherHash() bool { return b.either }

// BaseLg returns the base-2 logarithm of the number of bytes of the file that share
// one filter.
func (b *BlockReader) BaseLg() int { return int(b.baseLg) }

// span returns where filter i is.
func (b *BlockReader) span(i int) Span {
	o := b.offsets[4*i : 4*i+8]
	return Span{start: binary.LittleEndian.Uint32(o), limit: binary.LittleEndian.Uint32(o[4:])}
}

// check checks that each filter lies in the block, and what it holds if the policy
// can.
func (b *BlockReader) check() error {
	checker, _ := b.policy.(Checker)
	for i := range b.Len() {
		s := b.span(i)
		if s.start > s.limit || uint64(s.limit) > uint64(len(b.filters)) {
			return fmt.Errorf("filter: filter %d is at [%d, %d), want it in order and within %d bytes", i, s.start, s.limit, len(b.filters))
		}
		if checker == nil || s.start == s.limit {
			continue
		}
		if err := checker.Check(b.filters[s.start:s.limit]); err != nil {
			return fmt.Errorf("%w, in filter %d of the block", err, i)
		}
	}
	return nil
}
