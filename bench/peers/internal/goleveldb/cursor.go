package goleveldb

import (
	"bytes"

	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// A reader is an open table.
type reader struct {
	*table.Reader
	cache  *cache.Cache // or nil
	counts *engine.CountingReaderAt
}

func (r *reader) NewCursor() (engine.Cursor, error) {
	return &cursor{r: r.Reader, it: r.NewIterator(nil, nil)}, nil
}

func (r *reader) Counts() (engine.Counts, error) {
	return engine.Counts{Blocks: r.counts.Reads.Load(), FalsePositives: -1}, nil
}

func (r *reader) Close() error {
	r.Release()
	if r.cache != nil {
		r.cache.Close(true)
	}
	return nil
}

type cursor struct {
	r  *table.Reader
	it iterator.Iterator
}

func (c *cursor) Get(keys engine.Packed, present bool) error {
	for i := range keys.N {
		key, _, err := c.r.Find(keys.At(i), true, nil)
		if err != nil && err != table.ErrNotFound {
			return err
		}
		if found := err == nil && bytes.Equal(key, keys.At(i)); found != present {
			return engine.Wrong(keys.At(i), present)
		}
	}
	return nil
}

func (c *cursor) Scan(backward bool) (bytes int64, err error) {
	first, next := c.it.First, c.it.Next
	if backward {
		first, next = c.it.Last, c.it.Prev
	}
	for ok := first(); ok; ok = next() {
		bytes += int64(len(c.it.Key()) + len(c.it.Value()))
	}
	return bytes, c.it.Error()
}

func (c *cursor) SeekGE(keys engine.Packed) error {
	for i := range keys.N {
		if !c.it.Seek(keys.At(i)) || !bytes.Equal(c.it.Key(), keys.At(i)) {
			return seekError(c.it, keys.At(i))
		}
	}
	return nil
}

func seekError(it iterator.Iterator, key []byte) error {
	if err := it.Error(); err != nil {
		return err
	}
	return engine.Wrong(key, true)
}

func (c *cursor) Close() error {
	c.it.Release()
	return c.it.Error()
}
