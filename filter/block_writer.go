package filter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// DefaultBaseLg is the base lg of LevelDB's filter blocks: one filter holds the
// keys of the data blocks that start within 2^11 bytes = 2 KiB of the file.
const DefaultBaseLg = 11

const maxBaseLg = 30

// A BlockWriter builds the filter block of a table. Its calls come in the order
//
//	(StartBlock Add*)* Finish
//
// One goroutine at a time may use it. NewBlockWriter returns one.
type BlockWriter struct {
	gen     Generator
	bloom   *bloomGenerator // gen if it is Bloom's, for AppendHash to keep 4 bytes of a key
	baseLg  uint
	offset  uint64 // of the current data block
	keys    int    // added since the last filter was generated
	filters Bytes
	offsets []uint32
	err     error
}

// NewBlockWriter returns an empty BlockWriter whose filters are of policy p. Each
// filter holds the keys of the data blocks that start within 2^baseLg bytes of the
// file. It is an error if p is nil or baseLg is not 0 to 30.
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

// StartBlock starts a data block: the keys that follow are in the block at offset,
// in bytes from the start of the file. It is an error if offset is < the offset of the
// block before, or if the filter block grows too large for its 32-bit offsets. After
// an error, StartBlock and Finish return the same error again.
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
	want := offset >> w.baseLg
	if have := uint64(len(w.offsets)); want > have {
		if err := w.checkSize(want - have); err != nil { // before memory is taken for them
			return err
		}
	}
	for uint64(len(w.offsets)) < want {
		if err := w.generate(); err != nil {
			return err
		}
	}
	return nil
}

// Add adds a key of the current data block. It does not keep the slice.
func (w *BlockWriter) Add(key []byte) {
	w.keys++
	if w.bloom != nil { // not by gen: this is quicker
		w.bloom.hashes = append(w.bloom.hashes, hash(key, unsignedTail))
		return
	}
	w.gen.Add(key)
}

// AppendHash appends to dst what [BlockWriter.AddHash] needs of key, and returns the
// extended slice. With [Bloom] that is the hash of the key, 4 bytes. With any other
// policy it is the key itself. Use it for keys whose block has no offset yet.
func (w *BlockWriter) AppendHash(dst, key []byte) []byte {
	if w.bloom != nil {
		return binary.LittleEndian.AppendUint32(dst, hash(key, unsignedTail))
	}
	return append(dst, key...)
}

// AddHash adds a key of the current data block by its hash: the bytes that AppendHash
// of the same BlockWriter appended for it. Other bytes may panic. AddHash does not keep
// the slice.
func (w *BlockWriter) AddHash(h []byte) {
	w.keys++
	if w.bloom != nil {
		w.bloom.hashes = append(w.bloom.hashes, binary.LittleEndian.Uint32(h))
		return
	}
	w.gen.Add(h)
}

// Size returns the size of the block so far, in bytes. It does not count the filter
// of the keys added last, which is still to be generated.
func (w *BlockWriter) Size() uint64 {
	return uint64(len(w.filters)) + 4*uint64(len(w.offsets)) + 5
}

// Finish returns the filter block, which is the caller's. The BlockWriter must not be
// used again. It is an error if StartBlock failed, if the block is too large for its
// 32-bit offsets, or if the policy generated a filter of 0 bytes.
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
	w.offsets = append(w.offsets, uint32(len(w.filters)))
	if w.keys == 0 {
		return nil
	}
	before := len(w.filters)
	w.gen.Generate(&w.filters)
	if len(w.filters) == before { // a reader would take it for "no keys"
		return fmt.Errorf("filter: the policy generated a filter of 0 bytes for %d keys, want at least 1 byte", w.keys)
	}
	w.keys = 0
	return nil
}

// checkSize returns an error if the block, with that many more filters of 0 bytes,
// is too large for its own 32-bit offsets.
func (w *BlockWriter) checkSize(more uint64) error {
	const most = math.MaxUint32
	if size := w.Size(); size > most || more > (most-size)/4 {
		return fmt.Errorf("filter: filter block of more than %d bytes: write a smaller table, or use a larger base lg", uint64(most))
	}
	return nil
}
