package setio

import (
	"bytes"
	"cmp"
	"fmt"
	"math"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// A piece is sorted entries in bytes, as they travel between workers. It is a table without filters: its
// blocks are prefix-compressed, compressed by Snappy, and have checksums.
type piece = []byte

// maxPiece is from how many bytes of keys and values on a piece is complete. Elements of some 50 MB are too
// much for some runners.
const maxPiece = 4 << 20

// pieceOptions are the options of pieces. Nothing is looked up in them, so that large blocks
// are best.
var pieceOptions = &table.WriterOptions{BlockSize: 32 << 10, RestartInterval: 64}

// A pieceWriter makes pieces of sorted entries. Its calls come in the order append* and finish, which can
// be repeated. Only emit must be set.
type pieceWriter struct {
	emit func(piece)
	most int // from how many bytes of keys and values on a piece is complete; 0: maxPiece

	w      *table.Writer // nil if no piece is begun
	out    *bytes.Buffer
	size   int // of the keys and values in it
	pieces int64
}

// append adds an entry. It emits the piece if that is complete.
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
	if p.size += len(key) + len(value); p.size < cmp.Or(p.most, maxPiece) {
		return nil
	}
	return p.finish()
}

// finish emits the piece, if one is begun.
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

// join returns one piece of the entries that each appends, in ascending order. There is at least one.
func join(each func(add func(key, value []byte) error) error) (joined piece, err error) {
	w := &pieceWriter{emit: func(p piece) { joined = p }, most: math.MaxInt}
	err = cmp.Or(each(w.append), w.finish())
	return joined, err
}

// joinKeys returns a piece of the keys, which are in ascending order. There is at least one.
func joinKeys(keys [][]byte) (piece, error) {
	return join(func(add func(key, value []byte) error) (err error) {
		for _, key := range keys {
			err = cmp.Or(err, add(key, nil))
		}
		return err
	})
}

// eachEntry calls f with each entry of the pieces in ascending order, and once if it is in several. The
// slices are valid until f returns. Errors of f are returned as they are.
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
	defer it.Close() // its error is that of the last move
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

// changed returns the error of a piece that cannot be read.
func changed(err error) error {
	return fmt.Errorf("setio: piece of sorted keys that was changed on its way from another worker: %w: build again", err)
}
