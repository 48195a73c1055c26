package dbfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/tempfile"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/merge"
)

// MaxSortInMemory is the maximum memory for sorting pairs without temporary files. pairOverhead is the memory of
// a pair in addition to its bytes.
const (
	MaxSortInMemory = 16 << 20
	pairOverhead    = 128
)

// A SortedTable is a sorted table of pairs that came unsorted, in memory or in a temporary file.
type SortedTable struct {
	*table.Reader
	src  io.ReaderAt
	size int64
	file tempfile.File
}

// NewSortedTable sorts pairs by their keys, and returns a table of them. Of pairs with equal keys, it keeps the
// last. If repeated is not nil, it keeps the first instead, and calls repeated with the key of each other pair.
// Temporary files are in tempDir. If that is empty, the system's directory is used.
func NewSortedTable(pairs iter.Seq2[input.Pair, error], keys Stored, repeated func(key []byte), tempDir string) (*SortedTable, error) {
	next, stop := iter.Pull2(pairs)
	defer stop()
	s, order := new(SortedTable), keys.Comparer()
	first, more, err := takePairs(next)
	switch all := concatPairs(first, next); {
	case err == nil && more:
		err = s.sortOnDisk(all, order, repeated, tempDir)
	case err == nil:
		slices.SortStableFunc(first, func(a, b input.Pair) int { return order.Compare(a.Key, b.Key) })
		var out bytes.Buffer
		s.size, err = writeTable(&out, all, order, repeated)
		s.src = bytes.NewReader(out.Bytes())
	}
	if err == nil {
		s.Reader, err = table.NewReader(s.src, s.size, &table.ReaderOptions{Comparer: order})
	}
	if err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// takePairs takes pairs up to MaxSortInMemory, and reports whether there may be more.
func takePairs(next func() (input.Pair, error, bool)) (first []input.Pair, more bool, err error) {
	for budget := MaxSortInMemory; budget > 0; {
		pair, err, ok := next()
		if !ok || err != nil {
			return first, false, err
		}
		first = append(first, input.Pair{Key: bytes.Clone(pair.Key), Value: bytes.Clone(pair.Value)})
		budget -= len(pair.Key) + len(pair.Value) + pairOverhead
	}
	return first, true, nil
}

// concatPairs yields the first pairs, releasing their memory, and then the rest.
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

func (s *SortedTable) sortOnDisk(pairs iter.Seq2[input.Pair, error], order table.Comparer, repeated func(key []byte), tempDir string) (err error) {
	if err := s.file.Create(tempDir); err != nil {
		return err
	}
	s.src = s.file
	out := bufio.NewWriterSize(s.file, 1<<20)
	sorted := func(yield func(input.Pair, error) bool) {
		for r, err := range input.Sort(context.Background(), pairs, &merge.SorterOptions{Comparer: order, Dir: tempDir}) {
			p := input.Pair{Key: r.Key}
			if err == nil {
				p.Value, err = r.Value()
			}
			if !yield(p, err) {
				return
			}
		}
	}
	s.size, err = writeTable(out, sorted, order, repeated)
	return errors.Join(err, out.Flush())
}

// writeTable writes a table of sorted pairs, and returns its size. Of equal keys it keeps one: see NewSortedTable.
func writeTable(out io.Writer, pairs iter.Seq2[input.Pair, error], order table.Comparer, repeated func(key []byte)) (size int64, err error) {
	w, err := table.NewWriter(out, &table.WriterOptions{Comparer: order, Compression: table.NoCompression})
	if err != nil {
		return 0, err
	}
	var last input.Pair // a copy, written when the next key differs
	have := false
	for p, err := range pairs {
		same := err == nil && have && order.Compare(last.Key, p.Key) == 0
		if same && repeated != nil {
			repeated(p.Key)
			continue
		}
		if err == nil && have && !same {
			err = w.Append(last.Key, last.Value)
		}
		if err != nil {
			return 0, err
		}
		last, have = input.Pair{Key: append(last.Key[:0], p.Key...), Value: append(last.Value[:0], p.Value...)}, true
	}
	if have {
		err = w.Append(last.Key, last.Value)
	}
	err = errors.Join(err, w.Close())
	return w.Size(), err
}

// Close closes the table. It does nothing for a nil SortedTable.
func (s *SortedTable) Close() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.Reader.Close(), s.file.Close())
}
