package setio

import (
	"bytes"
	"cmp"
	"errors"
)

// errNoSplits is the error if a runner continues although the splits are missing.
var errNoSplits = errors.New(
	"setio: the splits are missing: a worker failed and the runner continued; see its log, and run the build again")

// cut merges the pieces of a bundle, and cuts them at the splits into pieces of single tables.
type cut struct {
	RunSize int

	splits [][]byte // the same for all bundles; nil until they are read
	run    merger
}

// StartBundle discards the remains of a failed bundle.
func (fn *cut) StartBundle(func(*[]byte) bool, func(int64, []byte), func(string, int64)) {
	fn.run = merger{}
}

// ProcessElement adds a piece.
func (fn *cut) ProcessElement(
	p []byte, splits func(*[]byte) bool, emit func(int64, []byte), ledger func(string, int64),
) error {
	if err := fn.findSplits(splits); err != nil {
		return err
	}
	if err := fn.run.add(p); err != nil {
		return err
	}
	if fn.run.size < fn.RunSize {
		return nil
	}
	return fn.flush(emit, ledger)
}

// findSplits decodes the splits, once.
func (fn *cut) findSplits(splits func(*[]byte) bool) error {
	if fn.splits != nil {
		return nil
	}
	var p piece
	if !splits(&p) {
		return errNoSplits
	}
	var keys [][]byte
	err := eachEntry([]piece{p}, func(key, _ []byte) error {
		keys = append(keys, bytes.Clone(key))
		return nil
	})
	if err == nil {
		fn.splits = keys
	}
	return err
}

// FinishBundle emits the last pieces of the bundle.
func (fn *cut) FinishBundle(_ func(*[]byte) bool, emit func(int64, []byte), ledger func(string, int64)) error {
	return fn.flush(emit, ledger)
}

// flush emits pieces with the numbers of their tables, from 1 on.
func (fn *cut) flush(emit func(int64, []byte), ledger func(string, int64)) error {
	table := 0
	w := &pieceWriter{emit: func(p piece) { emit(int64(table), p) }}
	err := fn.run.all(func(key, value []byte) error {
		for table < len(fn.splits) && bytes.Compare(key, fn.splits[table]) >= 0 {
			if err := w.finish(); err != nil {
				return err
			}
			table++
		}
		return w.append(key, value)
	})
	if err := cmp.Or(err, w.finish()); err != nil {
		return err
	}
	ledger(sortedPieces, -fn.run.pieces)
	ledger(cutPieces, w.pieces)
	fn.run = merger{}
	return nil
}
