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
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sorting"
)

// maxSortInMemory is how much memory pairs may take to be sorted without temporary files.
// pairOverhead is the memory of a pair in addition to its bytes.
const (
	maxSortInMemory = 16 << 20
	pairOverhead    = 128
)

// A sortedTable is a table of pairs that were not sorted, in memory or in a temporary file.
type sortedTable struct {
	*table.Reader
	src  io.ReaderAt
	size int64
	file sorting.TempFile
}

// newSortedTable sorts pairs into an order of user keys, and returns a table of them. Of
// pairs with equal keys, it keeps the last. If repeated is not nil, it keeps the first, and calls repeated with the key of
// each other.
func newSortedTable(pairs iter.Seq2[input.Pair, error], user table.Comparer, internal bool, repeated func(key []byte)) (*sortedTable, error) {
	o := &table.ReaderOptions{Comparer: user}
	if internal {
		o = &table.ReaderOptions{Comparer: table.InternalComparer(user)}
	}
	s := new(sortedTable)
	next, stop := iter.Pull2(pairs)
	defer stop()
	first, more, err := takePairs(next)
	switch {
	case err == nil && more:
		err = s.sortOnDisk(concatPairs(first, next), o.Comparer, user, internal, repeated)
	case err == nil:
		err = s.sortInMemory(first, o.Comparer, repeated)
	}
	if err == nil {
		s.Reader, err = table.NewReader(s.src, s.size, o)
	}
	if err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// takePairs takes pairs up to maxSortInMemory, and reports whether there may be more.
func takePairs(next func() (input.Pair, error, bool)) (first []input.Pair, more bool, err error) {
	for budget := maxSortInMemory; budget > 0; {
		pair, err, ok := next()
		if !ok || err != nil {
			return first, false, err
		}
		first = append(first, input.Pair{Key: bytes.Clone(pair.Key), Value: bytes.Clone(pair.Value)})
		budget -= len(pair.Key) + len(pair.Value) + pairOverhead
	}
	return first, true, nil
}

// concatPairs returns the first pairs, whose memory it frees, and then the next ones.
func concatPairs(first []input.Pair, next func() (input.Pair, error, bool)) iter.Seq2[input.Pair, error] {
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

func (s *sortedTable) sortInMemory(pairs []input.Pair, order table.Comparer, repeated func(key []byte)) (err error) {
	var out bytes.Buffer
	s.size, err = writeTable(&out, pairsSortedInMemory(pairs, order, repeated), order)
	s.src = bytes.NewReader(out.Bytes())
	return err
}

func (s *sortedTable) sortOnDisk(pairs iter.Seq2[input.Pair, error], order, user table.Comparer, internal bool, repeated func(key []byte)) (err error) {
	if err := s.file.Create(""); err != nil {
		return err
	}
	s.src = s.file
	o := sorting.Options{Compare: order.Compare, NotBytewise: user != table.BytewiseComparer}
	if internal {
		o.SuffixLen = format.InternalTrailerLen
	}
	out := bufio.NewWriterSize(s.file, 1<<20)
	s.size, err = writeTable(out, pairsSortedOnDisk(pairs, o, repeated), order)
	return errors.Join(err, out.Flush())
}

// writeTable writes a table of sorted pairs, and returns its size.
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

// pairsSortedInMemory returns the pairs in order, one of each key.
func pairsSortedInMemory(all []input.Pair, order table.Comparer, repeated func(key []byte)) iter.Seq2[input.Pair, error] {
	slices.SortStableFunc(all, func(a, b input.Pair) int { return order.Compare(a.Key, b.Key) })
	return func(yield func(input.Pair, error) bool) {
		for i, pair := range all {
			first := i == 0 || !bytes.Equal(pair.Key, all[i-1].Key)
			last := i+1 == len(all) || !bytes.Equal(pair.Key, all[i+1].Key)
			if keepsPair(pair.Key, first, last, repeated) && !yield(pair, nil) {
				return
			}
		}
	}
}

// keepsPair reports whether a pair is kept that is the first one of its key, or the last one: see newSortedTable.
func keepsPair(key []byte, first, last bool, repeated func(key []byte)) bool {
	if repeated == nil {
		return last
	}
	if !first {
		repeated(key)
	}
	return first
}

// pairsSortedOnDisk is pairsSortedInMemory with temporary files.
func pairsSortedOnDisk(pairs iter.Seq2[input.Pair, error], o sorting.Options, repeated func(key []byte)) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		last := true
		for r, err := range sorting.Sort(context.Background(), pairs, o) {
			if err != nil {
				yield(input.Pair{}, err)
				return
			}
			first := last
			if last = !r.NextSameKey; !keepsPair(r.Key, first, last, repeated) {
				continue
			}
			value, err := r.Value()
			if !yield(input.Pair{Key: r.Key, Value: value}, err) || err != nil {
				return
			}
		}
	}
}

// close closes the table. It does nothing for a nil sortedTable.
func (s *sortedTable) close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.Reader.Close(), s.file.Close())
}
