package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/sievetable/sievetable/internal/chunk"
	"github.com/sievetable/sievetable/internal/rowblock"
	"github.com/sievetable/sievetable/internal/spool"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// SorterOptions are the options of a Sorter.
type SorterOptions struct {
	// Comparer is the order of the keys. Nil means [table.BytewiseComparer].
	Comparer table.Comparer

	// Memory is about the number of bytes that sorting takes, besides the largest pair, at least 48 MiB. Zero
	// means 256 MiB.
	Memory int64

	// Dir is the directory of temporary files. If it is empty, the system's is used.
	Dir string

	limits limits // tests set them
}

// limits divide the memory of a Sorter.
type limits struct {
	inline int // bytes of a key or of a value: larger ones are in a file
	chunk  int // bytes of a chunk
	chunks int // in memory at once
	fanIn  int // runs that are merged at once
}

const (
	minMemory     = 48 << 20
	defaultMemory = 256 << 20
	maxChunk      = 1 << 30
	maxChunks     = 6 // one is filled, some are sorted, one is written
	maxFanIn      = 1024
	maxPair       = 1 << 30 // a table takes no larger pairs
)

func (o *SorterOptions) withDefaults() SorterOptions {
	opts := *cmp.Or(o, &SorterOptions{})
	opts.Dir = cmp.Or(opts.Dir, os.TempDir())
	opts.Comparer = cmp.Or(opts.Comparer, table.BytewiseComparer)
	if opts.limits == (limits{}) {
		memory := max(cmp.Or(opts.Memory, defaultMemory), minMemory)
		inline, fanIn := min(max(256, memory>>18), 1<<10), min(memory/4/spool.ReaderMemory, maxFanIn)
		size := min((memory-fanIn*spool.ReaderMemory)/maxChunks, maxChunk) // they stay in memory during the last merge
		opts.limits = limits{int(inline), int(size), maxChunks, int(fanIn)}
	}
	return opts
}

// A Sorter sorts pairs that may not fit in memory, by merging sorted chunks in a temporary file. Pairs with equal
// keys stay in order. Call Append for each pair, then All, then Close. A Sorter must not be used concurrently.
type Sorter struct {
	SorterOptions
	ctx   context.Context
	fail  context.CancelCauseFunc
	order rowblock.Order // of the caller's keys
	cut   int            // bytes that are kept of a long key

	pairs  uint64 // added so far
	key    []byte // buffer of Append
	large  spool.File
	buf    []byte // of a large value
	anyCut bool   // a key is cut
	read   bool   // All has begun

	filling *chunk.Chunk
	chunks  int               // in memory, or taken for the next pairs
	sorted  chan *chunk.Chunk // chunks that are sorted
	workers sync.WaitGroup
	file    spool.File
	runs    []spool.Run // of chunks that were written
}

// NewSorter returns a Sorter. If o is nil, the defaults are used. If ctx is done, Append and All return its cause. Close
// removes the temporary files.
func NewSorter(ctx context.Context, o *SorterOptions) (*Sorter, error) {
	s := &Sorter{SorterOptions: o.withDefaults()}
	info, err := os.Stat(s.Dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: not a directory", s.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("merge: temporary files: %w", err)
	}
	s.ctx, s.fail = context.WithCancelCause(ctx)
	s.order, s.cut = rowblock.OrderOf(s.Comparer), s.limits.inline-spool.PlaceLen
	s.large.Dir, s.file.Dir = s.Dir, s.Dir
	s.sorted = make(chan *chunk.Chunk, s.limits.chunks)
	return s, s.begin()
}

func (s *Sorter) err() error { return context.Cause(s.ctx) }

// Append adds a pair, of at most 1 GiB. It does not keep the slices. After an error, Append and All return it again.
func (s *Sorter) Append(key, value []byte) error {
	err := s.append(key, value)
	if err != nil {
		s.fail(err) // the pair would be missing
	}
	return err
}

func (s *Sorter) append(key, value []byte) (err error) {
	if s.ctx.Err() != nil { // context.Cause takes a lock
		return s.err()
	}
	if s.read {
		return errRead
	}
	if n := len(key) + len(value); n > maxPair {
		return fmt.Errorf("merge: pair %d has %d bytes (maximum %d)", s.pairs+1, n, maxPair)
	}
	internal := internalkey.Key{UserKey: key, Sequence: internalkey.MaxSequence - s.pairs, Kind: hasValue}
	if len(value) > s.limits.inline {
		internal.Kind = hasPlace
		value, err = s.large.Put(value)
	}
	if err == nil && s.isCut(key) {
		var place []byte
		place, err = s.large.Put(key)
		err = cmp.Or(err, s.large.Flush()) // a comparison may read the key at once
		s.anyCut, internal.UserKey = true, slices.Concat(key[:s.cut], place)
	}
	s.pairs++
	s.key = internal.Append(s.key[:0])
	if err == nil && !s.filling.Fits(s.key, value) {
		s.sort()
		err = s.begin()
	}
	if err != nil {
		return err
	}
	s.filling.Append(s.key, value)
	return nil
}

// A Sorted is a pair of a Sorter, valid until the next one.
type Sorted struct {
	Key         []byte
	Number      uint64 // of the pair, in the order of Append, from 0
	NextSameKey bool   // the next pair has the same key

	value []byte
	s     *Sorter // if not nil, value is the place of the value in s.large
}

// Value returns the value. It is valid until the next pair.
func (p *Sorted) Value() (value []byte, err error) {
	if p.s == nil {
		return p.value, nil
	}
	buf := p.s.buf
	p.s.buf = nil // free for the garbage collector while a larger one is allocated
	p.s.buf, err = p.s.large.Get(p.value, buf)
	return p.s.buf, err
}

// errRead is returned once the pairs are being read: the chunks in memory are in use or gone then.
var errRead = errors.New("merge: the pairs of a Sorter can be read only once, after all calls of Append")

// All returns the pairs in the order of their keys, for one loop. In it and after it, Append and another loop return an
// error.
func (s *Sorter) All() iter.Seq2[*Sorted, error] {
	return func(yield func(*Sorted, error) bool) {
		if s.read {
			yield(nil, cmp.Or(s.err(), errRead))
			return
		}
		s.read = true
		defer s.fail(errRead)
		it, err := s.merged()
		last, next := new(Sorted), new(Sorted)
		for have := false; err == nil; have = true {
			var more bool
			if more, err = s.next(it, next); err != nil {
				break
			}
			last.NextSameKey = have && more && s.Comparer.Compare(last.Key, next.Key) == 0
			if have && !yield(last, nil) || !more {
				return
			}
			last, next = next, last
		}
		yield(nil, err)
	}
}

// next sets a pair to the next entry. It returns false at the end, and after an error.
func (s *Sorter) next(it *Iter, to *Sorted) (more bool, err error) {
	if s.ctx.Err() != nil || !it.Next() {
		return false, cmp.Or(it.Error(), s.err())
	}
	key, _ := internalkey.Parse(it.Key())
	to.Number, to.s = internalkey.MaxSequence-key.Sequence, nil
	to.Key, to.value = append(to.Key[:0], key.UserKey...), append(to.value[:0], it.Value()...)
	if key.Kind == hasPlace {
		to.s = s
	}
	if s.isCut(key.UserKey) {
		to.Key, err = s.large.Get(key.UserKey[s.cut:], to.Key)
	}
	return err == nil, err
}

// Close stops sorting, and removes the temporary files. Append and All then return table.ErrClosed or an earlier error.
// A second Close does nothing.
func (s *Sorter) Close() error {
	s.fail(table.ErrClosed)
	s.workers.Wait()
	return errors.Join(s.file.Close(), s.large.Close())
}
