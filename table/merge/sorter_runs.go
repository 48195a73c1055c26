package merge

import (
	"cmp"
	"errors"

	"github.com/sievetable/sievetable/internal/chunk"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/internal/spool"
)

// begin begins a chunk. If memory has no room for another one, it waits for a sorted chunk, writes it, and reuses
// its memory.
func (s *Sorter) begin() error {
	if s.chunks < s.limits.chunks {
		s.chunks++
		s.filling = &chunk.Chunk{Max: s.limits.chunk}
		return nil
	}
	s.filling = <-s.sorted
	err := s.writeRun(inMemory(s.filling))
	s.filling.Reset()
	return err
}

// sort sorts the chunk in the background.
func (s *Sorter) sort() {
	c := s.filling
	s.workers.Go(func() {
		c.Sort(s.compare, s.prefix)
		s.sorted <- c // there is room for all
	})
}

// inMemory returns the pairs of a sorted chunk.
func inMemory(c *chunk.Chunk) Iterator { return NewMemoryIter(nil, c.Len(), c.Pair) }

// A runIter iterates over the pairs of a run. A Sorter only makes the moves that a spool.Reader has.
type runIter struct {
	*spool.Reader
	otherMoves
}

type otherMoves struct{ Iterator } // nil

// writeRun writes the pairs of an Iterator as a run.
func (s *Sorter) writeRun(it Iterator) error {
	for more := it.First(); more; more = it.Next() {
		if s.ctx.Err() != nil {
			return s.err()
		}
		if err := s.file.Append(it.Key(), it.Value()); err != nil {
			return err
		}
	}
	run, err := s.file.End()
	s.runs = append(s.runs, run)
	return errors.Join(it.Error(), err)
}

// merged returns all pairs. While there are more runs than can be merged at once, it merges the oldest ones into one.
func (s *Sorter) merged() (*Iter, error) {
	s.sort()
	s.workers.Wait()
	err := cmp.Or(s.err(), s.large.Flush()) // after Close, Flush would fail in another way
	for err == nil && len(s.runs) > s.limits.fanIn {
		oldest := s.merge(s.limits.fanIn)
		s.runs = s.runs[s.limits.fanIn:]
		err = s.writeRun(oldest)
	}
	var chunks []Iterator
	for range len(s.sorted) {
		chunks = append(chunks, inMemory(<-s.sorted))
	}
	return s.merge(len(s.runs), chunks...), err
}

// merge returns the pairs of the first runs and of chunks.
func (s *Sorter) merge(runs int, its ...Iterator) *Iter {
	for _, run := range s.runs[:runs] {
		its = append(its, runIter{Reader: s.file.Open(run)})
	}
	it := New(nil, its...)
	it.order = rowblock.Order{Func: s.compare}
	if s.order.Bytewise() && !s.anyCut { // places are not in key order
		it.order.Suffix = format.InternalTrailerLen + s.order.Suffix
	}
	return it
}
