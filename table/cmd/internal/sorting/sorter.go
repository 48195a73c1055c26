package sorting

import (
	"cmp"
	"context"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// limits divide the memory.
type limits struct {
	maxInline int // pairs with more bytes go to the spill file
	chunkSize int // bytes of a chunk
	chunks    int // in memory
	workers   int // goroutines that sort or write a chunk each
}

const (
	// minMemory keeps chunks large, because merging takes 64 KiB per chunk, for up to
	// 1024 chunks.
	minMemory = 48 << 20

	// maxChunks is enough for each worker to have one, for one that is filled, and for one that
	// is sorted while another is written.
	maxChunks  = 6
	maxWorkers = 4
)

func (o Options) limits() limits {
	memory := min(max(o.Memory, minMemory), math.MaxInt)
	return limits{
		maxInline: int(min(max(256, memory>>18), 1<<10)), // about the same number of records, but larger
		chunkSize: int(memory/maxChunks) - blockLen,
		chunks:    maxChunks,
		workers:   min(maxWorkers, runtime.GOMAXPROCS(0)),
	}
}

// A sorter collects pairs in chunks, sorts each, and merges them. As soon as more chunks are
// wanted than may be in memory, it writes them to a temporary file.
type sorter struct {
	options Options
	limits
	ctx  context.Context
	fail context.CancelCauseFunc

	number  uint64 // number of the next pair
	filling *chunk
	spill   spillFile

	inMemory chan struct{} // has an element for each chunk in memory
	workers  errgroup.Group

	mu     sync.Mutex
	common []byte // what all keys of the sorted chunks start with; nil: there is none
	sorted []*chunk
	onDisk bool // sorted chunks are written to the file
	file   runFile
}

func startSorter(ctx context.Context, o Options, l limits) *sorter {
	s := &sorter{options: o, limits: l, filling: new(chunk), inMemory: make(chan struct{}, l.chunks)}
	s.inMemory <- struct{}{}
	s.ctx, s.fail = context.WithCancelCause(ctx)
	s.workers.SetLimit(l.workers)
	return s
}

// err returns why sorting ended early.
func (s *sorter) err() error { return context.Cause(s.ctx) }

// addAll adds all pairs, and waits until their chunks are sorted.
func (s *sorter) addAll(pairs iter.Seq2[input.Pair, error]) error {
	for pair, err := range pairs {
		if err == nil {
			err = s.add(pair)
		}
		if err != nil {
			return err
		}
	}
	if len(s.filling.refs) > 0 {
		s.sortInBackground(s.filling)
	}
	s.filling = nil
	s.workers.Wait()
	return cmp.Or(s.err(), s.spill.flush())
}

// nextChunk has the filled chunk sorted, and starts another one.
func (s *sorter) nextChunk() error {
	s.sortInBackground(s.filling)
	select {
	case s.inMemory <- struct{}{}:
	default:
		s.inBackground(s.writeSorted)
		select {
		case s.inMemory <- struct{}{}:
		case <-s.ctx.Done():
			return s.err()
		}
	}
	s.filling = new(chunk)
	return nil
}

func (s *sorter) sortInBackground(c *chunk) {
	s.inBackground(func() error { return s.keep(c, s.sortChunk(c)) })
}

// inBackground runs do as soon as a worker is free, unless sorting has ended.
func (s *sorter) inBackground(do func() error) {
	s.workers.Go(func() error {
		if s.ctx.Err() != nil {
			return nil
		}
		if err := do(); err != nil {
			s.fail(err)
		}
		return nil
	})
}

// keep keeps a sorted chunk, whose keys all start with common, in memory or on disk.
func (s *sorter) keep(c *chunk, common []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.common != nil {
		common = sharedPrefix(s.common, common)
	}
	s.common = common
	s.sorted = append(s.sorted, c)
	if s.onDisk {
		return s.writeLocked()
	}
	return nil
}

// writeSorted writes the sorted chunks to disk. Those that are sorted later follow.
func (s *sorter) writeSorted() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onDisk = true
	return s.writeLocked()
}

func (s *sorter) writeLocked() error {
	for len(s.sorted) > 0 {
		if err := s.file.write(s.options.Dir, s.sorted[0]); err != nil {
			return err
		}
		s.sorted = slices.Delete(s.sorted, 0, 1)
		<-s.inMemory
	}
	return nil
}

// all returns all records in order. They are merged in the background. A record is valid forever.
func (s *sorter) all() iter.Seq2[encodedRecord, error] {
	return func(yield func(encodedRecord, error) bool) {
		for c := range s.merged() {
			for _, r := range c.refs {
				if !yield(c.record(r), nil) {
					return
				}
			}
		}
		if err := s.err(); err != nil {
			yield(nil, err)
		}
	}
}

// merged returns all records in order, in small chunks.
func (s *sorter) merged() <-chan *chunk {
	out := make(chan *chunk, 4)
	s.workers.Go(func() error {
		defer close(out)
		runs, err := s.file.runs()
		if err != nil {
			s.fail(err)
		}
		for _, c := range s.sorted {
			runs = append(runs, fromChunk(c))
		}
		s.merge(runs, out)
		return nil
	})
	return out
}

// close stops sorting, and removes the temporary files.
func (s *sorter) close() {
	s.fail(context.Canceled)
	s.workers.Wait()
	s.spill.close()
	s.file.close()
}
