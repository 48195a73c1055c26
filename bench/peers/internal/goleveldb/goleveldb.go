// Package goleveldb has goleveldb write and read single tables, and work on databases.
package goleveldb

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/workload"
)

// Options returns the options for a golden table.
func Options(g manifest.Table) *opt.Options {
	o := &opt.Options{
		BlockSize:            g.BlockSize,
		BlockRestartInterval: g.RestartInterval,
		Compression:          opt.NoCompression,
	}
	if g.Compression == "snappy" {
		o.Compression = opt.SnappyCompression
	}
	if g.BitsPerKey != manifest.NoFilter {
		o.Filter = filter.NewBloomFilter(g.BitsPerKey)
	}
	return o
}

// Write builds a table of the pairs.
func Write(o *opt.Options, pairs []workload.Pair) ([]byte, error) {
	var out bytes.Buffer
	if err := workload.WriteAll(table.NewWriter(&out, o, nil, 0), pairs); err != nil {
		return nil, fmt.Errorf("goleveldb: %w", err)
	}
	return out.Bytes(), nil
}

// A Reader is a goleveldb table reader that counts its reads.
type Reader struct {
	*table.Reader
	src *countingReader
}

// Open opens a table with all of goleveldb's checks. The index and the filter are kept in memory, as in goleveldb's
// database.
func Open(contents []byte, o *opt.Options) (*Reader, error) {
	strict := *o
	strict.Strict = opt.StrictAll
	src := &countingReader{r: bytes.NewReader(contents)}
	r, err := table.NewReader(src, int64(len(contents)), storage.FileDesc{}, nil, nil, &strict)
	if err != nil {
		return nil, fmt.Errorf("goleveldb: %w", err)
	}
	return &Reader{Reader: r, src: src}, nil
}

// Reads returns the number of reads of the file.
func (r *Reader) Reads() int { return r.src.n }

// FindFiltered reports whether the table contains key. The lookup checks the filter.
func (r *Reader) FindFiltered(key []byte) (bool, error) {
	k, _, err := r.Find(key, true, nil)
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	return bytes.Equal(k, key), err
}

// Scan reads all pairs forward, then all pairs backward.
func (r *Reader) Scan() (forward, backward []workload.Pair, err error) {
	it := r.NewIterator(nil, nil)
	defer it.Release()
	read := func() workload.Pair {
		return workload.Pair{Key: bytes.Clone(it.Key()), Value: bytes.Clone(it.Value())}
	}
	for ok := it.First(); ok; ok = it.Next() {
		forward = append(forward, read())
	}
	for ok := it.Last(); ok; ok = it.Prev() {
		backward = append(backward, read())
	}
	return forward, backward, it.Error()
}

type countingReader struct {
	r io.ReaderAt
	n int
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	c.n++
	return c.r.ReadAt(p, off)
}
