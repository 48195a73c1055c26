package filter

import (
	"errors"

	"github.com/sievetable/sievetable/internal/filterblock"
)

// A BlockReader checks keys against the filters of a filter block. It is immutable,
// and safe for concurrent use. NewBlockReader returns one.
type BlockReader struct {
	r      *filterblock.Reader
	policy Policy
	bloom  bool // policy is Bloom, or EitherHash of it
}

// NewBlockReader returns a BlockReader on the contents of a filter block whose
// filters are of policy p. It keeps the slice, which the caller must not change any
// more. It is an error if p is nil, or if the end of the block is damaged, which says where the
// offsets are. A filter is checked when it is asked; Check checks all of them.
func NewBlockReader(block []byte, p Policy) (*BlockReader, error) {
	if p == nil {
		return nil, errors.New("filter: no policy")
	}
	either, isEither := p.(eitherHash)
	one := p
	if isEither {
		one = either.Policy
	}
	_, isBloom := one.(Bloom)
	r, err := filterblock.NewReader(block, p, isBloom, isEither)
	if err != nil {
		return nil, err
	}
	return &BlockReader{r, p, isBloom}, nil
}

// Contains reports whether key may be in a data block that starts at offset, in
// bytes from the start of the file. If it returns false, the key is certainly not in
// that block. It checks the filter that it asks: one that is damaged may contain every key.
func (b *BlockReader) Contains(offset uint64, key []byte) bool { return b.r.Contains(offset, key) }

// Len returns the number of filters in the block. It counts those of 0 bytes too.
func (b *BlockReader) Len() int { return b.r.Len() }

// Filter returns filter i, 0 ≤ i < Len: the one for data blocks that start in
// [i·2^BaseLg, (i+1)·2^BaseLg). If its offsets are damaged it is nil. The slice is a part of the
// block, and the caller must not change it.
func (b *BlockReader) Filter(i int) []byte { return b.r.Filter(i) }

// EitherHash reports whether the filters are read with the function [EitherHash].
func (b *BlockReader) EitherHash() bool { return b.r.EitherHash() }

// BaseLg returns the base-2 logarithm of the number of bytes of the file that share
// one filter.
func (b *BlockReader) BaseLg() int { return b.r.BaseLg() }

// Check checks all filters: that each lies in the block, behind the one before, and what it holds
// if the policy is a [Checker].
func (b *BlockReader) Check() error { return b.r.Check() }

func init() {
	filterblock.ReaderOf = func(blockReader any) *filterblock.Reader { return blockReader.(*BlockReader).r }
	filterblock.WriterOf = func(blockWriter any) *filterblock.Writer { return blockWriter.(*BlockWriter).w }
}
