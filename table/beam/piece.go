package setio

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// A piece contains sorted entries, as they travel between workers. It is a table without filters.
type piece = []byte

// maxPiece is the size of keys and values at which a piece is complete. Some runners cannot handle elements of 50 MB.
const maxPiece = 4 << 20

// pieceOptions has large blocks, since pieces are only read from start to end.
var pieceOptions = &table.WriterOptions{BlockSize: 32 << 10, RestartInterval: 64}

// A pieceWriter writes sorted entries to pieces. Calls come in the order (append* finish)*. Only emit is required.
type pieceWriter struct {
	emit  func(piece)
	whole bool // all entries are in one piece, of any size

	w      *table.Writer // nil between pieces
	out    *bytes.Buffer
	size   int // of keys and values in out
	pieces int64
}

// append adds an entry. If the piece is complete, append emits it.
func (p *pieceWriter) append(key, value []byte) (err error) {
	if p.w == nil {
		p.out, p.size = new(bytes.Buffer), 0
		if p.w, err = table.NewWriter(p.out, pieceOptions); err != nil {
			return err
		}
	}
	if err := p.w.Append(key, value); err != nil {
		return err
	}
	if p.size += len(key) + len(value); p.whole || p.size < maxPiece {
		return nil
	}
	return p.finish()
}

// finish emits the current piece, if there is one.
func (p *pieceWriter) finish() error {
	if p.w == nil {
		return nil
	}
	if err := p.w.Close(); err != nil {
		return err
	}
	p.w = nil
	p.pieces++
	p.emit(p.out.Bytes())
	return nil
}

// writeKeys writes pieces with the keys, in ascending order.
func (p *pieceWriter) writeKeys(keys [][]byte) error {
	for _, key := range keys {
		if err := p.append(key, nil); err != nil {
			return err
		}
	}
	return p.finish()
}

// eachEntry calls f with each distinct entry of the pieces, in ascending order. The slices are valid until f returns.
// eachEntry returns f's errors unchanged.
func eachEntry(pieces []piece, f func(key, value []byte) error) error {
	its := make([]merge.Iterator, len(pieces))
	for i, p := range pieces {
		r, err := table.NewReader(bytes.NewReader(p), int64(len(p)), nil)
		if err != nil {
			return changed(err)
		}
		its[i] = r.NewIter(nil)
	}
	it, f := merge.New(nil, its...), unique(f)
	defer it.Close() // it.Error returns the same error
	for it.Next() {
		if err := f(it.Key(), it.Value()); err != nil {
			return err
		}
	}
	if err := it.Error(); err != nil {
		return changed(err)
	}
	return nil
}

// changed returns the error for a piece that cannot be read.
func changed(err error) error {
	return fmt.Errorf("setio: sorted keys were corrupted in transit between workers: %w; run the build again", err)
}
