package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/extern"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// sortedInMemory is how much memory pairs may take that are sorted without temporary files,
// and pairOverhead what each takes beside its bytes.
const (
	sortedInMemory = 16 << 20
	pairOverhead   = 128
)

// sorted is a table of pairs that were in no order, in memory or in a temporary file.
type sorted struct {
	*table.Reader
	src  io.ReaderAt
	size int64
	file extern.Temporary
}

// sortPairs returns a table of the pairs, in an order of users' keys. Of pairs of one key
// the last counts.
func sortPairs(pairs iter.Seq2[input.Pair, error], user table.Comparer, internal bool) (*sorted, error) {
	o := &table.ReaderOptions{Comparer: user}
	if internal {
		o = &table.ReaderOptions{Comparer: table.InternalComparer(user)}
	}
	s := new(sorted)
	next, stop := iter.Pull2(pairs)
	defer stop()
	first, more, err := gather(next)
	switch {
	case err == nil && more:
		err = s.outside(chain(first, next), o.Comparer, user, internal)
	case err == nil:
		err = s.inMemory(first, o.Comparer)
	}
	if err == nil {
		s.Reader, err = table.NewReader(s.src, s.size, o)
	}
	if err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// gather takes pairs as long as there is memory for them, and reports whether there may be
// more.
func gather(next func() (input.Pair, error, bool)) (first []input.Pair, more bool, err error) {
	for room := sortedInMemory; room > 0; {
		pair, err, ok := next()
		if !ok || err != nil {
			return first, false, err
		}
		first = append(first, input.Pair{Key: bytes.Clone(pair.Key), Value: bytes.Clone(pair.Value)})
		room -= len(pair.Key) + len(pair.Value) + pairOverhead
	}
	return first, true, nil
}

// chain returns the first pairs, which it lets go of, and then the next ones.
func chain(first []input.Pair, next func() (input.Pair, error, bool)) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		for i, pair := range first {
			if first[i] = (input.Pair{}); !yield(pair, nil) {
				return
			}
		}
		for {
			pair, err, ok := next()
			if !ok || !yield(pair, err) {
				return
			}
		}
	}
}

func (s *sorted) inMemory(pairs []input.Pair, order table.Comparer) (err error) {
	var out bytes.Buffer
	s.size, err = writeTable(&out, sortedHere(pairs, order), order)
	s.src = bytes.NewReader(out.Bytes())
	return err
}

func (s *sorted) outside(pairs iter.Seq2[input.Pair, error], order, user table.Comparer, internal bool) (err error) {
	if err := s.file.Create(""); err != nil {
		return err
	}
	s.src = s.file
	o := extern.Options{Compare: order.Compare, Whole: user != table.BytewiseComparer}
	if internal {
		o.Suffix = format.InternalTrailerLen
	}
	out := bufio.NewWriterSize(s.file, 1<<20)
	s.size, err = writeTable(out, sortedOutside(pairs, o), order)
	return errors.Join(err, out.Flush())
}

// writeTable writes a table of the pairs, which are in order, and returns its size.
func writeTable(out io.Writer, pairs iter.Seq2[input.Pair, error], order table.Comparer) (size int64, err error) {
	w, err := table.NewWriter(out, &table.WriterOptions{Comparer: order, Compression: table.NoCompression})
	if err != nil {
		return 0, err
	}
	for pair, err := range pairs {
		if err == nil {
			err = w.Append(pair.Key, pair.Value)
		}
		if err != nil {
			return 0, err
		}
	}
	err = w.Close()
	return w.Size(), err
}

// sortedHere returns the pairs in order.
func sortedHere(all []input.Pair, order table.Comparer) iter.Seq2[input.Pair, error] {
	slices.SortStableFunc(all, func(a, b input.Pair) int { return order.Compare(a.Key, b.Key) })
	return func(yield func(input.Pair, error) bool) {
		for i, pair := range all {
			again := i+1 < len(all) && bytes.Equal(pair.Key, all[i+1].Key)
			if !again && !yield(pair, nil) {
				return
			}
		}
	}
}

// sortedOutside is sortedHere with temporary files.
func sortedOutside(pairs iter.Seq2[input.Pair, error], o extern.Options) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		for r, err := range extern.Sort(context.Background(), pairs, o) {
			if err != nil {
				yield(input.Pair{}, err)
				return
			}
			if r.Again {
				continue
			}
			value, err := r.Value()
			if !yield(input.Pair{Key: r.Key, Value: value}, err) || err != nil {
				return
			}
		}
	}
}

// close closes the table, if there is one.
func (s *sorted) close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.Reader.Close(), s.file.Close())
}
