// Package extern sorts pairs outside memory.
package extern

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"runtime"

	"github.com/lanrat/extsort"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// Options say how pairs are sorted.
type Options struct {
	Compare func(a, b []byte) int // the order of keys
	Memory  int64                 // about how many bytes may be taken, from 20 MiB on, if keys have at most 512
	Dir     string                // for temporary files; "": where the system has them
}

// A Record is a pair, with its number in the input, from 0 on. It stays valid.
type Record struct {
	input.Pair
	Number uint64
}

// A record is sorted as bytes: its number, the length of its key, key and value. The
// value of a large one is in the spill file, and the record has its place there.
const (
	headerLen = 12
	spilled   = 1 << 31 // in the length of the key
	inline    = 1 << 10 // bytes of key and value from which on the value is spilled
	slabLen   = 64 << 10
	maxPair   = 1 << 30 // more than a table takes

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
		if err := <-s.fed; err != nil {
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
	s.fed <- s.spill.flush()
}

// encode makes a record of a pair.
func (s *sorter) encode(p input.Pair, number uint64) ([]byte, error) {
	if len(p.Key)+len(p.Value) > maxPair {
		return nil, fmt.Errorf("pair %d of the input has %d bytes, want at most %d", number+1, len(p.Key)+len(p.Value), maxPair)
	}
	value, length := p.Value, uint32(len(p.Key))
	if len(p.Key)+len(p.Value) > inline {
		place, err := s.spill.write(s.o.Dir, p.Value)
		if err != nil {
			return nil, err
		}
		value, length = place, length|spilled
	}
	n := headerLen + len(p.Key) + len(value)
	if n > cap(s.slab)-len(s.slab) {
		s.slab = make([]byte, 0, max(slabLen, n))
	}
	start := len(s.slab)
	s.slab = binary.LittleEndian.AppendUint64(s.slab, number)
	s.slab = binary.LittleEndian.AppendUint32(s.slab, length)
	s.slab = append(append(s.slab, p.Key...), value...)
	return s.slab[start:len(s.slab):len(s.slab)], nil
}

// split takes a record apart.
func split(record []byte) (number uint64, key, rest []byte, isSpilled bool) {
	length := binary.LittleEndian.Uint32(record[8:])
	end := headerLen + length&^spilled
	return binary.LittleEndian.Uint64(record), record[headerLen:end:end], record[end:], length&spilled != 0
}

func (s *sorter) compare(a, b []byte) int {
	m, ka, _, _ := split(a)
	n, kb, _, _ := split(b)
	if order := s.o.Compare(ka, kb); order != 0 {
		return order
	}
	return cmp.Compare(m, n)
}

func (s *sorter) decode(record []byte) (Record, error) {
	number, key, value, isSpilled := split(record)
	r := Record{input.Pair{Key: key, Value: value}, number}
	if !isSpilled {
		return r, nil
	}
	var err error
	r.Value, err = s.spill.read(value)
	return r, err
}
