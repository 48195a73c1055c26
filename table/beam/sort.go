package setio

import (
	"context"
	"fmt"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/set"
)

// maxKey is the most bytes of a key: as many as a manifest takes.
const maxKey = 256 << 10

// maxValue is the most bytes of a value. An element of a pipeline has all of it.
const maxValue = 16 << 20

// A sorter sorts entries in runs. It makes pieces of them, and a piece of the sampled keys of each run.
type sorter struct {
	RunSize  int
	Rate     float64 // of the sample
	Removals bool    // the keys are to be removed

	run run
}

// An output is where a sorter emits to.
type output struct {
	piece  func([]byte)
	sample func([]byte)
	ledger func(string, int64)
}

// add adds an entry.
func (s *sorter) add(ctx context.Context, key, value []byte, to output) error {
	if len(key) > maxKey {
		return fmt.Errorf("setio: key %s, want at most %d bytes", wire.Quote(key), maxKey)
	}
	if len(value) > maxValue {
		return fmt.Errorf("setio: the value of key %s has %d bytes, want at most %d",
			wire.Quote(key), len(value), maxValue)
	}
	if s.Removals {
		s.run.remove(key)
	} else {
		s.run.add(key, value)
	}
	if s.run.size() < s.RunSize {
		return nil
	}
	return s.flush(ctx, to)
}

// flush emits the run, which is empty then.
func (s *sorter) flush(ctx context.Context, to output) error {
	entries := s.run.take()
	if len(entries) == 0 {
		return nil
	}
	keysRead.Inc(ctx, int64(len(entries)))
	sampler, err := set.NewSampler(s.Rate)
	if err != nil {
		return err
	}
	w := &pieceWriter{emit: to.piece}
	add := unique(func(key, value []byte) error {
		sampler.Add(key)
		return w.append(key, value)
	})
	for _, e := range entries {
		if err := add(e.key(), e.value()); err != nil {
			return err
		}
	}
	if err := w.finish(); err != nil {
		return err
	}
	to.ledger(sortedPieces, w.pieces)
	return to.emitSample(sampler)
}

// emitSample emits the sampled keys, if there are any.
func (to *output) emitSample(s *set.Sampler) error {
	if s.Len() == 0 {
		return nil
	}
	p, err := encodeKeys(s.Keys())
	if err != nil {
		return err
	}
	to.sample(p)
	return nil
}

// discard forgets what a bundle that failed has left.
func (s *sorter) discard() { s.run.take() }

// sortPairs sorts the pairs of a bundle.
type sortPairs struct {
	Sorter sorter
}

// StartBundle begins a bundle.
func (fn *sortPairs) StartBundle(context.Context, func([]byte), func([]byte), func(string, int64)) error {
	fn.Sorter.discard()
	return nil
}

// ProcessElement adds a pair.
func (fn *sortPairs) ProcessElement(
	ctx context.Context, key, value []byte, piece, sample func([]byte), ledger func(string, int64),
) error {
	return fn.Sorter.add(ctx, key, value, output{piece, sample, ledger})
}

// FinishBundle emits the last run of the bundle.
func (fn *sortPairs) FinishBundle(
	ctx context.Context, piece, sample func([]byte), ledger func(string, int64),
) error {
	return fn.Sorter.flush(ctx, output{piece, sample, ledger})
}

// sortLines sorts the lines of a file.
type sortLines struct {
	Sorter sorter

	lines lineReader
}

// ProcessElement emits the runs of the file.
func (fn *sortLines) ProcessElement(
	ctx context.Context, file string, piece, sample func([]byte), ledger func(string, int64),
) error {
	fn.Sorter.discard()
	to := output{piece, sample, ledger}
	err := fn.lines.each(ctx, file, func(line []byte) error { return fn.Sorter.add(ctx, line, nil, to) })
	if err == nil {
		err = fn.Sorter.flush(ctx, to)
	}
	if err != nil {
		return err
	}
	ledger(filesOfLines, -1)
	return nil
}
