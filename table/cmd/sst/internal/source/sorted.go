package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/extern"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
)

// internalTrailer is how many bytes an internal key has behind the user's.
const internalTrailer = 8

// sortedInMemory is up to how many bytes of pairs are sorted without temporary files.
const sortedInMemory = 16 << 20

// sorted is a table of pairs that were in no order, in memory or in a temporary file.
type sorted struct {
	*table.Reader
	src  io.ReaderAt
	size int64
	file extern.Temporary
}

// sortPairs returns a table of the pairs, which have about size bytes, in an order of users'
// keys. Of pairs of one key the last counts.
func sortPairs(pairs iter.Seq2[input.Pair, error], user table.Comparer, internal bool, size int64) (*sorted, error) {
	o := &table.ReaderOptions{Comparer: user}
	if internal {
		o = &table.ReaderOptions{Comparer: table.InternalComparer(user), FilterKey: table.InternalFilterKey}
	}
	s := new(sorted)
	var err error
	if size <= sortedInMemory {
		err = s.inMemory(pairs, o.Comparer)
	} else {
		err = s.outside(pairs, o.Comparer, user, internal)
	}
	if err == nil {
		s.Reader, err = table.NewReader(s.src, s.size, o)
	}
	if err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

func (s *sorted) inMemory(pairs iter.Seq2[input.Pair, error], order table.Comparer) (err error) {
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
		o.Suffix = internalTrailer
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
func sortedHere(pairs iter.Seq2[input.Pair, error], order table.Comparer) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		var all []input.Pair
		for pair, err := range pairs {
			if err != nil {
				yield(input.Pair{}, err)
				return
			}
			all = append(all, input.Pair{Key: bytes.Clone(pair.Key), Value: bytes.Clone(pair.Value)})
		}
		slices.SortStableFunc(all, func(a, b input.Pair) int { return order.Compare(a.Key, b.Key) })
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
