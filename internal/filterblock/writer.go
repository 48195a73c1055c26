package filterblock

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/sievetable/sievetable/internal/bloom"
)

// maxBaseLg is the highest base lg.
const maxBaseLg = 30

// A Generator collects keys and builds filters of them, as filter.Generator does.
type Generator interface {
	Add(key []byte)

	// Generate returns filters with one filter of the keys appended to it, and forgets the keys.
	Generate(filters []byte) []byte
}

// A Writer builds the filter block of a table. Its calls come in the order
//
//	(StartBlock Add*)* Finish
//
// One goroutine at a time may use it. NewWriter returns one.
type Writer struct {
	gen        Generator    // nil: filters are those of Bloom
	bitsPerKey uint64       // of Bloom
	hashes     bloom.Hashes // of its keys
	baseLg     uint
	offset     uint64 // of the current data block
	keys       int    // added since the last filter was generated
	prefix     []byte // the last prefix of them, as AppendHash has it; empty: there is none
	hashed     []byte // of AddPrefix
	filters    []byte
	offsets    []uint32
	err        error
}

// NewWriter returns an empty Writer, as filter.NewBlockWriter does. If gen is nil, its filters are those of
// Bloom, with bitsPerKey bits for each key.
func NewWriter(gen Generator, bitsPerKey uint64, baseLg int) (*Writer, error) {
	if baseLg < 0 || baseLg > maxBaseLg {
		return nil, fmt.Errorf("filter: base lg is %d, want 0 to %d", baseLg, maxBaseLg)
	}
	return &Writer{gen: gen, bitsPerKey: bitsPerKey, baseLg: uint(baseLg)}, nil
}

// StartBlock starts a data block: the keys that follow are in the block at offset,
// in bytes from the start of the file. It is an error if offset is < the offset of the
// block before, or if the filter block grows too large for its 32-bit offsets. After
// an error, StartBlock and Finish return the same error again.
func (w *Writer) StartBlock(offset uint64) error {
	if w.err == nil {
		w.err = w.startBlock(offset)
	}
	return w.err
}

func (w *Writer) startBlock(offset uint64) error {
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
func (w *Writer) Add(key []byte) {
	w.keys++
	if w.gen == nil {
		w.hashes.Add(bloom.Hash(key, bloom.UnsignedTail))
		return
	}
	w.gen.Add(key)
}

// AppendHash appends to dst what AddHash needs of key, and returns the
// extended slice. With Bloom that is the hash of the key, 4 bytes. With any other
// policy it is the key itself. Use it for keys whose block has no offset yet.
func (w *Writer) AppendHash(dst, key []byte) []byte {
	if w.gen == nil {
		return binary.LittleEndian.AppendUint32(dst, bloom.Hash(key, bloom.UnsignedTail))
	}
	return append(dst, key...)
}

// AddHash adds a key of the current data block by its hash: the bytes that AppendHash
// of the same Writer appended for it. Other bytes may panic. AddHash does not keep
// the slice.
func (w *Writer) AddHash(h []byte) {
	w.keys++
	if w.gen == nil {
		w.hashes.Add(binary.LittleEndian.Uint32(h))
		return
	}
	w.gen.Add(h)
}

// AddPrefix adds a prefix of keys of the current data block, unless the filter that holds them has it from
// the last call. It does not keep the slice.
func (w *Writer) AddPrefix(prefix []byte) {
	w.hashed = w.AppendHash(w.hashed[:0], prefix)
	w.AddPrefixHash(w.hashed)
}

// AddPrefixHash is AddPrefix for what AppendHash has appended for the prefix.
func (w *Writer) AddPrefixHash(h []byte) {
	if len(w.prefix) > 0 && bytes.Equal(h, w.prefix) {
		return
	}
	w.prefix = append(w.prefix[:0], h...)
	w.AddHash(h)
}

// Size returns the size of the block so far, in bytes. It does not count the filter
// of the keys added last, which is still to be generated.
func (w *Writer) Size() uint64 {
	return uint64(len(w.filters)) + 4*uint64(len(w.offsets)) + 5
}

// Finish returns the filter block, which is the caller's. The Writer must not be
// used again. It is an error if StartBlock failed, if the block is too large for its
// 32-bit offsets, or if the policy generated a filter of 0 bytes.
func (w *Writer) Finish() ([]byte, error) {
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
	block := slices.Grow(w.filters, 4*len(w.offsets)+5)
	for _, o := range w.offsets {
		block = binary.LittleEndian.AppendUint32(block, o)
	}
	block = binary.LittleEndian.AppendUint32(block, arrayOffset)
	return append(block, byte(w.baseLg)), nil
}

// generate ends the current filter. It has 0 bytes if it has no keys.
func (w *Writer) generate() error {
	if err := w.checkSize(1); err != nil {
		return err
	}
	w.offsets = append(w.offsets, uint32(len(w.filters)))
	if w.keys == 0 {
		return nil
	}
	before := len(w.filters)
	if w.gen == nil {
		w.generateBloom()
	} else {
		w.filters = w.gen.Generate(w.filters)
	}
	if len(w.filters) == before { // a reader would take it for "no keys"
		return fmt.Errorf("filter: the policy generated a filter of 0 bytes for %d keys, want at least 1 byte", w.keys)
	}
	w.keys, w.prefix = 0, w.prefix[:0]
	return nil
}

// generateBloom appends the filter of the hashes.
func (w *Writer) generateBloom() {
	start, n := len(w.filters), bloom.Size(w.hashes.Len(), w.bitsPerKey)
	w.filters = Extend(w.filters, n)
	bloom.Build(w.filters[start:], &w.hashes, w.bitsPerKey)
	w.hashes.Reset()
}

// Extend returns b with n more bytes, of arbitrary values. It doubles the memory: append would grow by a
// quarter.
func Extend(b []byte, n int) []byte {
	start := len(b)
	if n > cap(b)-start {
		b = slices.Grow(b, max(n, start))
	}
	return b[:start+n]
}

// checkSize returns an error if the block, with that many more filters of 0 bytes,
// is too large for its own 32-bit offsets.
func (w *Writer) checkSize(more uint64) error {
	const most = math.MaxUint32
	if size := w.Size(); size > most || more > (most-size)/4 {
		return fmt.Errorf("filter: filter block of more than %d bytes: write a smaller table, or use a larger base lg", uint64(most))
	}
	return nil
}
