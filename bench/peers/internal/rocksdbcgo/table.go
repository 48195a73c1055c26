//go:build rocksdb && cgo

package rocksdbcgo

// #include "loops.h"
import "C"

import "github.com/sievetable/sievetable/bench/peers/internal/engine"

// A table is a database of one table, in memory of C++'s.
type table struct{ t *C.rdb_table }

// Open opens the database, whose reads are not counted.
func (t *table) Open(m engine.Mode) (engine.Reader, error) {
	cacheBytes := 0
	switch m {
	case engine.Warm:
		cacheBytes = engine.CacheBytes
	case engine.Counting:
		return nil, engine.ErrNone
	}
	r := &reader{}
	return r, goError(C.rdb_open(t.t, C.size_t(cacheBytes), &r.r))
}

// OpenClose is not measured: RocksDB opens whole databases.
func (*table) OpenClose() error { return engine.ErrNone }

// Resident is not measured, for the same reason.
func (*table) Resident() (int64, error) { return 0, engine.ErrNone }

func (t *table) Close() error {
	C.rdb_table_free(t.t)
	return nil
}

// A reader is an open database.
type reader struct{ r *C.rdb_reader }

func (r *reader) NewCursor() (engine.Cursor, error) { return &cursor{C.rdb_cursor_new(r.r)}, nil }

func (*reader) Counts() (engine.Counts, error) { return engine.Counts{}, engine.ErrNone }

func (r *reader) Close() error {
	C.rdb_close(r.r)
	return nil
}

type cursor struct{ c *C.rdb_cursor }

func (c *cursor) Get(keys engine.Packed, present bool) error {
	want := C.int(0)
	if present {
		want = 1
	}
	return goError(C.rdb_get(c.c, packed(keys), want))
}

func (c *cursor) Scan(backward bool) (bytes int64, err error) {
	direction := C.int(0)
	if backward {
		direction = 1
	}
	var n C.size_t
	err = goError(C.rdb_scan(c.c, direction, &n))
	return int64(n), err
}

func (c *cursor) SeekGE(keys engine.Packed) error { return goError(C.rdb_seek(c.c, packed(keys))) }

func (c *cursor) Close() error {
	C.rdb_cursor_free(c.c)
	return nil
}
