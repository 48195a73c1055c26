package ours

import (
	"bytes"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
	"github.com/sievetable/sievetable/table"
)

// A reader is an open table.
type reader struct {
	*table.Reader
	counts table.Metrics
}

func (r *reader) NewCursor() (engine.Cursor, error) {
	return &cursor{r: r.Reader, it: r.NewIter(nil)}, nil
}

func (r *reader) Counts() (engine.Counts, error) {
	return engine.Counts{
		Blocks:         int64(r.counts.BlocksRead.Load()),
		FalsePositives: int64(r.counts.FilterFalsePositives.Load()),
	}, nil
}

type cursor struct {
	r   *table.Reader
	it  *table.Iter
	dst []byte
}

func (c *cursor) Get(keys engine.Packed, present bool) error {
	for i := range keys.N {
		if _, err := c.r.Get(keys.At(i)); err != nil && err != table.ErrNotFound {
			return err
		} else if (err == nil) != present {
			return engine.Wrong(keys.At(i), present)
		}
	}
	return nil
}

// AppendGet looks keys up into memory of the cursor's.
func (c *cursor) AppendGet(keys engine.Packed) (err error) {
	for i := range keys.N {
		if c.dst, err = c.r.AppendGet(c.dst[:0], keys.At(i)); err != nil {
			return err
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
		if !c.it.SeekGE(keys.At(i)) || !bytes.Equal(c.it.Key(), keys.At(i)) {
			return seekError(c.it, keys.At(i))
		}
	}
	return nil
}

func seekError(it *table.Iter, key []byte) error {
	if err := it.Error(); err != nil {
		return err
	}
	return engine.Wrong(key, true)
}

func (c *cursor) Close() error { return c.it.Close() }
