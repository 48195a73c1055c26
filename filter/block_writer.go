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

// DefaultBaseLg is the base lg of LevelDB's filter blocks. The data blocks that start in
// the same 2^11 bytes (2 KiB) of the file share a filter.
const DefaultBaseLg = 11

const maxBaseLg = 30

// A BlockWriter builds a filter block. Its methods are called in the order
//
//	(StartBlock Add*)* Finish
//
// A BlockWriter is not safe for concurrent use.
type BlockWriter struct {
	gen     Generator
	bloom   *bloomGenerator // gen, if it is Bloom's, which takes hashes in place of keys; else nil
	baseLg  uint
	offset  uint64 // of the current data block
	keys    int    // added since the last filter was generated
	prefix  []byte // the last prefix of them, as AppendHash has it; empty: there is none
	filters Bytes
	offsets []uint32
	err     error
}

// NewBlockWriter returns a BlockWriter that builds filters of policy p. The data blocks
// that start in the same 2^baseLg bytes of the file share a filter. If p is nil or baseLg
// is not in 0 to 30, NewBlockWriter returns an error.
func NewBlockWriter(p Policy, baseLg int) (*BlockWriter, error) {
	if p == nil {
		return nil, errors.New("filter: no policy")
	}
	if baseLg < 0 || baseLg > maxBaseLg {
		return nil, fmt.Errorf("filter: base lg is %d, want 0 to %d", baseLg, maxBaseLg)
	}
	w := &BlockWriter{gen: p.NewGenerator(), baseLg: uint(baseLg)}
	w.bloom, _ = w.gen.(*bloomGenerator)
	return w, nil
}

// StartBlock starts the data block at offset in the file. The keys added next belong to
// it. If offset is less than the previous one, or the filter block becomes too large for
// its 32-bit offsets, StartBlock returns an error. After an error, StartBlock and Finish
// return the same error.
func (w *BlockWriter) StartBlock(offset uint64) error {
	if w.err == nil {
		w.err = w.startBlock(offset)
	}
	return w.err
}

func (w *BlockWriter) startBlock(offset uint64) error {
	if offset < w.offset {
		return fmt.Errorf("filter: data block at %d after the one at %d, want ascending offsets", offset, w.offset)
	}
	w.offset = offset
	have, want := uint64(len(w.offsets)), offset>>w.baseLg
	if have >= want {
		return nil
	}
	if err := w.checkSize(want - have); err != nil { // before memory is taken for them
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
	if w.bloom != nil {
		w.bloom.hashes.Add(bloom.Hash(key, bloom.UnsignedTail))
	} else {
		w.gen.Add(key)
	}
}

// AppendHash appends the hash of key to dst and returns the extended slice. If the offset
// of a data block is not known yet, keep the hashes of its keys for [BlockWriter.AddHash].
// For Bloom a hash has 4 bytes. For any other policy it is the key.
func (w *BlockWriter) AppendHash(dst, key []byte) []byte {
	if w.bloom != nil {
		return binary.LittleEndian.AppendUint32(dst, bloom.Hash(key, bloom.UnsignedTail))
	}
	return append(dst, key...)
}

// AddHash adds a key of the current data block by its hash, which must come from
// AppendHash of the same BlockWriter. It does not keep the slice.
func (w *BlockWriter) AddHash(h []byte) {
	w.keys++
	if w.bloom != nil {
		w.bloom.hashes.Add(binary.LittleEndian.Uint32(h))
	} else {
		w.gen.Add(h)
	}
}

// AddPrefixHash is like [BlockWriter.AddHash] for a prefix of keys. If the last prefix of the
// current filter is the same, it does nothing.
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

// Finish returns the filter block, which the caller owns. The BlockWriter must not be used
// afterwards. If StartBlock failed, the block is too large for its 32-bit offsets, or the
// policy generated a filter of 0 bytes, Finish returns an error.
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

// generate ends the current filter. It has 0 bytes if it has no keys.
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
		return fmt.Errorf("filter: the policy generated a filter of 0 bytes for %d keys, want at least 1 byte", w.keys)
	}
	w.keys, w.prefix = 0, w.prefix[:0]
	return nil
}

// checkSize returns an error if the block, with that many more filters of 0 bytes,
// is too large for its own 32-bit offsets.
func (w *BlockWriter) checkSize(more uint64) error {
	const most = math.MaxUint32
	if size := w.Size(); size > most || more > (most-size)/4 {
		return fmt.Errorf("filter: filter block of more than %d bytes: write a smaller table, or use a larger base lg",
			uint64(most))
	}
	return nil
}
