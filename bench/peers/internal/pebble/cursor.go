package pebble

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// A reader is an open database.
type reader struct {
	db     *pebble.DB
	dbGet  bool
	counts *countingFS
}

func (r *reader) NewCursor() (engine.Cursor, error) {
	if r.dbGet {
		return getCursor{r.db}, nil
	}
	filtered, err := r.db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return nil, err
	}
	scan, err := r.db.NewIter(nil)
	if err != nil {
		return nil, errors.Join(err, filtered.Close())
	}
	return &cursor{filtered: filtered, scan: scan}, nil
}

func (r *reader) Counts() (engine.Counts, error) {
	return engine.Counts{Blocks: r.counts.reads.Load(), FalsePositives: -1}, nil
}

func (r *reader) Close() error { return r.db.Close() }

// A cursor looks keys up with an iterator, and moves with another.
type cursor struct {
	filtered, scan *pebble.Iterator
}

func (c *cursor) Get(keys engine.Packed, present bool) error {
	for i := range keys.N {
		found := c.filtered.SeekPrefixGE(keys.At(i)) && bytes.Equal(c.filtered.Key(), keys.At(i))
		if found {
			if _, err := c.filtered.ValueAndErr(); err != nil {
				return err
			}
		}
		if found != present {
			return seekError(c.filtered, keys.At(i), present)
		}
	}
	return c.filtered.Error()
}

func seekError(it *pebble.Iterator, key []byte, present bool) error {
	if err := it.Error(); err != nil {
		return err
	}
	return engine.Wrong(key, present)
}

func (c *cursor) Scan(backward bool) (bytes int64, err error) {
	first, next := c.scan.First, c.scan.Next
	if backward {
		first, next = c.scan.Last, c.scan.Prev
	}
	for ok := first(); ok; ok = next() {
		bytes += int64(len(c.scan.Key()) + len(c.scan.Value()))
	}
	return bytes, c.scan.Error()
}

func (c *cursor) SeekGE(keys engine.Packed) error {
	for i := range keys.N {
		if !c.scan.SeekGE(keys.At(i)) || !bytes.Equal(c.scan.Key(), keys.At(i)) {
			return seekError(c.scan, keys.At(i), true)
		}
	}
	return nil
}

func (c *cursor) Close() error {
	return errors.Join(c.filtered.Close(), c.scan.Close())
}

// A getCursor looks keys up with the database's Get.
type getCursor struct{ db *pebble.DB }

func (c getCursor) Get(keys engine.Packed, present bool) error {
	for i := range keys.N {
		if found, err := c.get(keys.At(i)); err != nil {
			return err
		} else if found != present {
			return engine.Wrong(keys.At(i), present)
		}
	}
	return nil
}

func (c getCursor) get(key []byte) (found bool, err error) {
	_, closer, err := c.db.Get(key)
	if err == pebble.ErrNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, closer.Close()
}

func (getCursor) Scan(bool) (int64, error)   { return 0, engine.ErrNone }
func (getCursor) SeekGE(engine.Packed) error { return engine.ErrNone }
func (getCursor) Close() error               { return nil }
