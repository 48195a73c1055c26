package bbolt

import (
	"bytes"

	"go.etcd.io/bbolt"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// A reader is an open file.
type reader struct{ *bbolt.DB }

func (r reader) NewCursor() (engine.Cursor, error) {
	tx, err := r.Begin(false)
	if err != nil {
		return nil, err
	}
	b := tx.Bucket(bucket)
	return &cursor{tx: tx, bucket: b, it: b.Cursor()}, nil
}

func (r reader) Counts() (engine.Counts, error) { return engine.Counts{}, engine.ErrNone }

// A cursor reads in one transaction.
type cursor struct {
	tx     *bbolt.Tx
	bucket *bbolt.Bucket
	it     *bbolt.Cursor
}

func (c *cursor) Get(keys engine.Packed, present bool) error {
	for i := range keys.N {
		if found := c.bucket.Get(keys.At(i)) != nil; found != present {
			return engine.Wrong(keys.At(i), present)
		}
	}
	return nil
}

func (c *cursor) Scan(backward bool) (n int64, err error) {
	first, next := c.it.First, c.it.Next
	if backward {
		first, next = c.it.Last, c.it.Prev
	}
	for k, v := first(); k != nil; k, v = next() {
		n += int64(len(k) + len(v))
	}
	return n, nil
}

func (c *cursor) SeekGE(keys engine.Packed) error {
	for i := range keys.N {
		if k, _ := c.it.Seek(keys.At(i)); !bytes.Equal(k, keys.At(i)) {
			return engine.Wrong(keys.At(i), true)
		}
	}
	return nil
}

func (c *cursor) Close() error { return c.tx.Rollback() }
