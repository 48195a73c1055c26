package setio

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// A piece is sorted keys in bytes, as they travel between workers. It is a table without values
// and filters: its blocks are prefix-compressed, compressed by Snappy, and have checksums.
type piece = []byte

// pieceOptions are the options of pieces. Nothing is looked up in them, so that large blocks
// are best.
var pieceOptions = &table.WriterOptions{BlockSize: 32 << 10, RestartInterval: 64}

// A pieceWriter makes a piece. Its calls come in the order of newPieceWriter, Append* and finish.
type pieceWriter struct {
	*table.Writer
	out bytes.Buffer
}

func newPieceWriter() (*pieceWriter, error) {
	p := new(pieceWriter)
	var err error
	p.Writer, err = table.NewWriter(&p.out, pieceOptions)
	return p, err
}

// finish returns the piece.
func (p *pieceWriter) finish() (piece, error) {
	if err := p.Close(); err != nil {
		return nil, err
	}
	return p.out.Bytes(), nil
}

// encodeKeys returns a piece of the keys, which are in ascending order.
func encodeKeys(keys [][]byte) (piece, error) {
	w, err := newPieceWriter()
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if err := w.Append(key, nil); err != nil {
			return nil, err
		}
	}
	return w.finish()
}

// eachKey calls f with each key of the pieces in ascending order, and once if it is in several.
// The slice is valid until f returns. Errors of f are returned as they are.
func eachKey(pieces []piece, f func(key []byte) error) error {
	it, err := openPieces(pieces)
	if err != nil {
		return err
	}
	defer it.Close() // its error is that of the last move
	var last []byte
	first := true
	for ok := it.First(); ok; ok = it.Next() {
		key := it.Key()
		if !first && bytes.Equal(key, last) {
			continue
		}
		if err := f(key); err != nil {
			return err
		}
		first, last = false, append(last[:0], key...)
	}
	if err := it.Error(); err != nil {
		return changed(err)
	}
	return nil
}

// openPieces returns an iterator over the keys of all pieces.
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
	err := eachKey([]piece{p}, func(key []byte) error {
		keys = append(keys, bytes.Clone(key))
		return nil
	})
	return keys, err
}
