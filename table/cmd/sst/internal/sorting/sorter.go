package sorting

import (
	"context"
	"errors"
	"iter"
	"runtime"

	"github.com/lanrat/extsort"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// limits divide the memory. The library counts records, so each has few bytes.
type limits struct {
	maxInline    int // bytes of key and value from which on the value is spilled
	chunkRecords int // records that are sorted at a time
	workers      int // that sort, each a chunk
}

const (
	// minMemory keeps chunks large: each takes 64 KiB when they are merged, until there
	// are 1024 of them.
	minMemory = 48 << 20
	maxMemory = 1 << 30

	recordOverhead = headerLen + 24 // what a record takes beside its key and value
	slabLen        = 64 << 10       // which many records share
)

func (o Options) limits() limits {
	memory := int(min(max(o.Memory, minMemory), maxMemory))
	l := limits{maxInline: min(max(256, memory>>18), 1<<10), workers: 1} // about as many records, and larger ones
	if memory >= 64<<20 {
		l.workers = min(2, runtime.NumCPU())
	}
	l.chunkRecords = memory / l.chunks() / (recordOverhead + l.maxInline)
	return l
}

// chunks is how many chunks are in memory at most: one that fills, those that are sorted,
// two for each worker that wait, and two that are written.
func (l limits) chunks() int { return 1 + l.workers + 2*l.workers + 2 }

// sorter hands records to the library and takes them back in order.
type sorter struct {
	options Options
	limits

	number uint64 // of the next pair
	slab   []byte
	spill  spillFile

	in     chan encodedRecord
	sorted <-chan encodedRecord // closed when the sorting has ended and its file is gone
	failed <-chan error         // why it ended, before sorted is closed
	stop   context.CancelFunc
}

// startSorter starts the sorting, which waits for records.
func startSorter(ctx context.Context, o Options, l limits) *sorter {
	s := &sorter{options: o, limits: l, in: make(chan encodedRecord, 1<<10)}
	ctx, s.stop = context.WithCancel(ctx)
	sorting, sorted, failed := extsort.Generic(s.in, fromDisk, toDisk, s.compare, l.config(o.Dir))
	s.sorted, s.failed = sorted, failed
	go sorting.Sort(ctx)
	return s
}

func (l limits) config(dir string) *extsort.Config {
	return &extsort.Config{ChunkSize: l.chunkRecords, NumWorkers: l.workers, SortedChanBuffSize: 1 << 10, TempFilesDir: dir}
}

func fromDisk(b []byte) (encodedRecord, error) { return b, nil }
func toDisk(r encodedRecord) ([]byte, error)   { return r, nil }

// sendAll hands all pairs to the library.
func (s *sorter) sendAll(pairs iter.Seq2[input.Pair, error]) error {
	for pair, err := range pairs {
		var r encodedRecord
		if err == nil {
			r, err = s.encode(pair)
		}
		if err == nil {
			err = s.send(r)
		}
		if err != nil {
			return err
		}
	}
	close(s.in)
	return s.spill.flush()
}

func (s *sorter) send(r encodedRecord) error {
	select {
	case s.in <- r: // which costs less where nothing else is waited for
		return nil
	default:
	}
	select {
	case s.in <- r:
		return nil
	case <-s.sorted: // nothing is, before all is there: it was closed
		return s.err()
	}
}

// all returns all records in order.
func (s *sorter) all() iter.Seq2[encodedRecord, error] {
	return func(yield func(encodedRecord, error) bool) {
		for r := range s.sorted {
			if !yield(r, nil) {
				return
			}
		}
		if err := s.err(); err != nil {
			yield(nil, err)
		}
	}
}

// err returns why the sorting ended early. A key that could not be read is a panic of
// compare, to the library.
func (s *sorter) err() error {
	err := <-s.failed
	if c := (*extsort.ComparisonError)(nil); errors.As(err, &c) && c.Unwrap() != nil {
		return c.Unwrap()
	}
	return err
}

// close ends the sorting, and removes the temporary files. What is lost with them nobody
// wants any more.
func (s *sorter) close() {
	s.stop()
	for range s.sorted { // until the library has removed its file
	}
	s.spill.close()
}
