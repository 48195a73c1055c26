// Package extern sorts pairs outside memory.
package extern

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"os"
	"runtime"

	"github.com/lanrat/extsort"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// Options say how pairs are sorted.
type Options struct {
	Compare func(a, b []byte) int // the order of keys
	Suffix  int                   // how many bytes at the end of each key are in no bytewise order
	Memory  int64                 // about how many bytes may be taken, from 20 MiB on
	Dir     string                // for temporary files; "": where the system has them
}

// A Record is a pair, with its number in the input, from 0 on. It stays valid.
type Record struct {
	input.Pair
	Number uint64
}

const (
	slabLen = 64 << 10
	maxPair = 1 << 30 // more than a table takes

	// minChunk is how many records are sorted at least at a time: of many small chunks
	// the merging takes for ever.
	minChunk = 4 << 10

	// chunks is how many chunks of records are in memory at a time: one that fills,
	// one for each worker, and two on their way to disk.
	chunks = 5
)

// Sort returns the pairs in order; those of one key in that of the input.
func Sort(ctx context.Context, pairs iter.Seq2[input.Pair, error], o Options) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if err := o.check(); err != nil {
			yield(Record{}, err)
			return
		}
		s := sorter{o: o, in: make(chan []byte, 1<<10), fed: make(chan error, 1)}
		defer s.spill.close()
		sorting, sorted, failed := extsort.Generic(s.in, same, same, s.compare, o.config())
		ctx, cancel := context.WithCancel(ctx)
		defer func() {
			cancel()
			for range sorted { // until the sorter has removed its file
			}
		}()
		go s.feed(ctx, pairs)
		sorting.Sort(ctx)
		if err := s.ended(ctx, failed); err != nil {
			yield(Record{}, err)
			return
		}
		for record := range sorted {
			r, err := s.decode(record)
			if !yield(r, err) || err != nil {
				return
			}
		}
		if err := <-failed; err != nil {
			yield(Record{}, err)
		}
	}
}

// ended returns how the input ended or, if it goes on, why the sorter takes no more of
// it: the input may be waited for, and is left to itself.
func (s *sorter) ended(ctx context.Context, failed <-chan error) error {
	select {
	case err := <-s.fed:
		return err
	default:
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return <-failed
}

func (o Options) check() error {
	if o.Dir == "" {
		return nil
	}
	info, err := os.Stat(o.Dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: not a directory", o.Dir)
	}
	return err
}

func (o Options) config() *extsort.Config {
	workers := min(runtime.NumCPU(), chunks-3)
	return &extsort.Config{
		ChunkSize:          int(max(minChunk, o.Memory/chunks/inline)),
		NumWorkers:         workers,
		ChanBuffSize:       0,
		SortedChanBuffSize: 1 << 10,
		TempFilesDir:       o.Dir,
	}
}

// same is how a record, which is bytes, gets to disk and back.
func same(record []byte) ([]byte, error) { return record, nil }

type sorter struct {
	o     Options
	in    chan []byte
	fed   chan error // how the input ended
	spill spill
	slab  []byte
}

// feed hands all pairs to the sorter.
func (s *sorter) feed(ctx context.Context, pairs iter.Seq2[input.Pair, error]) {
	defer close(s.in)
	number := uint64(0)
	for pair, err := range pairs {
		var record []byte
		if err == nil {
			record, err = s.encode(pair, number)
		}
		if err != nil {
			s.fed <- err
			return
		}
		number++
		select {
		case s.in <- record:
		case <-ctx.Done():
			s.fed <- ctx.Err()
			return
		}
	}
	s.fed <- nil
}

// encode makes a record of a pair.
func (s *sorter) encode(p input.Pair, number uint64) ([]byte, error) {
	if len(p.Key)+len(p.Value) > maxPair {
		return nil, fmt.Errorf("pair %d of the input has %d bytes, want at most %d", number+1, len(p.Key)+len(p.Value), maxPair)
	}
	key, value, length := p.Key, p.Value, uint32(len(p.Key))
	if len(p.Key)+len(p.Value) > inline {
		place, err := s.spill.write(s.o.Dir, p.Key, p.Value)
		if err != nil {
			return nil, err
		}
		value, length = place, length|spilled
		if len(key)-s.o.Suffix > keyInline {
			key, length = key[:keyInline], keyInline|spilled|cut
		}
	}
	n := headerLen + len(key) + len(value)
	if n > cap(s.slab)-len(s.slab) {
		s.slab = make([]byte, 0, max(slabLen, n))
	}
	start := len(s.slab)
	s.slab = binary.LittleEndian.AppendUint64(s.slab, number)
	s.slab = binary.LittleEndian.AppendUint32(s.slab, length)
	s.slab = append(append(s.slab, key...), value...)
	return s.slab[start:len(s.slab):len(s.slab)], nil
}

func (s *sorter) decode(b []byte) (r Record, err error) {
	record := split(b)
	r = Record{input.Pair{Key: record.key, Value: record.value}, record.number}
	if record.isSpilled {
		r.Key, r.Value, err = s.spill.read(record.value)
	}
	return r, err
}
