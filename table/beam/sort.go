package setio

import (
	"bytes"
	"context"
	"fmt"

	"github.com/sievetable/sievetable/internal/chunk"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/set"
)

// maxKey is the maximum length of a key, as in a manifest.
const maxKey = 256 << 10

// maxValue is the maximum length of a value, since a pipeline holds each value in one element.
const maxValue = 16 << 20

// A sorter sorts entries in runs. It emits each run as pieces, and its sampled keys as further pieces.
type sorter struct {
	RunSize  int
	Rate     float64 // of sampling
	Removals bool    // the keys are to be removed

	run   chunk.Chunk
	value []byte // reused by add
}

// An output receives a sorter's output.
type output struct {
	piece  func([]byte)
	sample func([]byte)
	ledger func(string, int64)
}

// add adds an entry. If the run is full, add first emits it.
func (s *sorter) add(ctx context.Context, key, value []byte, to output) error {
	if len(key) > maxKey {
		return fmt.Errorf("setio: key %s is too long: at most %d bytes are supported", format.Quote(key), maxKey)
	}
	if len(value) > maxValue {
		return fmt.Errorf("setio: the value of key %s has %d bytes: at most %d are supported",
			format.Quote(key), len(value), maxValue)
	}
	if s.value = appendValue(s.value[:0], value); s.Removals {
		s.value = append(s.value[:0], kindRemove)
	}
	if s.run.Max = s.RunSize; !s.run.Fits(key, s.value) {
		if err := s.flush(ctx, to); err != nil {
			return err
		}
	}
	s.run.Append(key, s.value)
	return nil
}

// flush emits the run and empties it.
func (s *sorter) flush(ctx context.Context, to output) error {
	defer s.run.Reset()
	keysRead.Inc(ctx, int64(s.run.Len()))
	sampler, err := set.NewSampler(s.Rate)
	if err != nil {
		return err
	}
	w := &pieceWriter{emit: to.piece}
	add := unique(func(key, value []byte) error {
		sampler.Add(key)
		return w.append(key, value)
	})
	s.run.Sort(bytes.Compare, func(key []byte) []byte { return key })
	for i := range s.run.Len() {
		if err := add(s.run.Pair(i)); err != nil {
			return err
		}
	}
	if err := w.finish(); err != nil {
		return err
	}
	to.ledger(sortedPieces, w.pieces)
	samples := &pieceWriter{emit: to.sample}
	return samples.writeKeys(sampler.Keys())
}

// sortPairs sorts the pairs of a bundle.
type sortPairs struct {
	Sorter sorter
}

// StartBundle discards the remains of a failed bundle.
func (fn *sortPairs) StartBundle(context.Context, func([]byte), func([]byte), func(string, int64)) {
	fn.Sorter.run.Reset()
}

// ProcessElement adds a pair.
func (fn *sortPairs) ProcessElement(
	ctx context.Context, key, value []byte, piece, sample func([]byte), ledger func(string, int64),
) error {
	return fn.Sorter.add(ctx, key, value, output{piece, sample, ledger})
}

// FinishBundle emits the last run of the bundle.
func (fn *sortPairs) FinishBundle(ctx context.Context, piece, sample func([]byte), ledger func(string, int64)) error {
	return fn.Sorter.flush(ctx, output{piece, sample, ledger})
}

// sortLines sorts the lines of a file.
type sortLines struct {
	Sorter sorter
}

// ProcessElement emits the runs of the file.
func (fn *sortLines) ProcessElement(
	ctx context.Context, file string, piece, sample func([]byte), ledger func(string, int64),
) error {
	fn.Sorter.run.Reset() // discards the remains of a failed bundle
	to := output{piece, sample, ledger}
	err := eachLine(ctx, file, func(line []byte) error { return fn.Sorter.add(ctx, line, nil, to) })
	if err == nil {
		err = fn.Sorter.flush(ctx, to)
	}
	if err != nil {
		return err
	}
	ledger(filesOfLines, -1)
	return nil
}
