// Package sorting sorts pairs outside memory.
package sorting

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
	Compare     func(a, b []byte) int // the order of keys
	SuffixLen   int                   // how many bytes at the end of each key are in no bytewise order
	NotBytewise bool                  // keys are in no bytewise order at all
	Memory      int64                 // about how many bytes may be taken, from 48 MiB on
	Dir         string                // for temporary files; "": where the system has them
}

// A Record is a pair, with its number in the input, from 0 on.
type Record struct {
	Key         []byte // stays valid
	Number      uint64
	NextSameKey bool // the next Record has the same key

	value     []byte     // or its place
	spillFile *spillFile // where that is, or nil
}

// Value returns the value, which is valid until the next Record.
func (r Record) Value() ([]byte, error) {
	if r.spillFile == nil {
		return r.value, nil
	}
	return r.spillFile.value(r.value)
}

// Sort returns the pairs in order; those of one key in that of the input.
func Sort(ctx context.Context, pairs iter.Seq2[input.Pair, error], o Options) iter.Seq2[Record, error] {
	return sortWithLimits(ctx, pairs, o, o.limits())
}

func sortWithLimits(ctx context.Context, pairs iter.Seq2[input.Pair, error], o Options, l limits) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		o.Dir = cmp.Or(o.Dir, os.TempDir())
		if err := o.check(); err != nil {
			yield(Record{}, err)
			return
		}
		s := startSorter(ctx, o, l)
		defer s.close()
		if err := s.sendAll(pairs); err != nil {
			yield(Record{}, err)
			return
		}
		s.yieldRecords(yield)
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

// yieldRecords yields the Records, each when it is known whether the next has its key.
func (s *sorter) yieldRecords(yield func(Record, error) bool) {
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
		last.NextSameKey = have && s.options.Compare(last.Key, r.Key) == 0
		if have && !yield(last, nil) {
			return
		}
		last, have = r, true
	}
	if have {
		yield(last, nil)
	}
}
