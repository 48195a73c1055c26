package merge

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"

	"github.com/sievetable/sievetable/internal/encoded"
	"github.com/sievetable/sievetable/table"
)

// SorterOptions are the options of a Sorter.
type SorterOptions struct {
	// Comparer is the order of the keys. If it is nil, they are sorted bytewise.
	Comparer table.Comparer

	// Memory is about how many bytes sorting takes, beside the largest pair. The least is 48 MiB, and 0
	// means 256 MiB.
	Memory int64

	// Dir is the directory of temporary files. If it is empty, the system's is used.
	Dir string

	limits limits // tests set them
}

// limits divide the memory of a Sorter.
type limits struct {
	inline int // bytes of a pair that is sorted as a whole: larger ones are in a file
	chunk  int // bytes of a chunk
	chunks int // in memory at once
	fanIn  int // runs that are merged at once
}

const (
	minMemory     = 48 << 20
	defaultMemory = 256 << 20
	maxChunks     = 6 // one is filled, some are sorted, one is written
	maxFanIn      = 1024
	maxPair       = 1 << 30 // a table takes no larger pairs
)

func (o *SorterOptions) withDefaults() SorterOptions {
	var opts SorterOptions
	if o != nil {
		opts = *o
	}
	opts.Dir = cmp.Or(opts.Dir, os.TempDir())
	if opts.Comparer == nil {
		opts.Comparer = table.BytewiseComparer
	}
	if opts.limits == (limits{}) {
		memory := max(cmp.Or(opts.Memory, defaultMemory), minMemory)
		opts.limits = limits{int(min(max(256, memory>>18), 1<<10)), int(min(memory/maxChunks, maxChunk)), maxChunks, maxFanIn}
	}
	return opts
}

// A Sorter sorts pairs that may not fit into memory. It sorts chunks of them, writes those as tables to a
// temporary file as soon as they take more than the memory, and merges these. Pairs with equal keys stay in their
// order. The calls come in the order
//
//	NewSorter Append* All Close
//
// A Sorter is for one goroutine, and uses others itself.
type Sorter struct {
	SorterOptions
	ctx   context.Context
	fail  context.CancelCauseFunc
	order runOrder

	pairs   uint64 // added so far
	filling *chunk
	key     []byte // buffer of Append
	spill   spillFile

	free    chan *chunk // has an element for each chunk that may come into memory
	workers sync.WaitGroup

	mu     sync.Mutex // guards the following
	sorted []*chunk   // not written yet
	onDisk bool       // sorted chunks are written
	file   runFile
}

// A Sorted is a pair of a Sorter, valid until the next one.
type Sorted struct {
	Key         []byte
	Number      uint64 // of the pair: the first one that was added has number 0
	NextSameKey bool   // the next pair has the same key

	value []byte // the value, or the place of a large one in the spill file
	spill *spillFile
}

// Value returns the value. It is valid until the next pair.
func (s *Sorted) Value() ([]byte, error) {
	if s.spill == nil {
		return s.value, nil
	}
	return s.spill.value(s.value)
}

// NewSorter returns a Sorter. If o is nil, the defaults are used. After ctx ends, its methods return the cause.
// The caller must call Close, which removes the temporary files.
func NewSorter(ctx context.Context, o *SorterOptions) (*Sorter, error) {
	s := &Sorter{SorterOptions: o.withDefaults()}
	info, err := os.Stat(s.Dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: not a directory", s.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("temporary files: %w", err)
	}
	s.ctx, s.fail = context.WithCancelCause(ctx)
	order := encoded.Order(table.BlockOrder(s.Comparer))
	s.order = runOrder{s, order.Suffix, order.Func == nil || order.Suffix > 0}
	s.free = make(chan *chunk, s.limits.chunks)
	for range s.limits.chunks {
		s.free <- new(chunk)
	}
	return s, s.begin()
}

// begin begins a chunk, as soon as there is memory for it.
func (s *Sorter) begin() error {
	select {
	case s.filling = <-s.free:
		return nil
	default:
		s.write(true)
	}
	select {
	case s.filling = <-s.free:
		return nil
	case <-s.ctx.Done():
		return s.err()
	}
}

func (s *Sorter) err() error { return context.Cause(s.ctx) }

// Append adds a pair, of at most 1 GiB. It does not keep the slices.
func (s *Sorter) Append(key, value []byte) error {
	if n := len(key) + len(value); n > maxPair {
		return fmt.Errorf("merge: pair %d has %d bytes, and the limit of a pair in a table is %d", s.pairs+1, n, maxPair)
	}
	flags := uint64(0)
	s.key = append(s.key[:0], key...)
	if len(key)+len(value) > s.limits.inline {
		place, err := s.spill.write(s.Dir, key, value)
		if err != nil {
			return err
		}
		flags, value = isSpilled, place[:]
		if cut := s.cutLen(); len(key)-s.order.suffix > cut {
			if err := s.spill.flush(); err != nil { // a comparison may read the key at once
				return err
			}
			flags, s.key, value = isSpilled|isCut, append(s.key[:cut], place[:]...), nil
		}
	}
	s.key = binary.BigEndian.AppendUint64(s.key, s.pairs<<2|flags)
	s.pairs++
	if !s.filling.fits(s.key, value, s.limits.chunk) {
		s.sort(s.filling)
		if err := s.begin(); err != nil {
			return err
		}
	}
	s.filling.add(s.key, value, s.limits.chunk)
	return s.err()
}

// cutLen is how many bytes of a long key are sorted as a whole.
func (s *Sorter) cutLen() int { return s.limits.inline - placeLen - s.order.suffix }

// sort sorts a chunk in the background, if a processor is free.
func (s *Sorter) sort(c *chunk) {
	s.workers.Go(func() {
		c.sort(s.order)
		s.mu.Lock()
		s.sorted = append(s.sorted, c)
		s.mu.Unlock()
		s.write(false)
	})
}

// write writes the sorted chunks, if chunks are written. begin says that they are from now on.
func (s *Sorter) write(begin bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onDisk = s.onDisk || begin
	for s.onDisk && len(s.sorted) > 0 && s.ctx.Err() == nil {
		if err := s.file.writeRun(s, s.sorted[0].iterator()); err != nil {
			s.fail(err)
			return
		}
		s.sorted[0].reset()
		s.free <- s.sorted[0]
		s.sorted = s.sorted[1:]
	}
}

// All returns the pairs in the order of their keys. It can be called once.
func (s *Sorter) All() iter.Seq2[*Sorted, error] {
	return func(yield func(*Sorted, error) bool) {
		s.sort(s.filling)
		s.filling = nil
		s.workers.Wait()
		it, err := s.merged()
		if err := cmp.Or(err, s.spill.flush(), s.err()); err != nil {
			yield(nil, err)
			return
		}
		last, next := new(Sorted), new(Sorted)
		have := false
		for ; it.Next() && s.ctx.Err() == nil; have = true {
			if err := s.decode(next, it.Key(), it.Value()); err != nil {
				yield(nil, err)
				return
			}
			if last.NextSameKey = have && s.Comparer.Compare(last.Key, next.Key) == 0; have && !yield(last, nil) {
				return
			}
			last, next = next, last
		}
		if err := cmp.Or(it.Error(), s.err()); err != nil {
			yield(nil, err)
		} else if have {
			yield(last, nil)
		}
	}
}

// decode sets a pair to that of a run.
func (s *Sorter) decode(to *Sorted, key, value []byte) (err error) {
	number := numberOf(key)
	to.Number, to.NextSameKey, to.spill = number>>2, false, nil
	to.Key, to.value = append(to.Key[:0], key[:len(key)-numberLen]...), append(to.value[:0], value...)
	if number&isSpilled != 0 {
		to.spill = &s.spill
	}
	if number&isCut != 0 {
		place := to.Key[len(to.Key)-placeLen:]
		to.value = append(to.value[:0], place...)
		to.Key, err = s.spill.key(to.value)
	}
	return err
}

// Close stops sorting, and removes the temporary files.
func (s *Sorter) Close() error {
	s.fail(context.Canceled)
	s.workers.Wait()
	return errors.Join(s.file.Close(), s.spill.file.Close())
}
