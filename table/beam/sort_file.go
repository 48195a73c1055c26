package setio

import (
	"context"
	"errors"
)

// errNoSplits is the error if a runner goes on although the splits could not be found.
var errNoSplits = errors.New(
	"setio: there are no splits: a worker has failed and the runner went on; see its log, and build again")

// sortFile makes pieces of a file.
type sortFile struct {
	RunSize int

	lines lineReader
	run   run
}

// ProcessElement emits pieces of the file with the numbers of their tables, and how many pieces
// there are.
func (fn *sortFile) ProcessElement(
	ctx context.Context, file string, splits func(*[]byte) bool, emit func(int64, []byte), sent func(int64),
) error {
	var p piece
	if !splits(&p) {
		return errNoSplits
	}
	at, err := decodeKeys(p)
	if err != nil {
		return err
	}
	fn.run.take() // what a file that failed has left
	var pieces int64
	err = fn.lines.each(ctx, file, func(line []byte) error {
		if fn.run.add(line); fn.run.size() < fn.RunSize {
			return nil
		}
		n, err := fn.flush(at, emit)
		pieces += n
		return err
	})
	if err != nil {
		return err
	}
	n, err := fn.flush(at, emit)
	if err != nil {
		return err
	}
	sent(pieces + n)
	return nil
}

// flush emits pieces of the run, and returns how many. The run is empty then.
func (fn *sortFile) flush(splits [][]byte, emit func(int64, []byte)) (pieces int64, err error) {
	err = cut(fn.run.take(), splits, func(table int, keys [][]byte) error {
		p, err := encodeKeys(keys)
		if err != nil {
			return err
		}
		pieces++
		emit(int64(table)+1, p)
		return nil
	})
	return pieces, err
}
