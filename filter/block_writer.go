package filter

import (
	"errors"

	"github.com/sievetable/sievetable/internal/filterblock"
)

// DefaultBaseLg is the base lg of LevelDB's filter blocks: one filter holds the
// keys of the data blocks that start within 2^11 bytes = 2 KiB of the file.
const DefaultBaseLg = 11

// A BlockWriter builds the filter block of a table. Its calls come in the order
//
//	(StartBlock Add*)* Finish
//
// One goroutine at a time may use it. NewBlockWriter returns one.
type BlockWriter struct{ w *filterblock.Writer }

// NewBlockWriter returns an empty BlockWriter whose filters are of policy p. Each
// filter holds the keys of the data blocks that start within 2^baseLg bytes of the
// file. It is an error if p is nil or baseLg is not 0 to 30.
func NewBlockWriter(p Policy, baseLg int) (*BlockWriter, error) {
	if p == nil {
		return nil, errors.New("filter: no policy")
	}
	var gen filterblock.Generator // nil: the Writer builds the filters of Bloom itself
	var bitsPerKey uint64
	switch g := p.NewGenerator().(type) {
	case *bloomGenerator:
		bitsPerKey = g.bitsPerKey
	default:
		gen = &appendGenerator{gen: g}
	}
	w, err := filterblock.NewWriter(gen, bitsPerKey, baseLg)
	if err != nil {
		return nil, err
	}
	return &BlockWriter{w}, nil
}

// An appendGenerator is a Generator that appends to a slice.
type appendGenerator struct {
	gen Generator
	buf Bytes
}

func (g *appendGenerator) Add(key []byte) { g.gen.Add(key) }

func (g *appendGenerator) Generate(filters []byte) []byte {
	g.buf = filters
	g.gen.Generate(&g.buf)
	return g.buf
}

// StartBlock starts a data block: the keys that follow are in the block at offset,
// in bytes from the start of the file. It is an error if offset is < the offset of the
// block before, or if the filter block grows too large for its 32-bit offsets. After
// an error, StartBlock and Finish return the same error again.
func (w *BlockWriter) StartBlock(offset uint64) error { return w.w.StartBlock(offset) }

// Add adds a key of the current data block. It does not keep the slice.
func (w *BlockWriter) Add(key []byte) { w.w.Add(key) }

// Size returns the size of the block so far, in bytes. It does not count the filter
// of the keys added last, which is still to be generated.
func (w *BlockWriter) Size() uint64 { return w.w.Size() }

// Finish returns the filter block, which is the caller's. The BlockWriter must not be
// used again. It is an error if StartBlock failed, if the block is too large for its
// 32-bit offsets, or if the policy generated a filter of 0 bytes.
func (w *BlockWriter) Finish() ([]byte, error) { return w.w.Finish() }
