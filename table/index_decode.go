package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

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
	x, err := decodeIndex(contents, f.order, f.footerOffset)
	if errors.Is(err, ErrOrder) {
		err = fmt.Errorf("%w: it is damaged, or the table has another order than that of the Comparer", err)
	}
	if err != nil {
		return nil, f.damaged(IndexBlock, h, err)
	}
	return x, nil
}

// An indexDecoder decodes an index block.
type indexDecoder struct {
	*index
	limit      uint64 // where the data blocks must end
	shares     bool   // any separator shares bytes
	textBudget int    // of all separators, if any shares bytes
	lastEnd    uint64 // where the last data block ends
}

// texts has memory to collect separators in, until their length is known.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// decodeIndex decodes contents, the index block. The data blocks must end before limit.
//
// Engines write an index with a restart point at each entry. Then no separator shares
// bytes, and all together are shorter than contents. In an index whose separators share
// bytes, a few bytes can stand for long separators: budgets bound their total length.
func decodeIndex(contents []byte, order block.Order, limit uint64) (*index, error) {
	text := texts.Get().(*[]byte)
	d := indexDecoder{
		index:      newIndex(contents, order, limit),
		limit:      limit,
		textBudget: int(min(uint64(separatorBudget.forFile(limit)), math.MaxUint32)),
	}
	d.text = (*text)[:0]
	budget := block.Budget{Memory: indexKeyBudget.forFile(limit), Compared: compareBudget(len(contents))}
	err := block.Walk(contents, order, &budget, d.add)
	d.keep(text)
	if err != nil {
		return nil, err
	}
	return d.index, nil
}

// newIndex returns an empty index with space for the entries of contents, if each is at a
// restart point.
func newIndex(contents []byte, order block.Order, limit uint64) *index {
	const minBlock = 1 + format.TrailerLen // the file has no space for more of them
	n := 0
	if b, err := format.SplitBlock(contents); err == nil {
		n = int(min(uint64(b.NumRestarts()), limit/minBlock+1))
	}
	return &index{ends: make([]uint32, 0, n), handles: makeBlockHandles(n), order: order}
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
	if d.shares = d.shares || shared > 0; d.shares && len(separator) > d.textBudget-len(d.text) {
		return fmt.Errorf("separators that share bytes have over %d bytes together, which is too much for a file of this size", d.textBudget)
	}
	d.text = append(d.text, separator...)
	d.ends = append(d.ends, uint32(len(d.text)))
	d.handles.append(h)
	d.lastEnd = h.end()
	return nil
}

// keep moves the separators to memory of their own, and gives that of text back.
func (d *indexDecoder) keep(text *[]byte) {
	*text = d.text
	d.text = slices.Clone(d.text)
	if cap(*text) <= maxPooledBlock {
		texts.Put(text)
	}
}
