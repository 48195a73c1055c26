// Package sorting sorts key-value pairs that may not fit into memory, in temporary files.
package sorting

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/sievetable/sievetable/table/cmd/internal/input"
)

// Options say how to sort.
type Options struct {
	Compare     func(a, b []byte) int // compares keys
	SuffixLen   int                   // length of a suffix of each key that is not in bytewise order
	NotBytewise bool                  // Compare is not bytewise, even without the suffix
	Memory      int64                 // memory to use, about, but at least 48 MiB
	Dir         string                // directory for temporary files; "": that of the system
}

// A Record is a pair with its number in the input, counted from 0.
type Record struct {
	Key         []byte // valid forever
	Number      uint64
	NextSameKey bool // the next Record has the same key

	value     []byte     // the value, or its reference in spillFile
	spillFile *spillFile // nil: value is the value itself
}

// Value returns the value. It is valid forever.
func (r Record) Value() ([]byte, error) {
	if r.spillFile == nil {
		return r.value, nil
	}
	return r.spillFile.value(r.value)
}

// Sort returns the pairs in key order. Pairs with equal keys stay in the order of the
// input.
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
		if err := s.addAll(pairs); err != nil {
			yield(Record{}, err)
			return
		}
		s.yieldRecords(yield)
	}
}

// check checks that Dir is a directory. tempfile would create a missing one.
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

// yieldRecords yields the sorted Records. It holds each back until it has read the next
// one, to set NextSameKey.
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
