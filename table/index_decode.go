package table

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/wire"
)

// readIndex reads and decodes the index block at h.
func (f *tableFile) readIndex(h Handle) (*index, error) {
	b := buffersPool.Get().(*buffers)
	defer b.put()
	contents, err := f.readBlock(IndexBlock, h, b)
	if err != nil {
		return nil, err
	}
	d, err := decodeIndex(contents, f.order, f.footerOffset)
	if errors.Is(err, ErrOrder) {
		err = fmt.Errorf("%w: it is damaged, or the table has another order than that of the Comparer", err)
	}
	if err != nil {
		return nil, f.damaged(IndexBlock, h, err)
	}
	switch {
	case d.shares: // text has memory of its own
	case len(d.text) <= maxCopiedText || uint64(len(contents)) <= 8*h.Length:
		d.text = slices.Clone(d.text)
	default: // a copy would take more memory than there may be for a file of this size
		*b.contents() = nil
	}
	return d.index, nil
}

// maxCopiedText is up to how many bytes of separators are copied to memory of their own, also if
// they take far less in the file.
const maxCopiedText = 1 << 20

// An indexDecoder decodes an index block.
type indexDecoder struct {
	*index
	limit      uint64 // where the data blocks must end
	pending    []byte // the last separator, which is not in text yet
	shares     bool   // any separator shares bytes
	textBudget int    // of all separators, if any shares bytes
	lastEnd    uint64 // where the last data block ends
}

// decodeIndex decodes contents, the index block. The data blocks must end before limit.
//
// Engines write an index with a restart point at each entry. Then no separator shares
// bytes, and decodeIndex moves them together at the start of contents: there is the text of the
// index. In an index whose separators share bytes, a few bytes can stand for long separators:
// budgets bound their total length, and text has memory of its own.
func decodeIndex(contents []byte, order block.Order, limit uint64) (*indexDecoder, error) {
	d := &indexDecoder{
		index:      newIndex(contents, order, limit),
		limit:      limit,
		textBudget: int(min(uint64(separatorBudget.forFile(limit)), math.MaxUint32)),
	}
	budget := block.Budget{Memory: indexKeyBudget.forFile(limit), Compared: compareBudget(len(contents))}
	if err := block.Walk(contents, order, &budget, d.add); err != nil {
		return nil, err
	}
	d.addPending()
	return d, nil
}

// newIndex returns an empty index with space for the entries of contents, if each is at a
// restart point. Its text is at the start of contents.
func newIndex(contents []byte, order block.Order, limit uint64) *index {
	const minBlock = 1 + format.TrailerLen // the file has no space for more of them
	n := 0
	if b, err := format.SplitBlock(contents); err == nil {
		n = int(min(uint64(b.NumRestarts()), limit/minBlock+1))
	}
	return &index{text: contents[:0], ends: make([]uint32, 0, n), handles: makeBlockHandles(n), order: order}
}

// add adds an entry of the index block.
func (d *indexDecoder) add(separator []byte, shared int, value []byte) error {
	h, _, err := decodeHandle(value, d.limit)
	if err == nil && h.Offset < d.lastEnd {
		err = fmt.Errorf("data block at %d, want it behind the one before, at %d or later", h.Offset, d.lastEnd)
	}
	if err != nil {
		return fmt.Errorf("separator %s: %w", wire.Quote(separator), err)
	}
	d.handles.append(h)
	d.lastEnd = h.end()
	d.addPending() // its bytes in contents are not needed any more
	if shared > 0 && !d.shares {
		d.shares = true
		d.text = slices.Clone(d.text[:min(len(d.text), d.textBudget)])
	}
	if d.pending = separator; !d.shares {
		return nil
	}
	if len(separator) > d.textBudget-len(d.text) {
		return fmt.Errorf("separators that share bytes have over %d bytes together, which is too much for a file of this size", d.textBudget)
	}
	d.addPending() // the decoder needs its memory for the next one
	return nil
}

// addPending adds the last separator to text.
func (d *indexDecoder) addPending() {
	if d.pending == nil {
		return
	}
	d.text = append(d.text, d.pending...)
	d.ends = append(d.ends, uint32(len(d.text)))
	d.pending = nil
}
