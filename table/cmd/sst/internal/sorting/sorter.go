package sorting

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"

	"github.com/lanrat/extsort"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// limits divide the memory. extsort bounds the number of records in memory, not their
// bytes, so each record must be small.
type limits struct {
	maxInline    int // pairs with more bytes go to the spill file
	chunkRecords int // records per chunk
	workers      int // goroutines that sort a chunk each
}

const (
	// minMemory keeps chunks large, because merging takes 64 KiB per chunk, for up to
	// 1024 chunks.
	minMemory = 48 << 20
	maxMemory = 1 << 30

	recordOverhead = headerLen + 24 // memory of a record in addition to key and value
	slabLen        = 64 << 10       // allocated at once for many records
)

func (o Options) limits() limits {
	memory := int(min(max(o.Memory, minMemory), maxMemory))
	l := limits{maxInline: min(max(256, memory>>18), 1<<10), workers: 1} // about the same number of records, but larger
	if memory >= 64<<20 {
		l.workers = min(2, runtime.NumCPU())
	}
	l.chunkRecords = memory / l.chunks() / (recordOverhead + l.maxInline)
	return l
}

// chunks is the maximum number of chunks in memory: one that is filled, one per worker that
// is sorted, two per worker that wait, and two that are written.
func (l limits) chunks() int { return 1 + l.workers + 2*l.workers + 2 }

// A sorter sends records to extsort, and receives them in order.
type sorter struct {
	options Options
	limits

	number uint64 // number of the next pair
	slab   []byte
	spill  spillFile

	in     chan encodedRecord
	sorted <-chan encodedRecord // closed when sorting has ended and its temporary file is removed
	failed <-chan error         // the error, sent before sorted is closed
	stop   context.CancelFunc
}

// startSorter starts sorting, which waits for records.
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

// sendAll sends all pairs to extsort.
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
	case s.in <- r: // a select with one case is cheaper
		return nil
	default:
	}
	select {
	case s.in <- r:
		return nil
	case <-s.sorted: // closed early, because there are no sorted records yet
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

// err returns why sorting ended early. For extsort, a key that cannot be read is a panic in
// compare.
func (s *sorter) err() error {
	err := <-s.failed
	if c := (*extsort.ComparisonError)(nil); errors.As(err, &c) && c.Unwrap() != nil {
		return c.Unwrap()
	}
	if errors.As(err, new(*fs.PathError)) {
		return fmt.Errorf("temporary file: %w", nameless(err))
	}
	return err
}

// close stops sorting, and removes the temporary files.
func (s *sorter) close() {
	s.stop()
	for range s.sorted { // wait until extsort has removed its file
	}
	s.spill.close()
}
