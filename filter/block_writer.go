package filter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sievetable/sievetable/internal/bloom"
)

// DefaultBaseLg is LevelDB's base lg: a filter covers 2^11 bytes (2 KiB) of the file.
const DefaultBaseLg = 11

const maxBaseLg = 30

// A BlockWriter builds a filter block. Its methods are called in the order
//
//	(StartBlock Add*)* Finish
//
// A BlockWriter is not safe for concurrent use.
type BlockWriter struct {
	gen     Generator
	bloom   *bloomGenerator // gen, if it is Bloom's, which accepts hashes instead of keys; else nil
	baseLg  uint
	offset  uint64 // of the current data block
	keys    int    // added since the last filter was generated
	prefix  []byte // the last prefix among them, as AppendHash returns it; empty if there is none
	filters Bytes
	offsets []uint32
	err     error
}

// NewBlockWriter returns a BlockWriter that builds filters of policy p. Data blocks that start in the same 2^baseLg
// bytes of the file share a filter. baseLg must be 0 to 30: see [DefaultBaseLg].
func NewBlockWriter(p Policy, baseLg int) (*BlockWriter, error) {
	if p == nil {
		return nil, errors.New("filter: no policy")
	}
	if baseLg < 0 || baseLg > maxBaseLg {
		return nil, fmt.Errorf("filter: base lg is %d: must be 0 to %d", baseLg, maxBaseLg)
	}
	w := &BlockWriter{gen: p.NewGenerator(), baseLg: uint(baseLg)}
	w.bloom, _ = w.gen.(*bloomGenerator)
	return w, nil
}

// StartBlock starts the data block at offset in the file, to which the next keys belong. If offset is less than the
// previous one, or the filter block exceeds 4 GiB, StartBlock and Finish return an error from then on.
func (w *BlockWriter) StartBlock(offset uint64) error {
	if w.err == nil {
		w.err = w.startBlock(offset)
	}
	return w.err
}

func (w *BlockWriter) startBlock(offset uint64) error {
	if offset < w.offset {
		return fmt.Errorf("filter: data block at %d after the one at %d: offsets must ascend", offset, w.offset)
	}
	w.offset = offset
	have, want := uint64(len(w.offsets)), offset>>w.baseLg
	if have >= want {
		return nil
	}
	if err := w.checkSize(want - have); err != nil { // before allocating memory for them
		return err
	}
	for range want - have {
		if err := w.generate(); err != nil {
			return err
		}
	}
	return nil
}

// Add adds a key of the current data block. It does not keep the slice.
func (w *BlockWriter) Add(key []byte) {
	w.keys++
	w.gen.Add(key)
}

// AppendHash appends the hash of key to dst, for [BlockWriter.AddHash] when the data block's offset is known. For
// Bloom, a hash has 4 bytes. For any other policy, it is the key.
func (w *BlockWriter) AppendHash(dst, key []byte) []byte {
	if w.bloom != nil {
		return binary.LittleEndian.AppendUint32(dst, bloom.Hash(key, bloom.UnsignedTail))
	}
	return append(dst, key...)
}

// AddHash is like [BlockWriter.Add] for the result of AppendHash. It does not keep the slice.
func (w *BlockWriter) AddHash(h []byte) {
	w.keys++
	if w.bloom != nil {
		w.bloom.hashes.Add(binary.LittleEndian.Uint32(h))
	} else {
		w.gen.Add(h)
	}
}

// AddPrefixHash is like [BlockWriter.AddHash] for a prefix. If the filter's last prefix is the same, it does
// nothing.
func (w *BlockWriter) AddPrefixHash(h []byte) {
	if len(w.prefix) > 0 && bytes.Equal(h, w.prefix) {
		return
	}
	w.prefix = append(w.prefix[:0], h...)
	w.AddHash(h)
}

// Size returns the size of the block in bytes, without the filter of the keys added last.
func (w *BlockWriter) Size() uint64 {
	return uint64(len(w.filters)) + 4*uint64(len(w.offsets)) + 5
}

// Finish returns the filter block, which the caller owns. The BlockWriter must not be used afterwards.
func (w *BlockWriter) Finish() ([]byte, error) {
	if w.keys > 0 && w.err == nil {
		w.err = w.generate()
	}
	if w.err == nil {
		w.err = w.checkSize(0)
	}
	if w.err != nil {
		return nil, w.err
	}
	arrayOffset := uint32(len(w.filters))
	block := slices.Grow([]byte(w.filters), 4*len(w.offsets)+5)
	for _, o := range w.offsets {
		block = binary.LittleEndian.AppendUint32(block, o)
	}
	block = binary.LittleEndian.AppendUint32(block, arrayOffset)
	return append(block, byte(w.baseLg)), nil
}

// generate completes the current filter. Without keys, it has 0 bytes.
func (w *BlockWriter) generate() error {
	if err := w.checkSize(1); err != nil {
		return err
	}
	before := len(w.filters)
	w.offsets = append(w.offsets, uint32(before))
	if w.keys == 0 {
		return nil
	}
	w.gen.Generate(&w.filters)
	if len(w.filters) == before { // a reader would take it for "no keys"
		return fmt.Errorf("filter: the policy generated a filter of 0 bytes for %d keys", w.keys)
	}
	w.keys, w.prefix = 0, w.prefix[:0]
	return nil
}

// checkSize returns an error if the block, with that many more empty filters, is too large for its 32-bit offsets.
func (w *BlockWriter) checkSize(more uint64) error {
	const most = math.MaxUint32
	if size := w.Size(); size > most || more > (most-size)/4 {
		return fmt.Errorf("filter: filter block of more than %d bytes: write a smaller table, or use a larger base lg",
			uint64(most))
	}
	return nil
}
