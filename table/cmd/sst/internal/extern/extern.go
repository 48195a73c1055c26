// Package extern sorts pairs outside memory.
package extern

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// Options say how pairs are sorted.
type Options struct {
	Compare func(a, b []byte) int // the order of keys
	Suffix  int                   // how many bytes at the end of each key are in no bytewise order
	Whole   bool                  // keys are in no bytewise order at all
	Memory  int64                 // about how many bytes may be taken, from 48 MiB on
	Dir     string                // for temporary files; "": where the system has them
}

// A Record is a pair, with its number in the input, from 0 on.
type Record struct {
	Key    []byte // stays valid
	Number uint64
	Again  bool // the next Record has the same key

	value []byte // or its place
	spill *spill // where that is, or nil
}

// Value returns the value, which is valid until the next Record.
func (r Record) Value() ([]byte, error) {
	if r.spill == nil {
		return r.value, nil
	}
	return r.spill.value(r.value)
}

// Sort returns the pairs in order; those of one key in that of the input.
func Sort(ctx context.Context, pairs iter.Seq2[input.Pair, error], o Options) iter.Seq2[Record, error] {
	return sortWithin(ctx, pairs, o, o.limits())
}

func sortWithin(ctx context.Context, pairs iter.Seq2[input.Pair, error], o Options, l limits) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		o.Dir = cmp.Or(o.Dir, os.TempDir())
		if err := o.check(); err != nil {
			yield(Record{}, err)
			return
		}
		s := start(ctx, o, l)
		defer s.close()
		if err := s.collect(pairs); err != nil {
			yield(Record{}, err)
			return
		}
		s.deliver(yield)
	}
}

// check is for what the library would do: make a directory that is not there.
func (o Options) check() error {
	info, err := os.Stat(o.Dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: not a directory", o.Dir)
	}
	if err != nil {
		return fmt.Errorf("temporary files: %w", err)
	}
	return nil
}

// deliver yields the Records, each when it is known whether the next has its key.
func (s *sorter) deliver(yield func(Record, error) bool) {
	var last Record
	have := false
	for b, err := range s.all() {
		var r Record
		if err == nil {
			r, err = s.decode(b)
		}
		if err != nil {
			yield(Record{}, err)
			return
		}
		last.Again = have && s.o.Compare(last.Key, r.Key) == 0
		if have && !yield(last, nil) {
			return
		}
		last, have = r, true
	}
	if have {
		yield(last, nil)
	}
}
