package filter

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// DefaultBaseLg is the base lg of LevelDB's filter blocks: a filter covers the
// data blocks that start within 2 KiB of the file.
const DefaultBaseLg = 11

const maxBaseLg = 30

// A BlockWriter builds a table's filter block. Its calls come in the order
//
//	(StartBlock Add*)* Finish
//
// and it serves one goroutine at a time.
type BlockWriter struct {
	gen     Generator
	bloom   *bloomGenerator // gen, if it is one, which is then called directly
	baseLg  uint
	offset  uint64 // of the current data block
	keys    int    // added since the last filter was generated
	filters Bytes
	offsets []uint32
	err     error
}

// NewBlockWriter returns an empty BlockWriter. baseLg is the base-2 logarithm
// of the range of file offsets that one filter covers, 0 to 30; anything else
// is an error.
func NewBlockWriter(p Policy, baseLg int) (*BlockWriter, error) {
	if p == nil {
		return nil, fmt.Errorf("filter: no policy")
	}
	if baseLg < 0 || baseLg > maxBaseLg {
		return nil, fmt.Errorf("filter: base lg is %d, want 0 to %d", baseLg, maxBaseLg)
	}
	w := &BlockWriter{gen: p.NewGenerator(), baseLg: uint(baseLg)}
	w.bloom, _ = w.gen.(*bloomGenerator)
	return w, nil
}

// StartBlock says that the keys to come are in the data block at offset. It is
// an error, which stays, if offset is below an earlier one, or if the filter
// block outgrows the format's 32-bit offsets: in filters, or in a gap so long
// that the empty filters for it would fill the block.
func (w *BlockWriter) StartBlock(offset uint64) error {
	if offset < w.offset && w.err == nil {
		w.err = fmt.Errorf("filter: data block at %d after the one at %d, want ascending offsets", offset, w.offset)
	}
	w.offset = offset
	want := offset >> w.baseLg
	if have := uint64(len(w.offsets)); want > have && w.tooLarge(want-have) {
		return w.err
	}
	for uint64(len(w.offsets)) < want && w.err == nil {
		w.generate()
	}
	return w.err
}

// Add adds a key of the current data block. The key is not kept.
func (w *BlockWriter) Add(key []byte) {
	w.keys++
	if w.bloom != nil {
		w.bloom.Add(key)
		return
	}
	w.gen.Add(key)
}

// Hold appends to dst what AddHeld takes for key: the key, or its hash where that is
// all that matters. It is for who cannot call StartBlock yet.
func (w *BlockWriter) Hold(dst, key []byte) []byte {
	if w.bloom != nil {
		return binary.LittleEndian.AppendUint32(dst, hash(key))
	}
	return append(dst, key...)
}

// AddHeld adds the key that Hold, of this BlockWriter, has appended held for.
func (w *BlockWriter) AddHeld(held []byte) {
	w.keys++
	if w.bloom != nil {
		w.bloom.hashes = append(w.bloom.hashes, binary.LittleEndian.Uint32(held))
		return
	}
	w.gen.Add(held)
}

// Size returns how many bytes the block takes so far, without the filter of
// the keys that wait for one.
func (w *BlockWriter) Size() uint64 {
	return uint64(len(w.filters)) + 4*uint64(len(w.offsets)) + 5
}

// Finish returns the block, which takes the BlockWriter's memory: neither it
// nor the BlockWriter is used again. It is an error if the filters outgrew the
// format's 32-bit offsets.
func (w *BlockWriter) Finish() ([]byte, error) {
	if w.keys > 0 {
		w.generate()
	}
	if w.tooLarge(0) {
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

// generate ends one filter: of no bytes, if it has no keys.
func (w *BlockWriter) generate() {
	if w.tooLarge(1) {
		return
	}
	w.offsets = append(w.offsets, uint32(len(w.filters)))
	if w.keys == 0 {
		return
	}
	before := len(w.filters)
	w.gen.Generate(&w.filters)
	if len(w.filters) == before && w.err == nil {
		w.err = fmt.Errorf("filter: policy wrote no bytes for %d keys, which would deny them", w.keys)
	}
	w.keys = 0
}

// tooLarge reports, and remembers, that the block cannot take the given number
// of further filters: with them it would outgrow its own 32-bit offsets.
func (w *BlockWriter) tooLarge(further uint64) bool {
	const most = math.MaxUint32
	if size := w.Size(); w.err == nil && (size > most || further > (most-size)/4) {
		w.err = fmt.Errorf("filter: block of more than %d bytes", uint64(most))
	}
	return w.err != nil
}
