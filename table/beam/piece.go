package setio

import (
	"bytes"
	"errors"
	"fmt"

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
	if p.size += len(key) + len(value); p.size < maxPiece {
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

// encode returns a piece of the entries that each appends, in ascending order. There may be none.
func encode(each func(add func(key, value []byte) error) error) (piece, error) {
	var out bytes.Buffer
	w, err := table.NewWriter(&out, pieceOptions)
	if err != nil {
		return nil, err
	}
	if err := each(w.Append); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	err = w.Close()
	return out.Bytes(), err
}

// encodeKeys returns a piece of the keys, which are in ascending order.
func encodeKeys(keys [][]byte) (piece, error) {
	return encode(func(add func(key, value []byte) error) error {
		for _, key := range keys {
			if err := add(key, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachEntry calls f with each entry of the pieces in ascending order, and once if it is in several. The
// slices are valid until f returns. Errors of f are returned as they are.
func eachEntry(pieces []piece, f func(key, value []byte) error) error {
	it, err := openPieces(pieces)
	if err != nil {
		return err
	}
	defer it.Close() // its error is that of the last move
	f = unique(f)
	for ok := it.First(); ok; ok = it.Next() {
		if err := f(it.Key(), it.Value()); err != nil {
			return err
		}
	}
	if err := it.Error(); err != nil {
		return changed(err)
	}
	return nil
}

// openPieces returns an iterator over the entries of all pieces.
func openPieces(pieces []piece) (*merge.Iter, error) {
	its := make([]merge.Iterator, len(pieces))
	for i, p := range pieces {
		r, err := table.NewReader(bytes.NewReader(p), int64(len(p)), nil)
		if err != nil {
			return nil, changed(err)
		}
		its[i] = r.NewIter(nil)
	}
	return merge.New(nil, its...), nil
}

// changed returns the error of a piece that cannot be read.
func changed(err error) error {
	return fmt.Errorf(
		"setio: piece of sorted keys that was changed on its way from another worker: %w: build again", err)
}

// decodeKeys returns the keys of a piece.
func decodeKeys(p piece) ([][]byte, error) {
	var keys [][]byte
	err := eachEntry([]piece{p}, func(key, _ []byte) error {
		keys = append(keys, bytes.Clone(key))
		return nil
	})
	return keys, err
}
