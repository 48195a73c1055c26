//go:build leveldb && cgo

package leveldbcgo

// #include <stdlib.h>
// #include "loops.h"
import "C"

import (
	"unsafe"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// contents are a table in C's memory.
type contents struct {
	options engine.Options
	data    *C.char
	size    C.size_t
}

func (c *contents) Open(m engine.Mode) (engine.Reader, error) { return c.open(m) }

func (c *contents) open(m engine.Mode) (*reader, error) {
	cacheBytes := 0
	if m == engine.Warm {
		cacheBytes = engine.CacheBytes
	}
	r := &reader{options: newOptions(c.options, cacheBytes)}
	if err := goError(C.ldb_open(r.options, c.data, c.size, &r.table)); err != nil {
		C.ldb_options_free(r.options)
		return nil, err
	}
	return r, nil
}

func (c *contents) OpenClose() error {
	r, err := c.open(engine.Cold)
	if err != nil {
		return err
	}
	return r.Close()
}

func (c *contents) Resident() (int64, error) {
	before := C.ldb_malloced()
	r, err := c.open(engine.Cold)
	if err != nil {
		return 0, err
	}
	after := C.ldb_malloced()
	return int64(after - before), r.Close()
}

func (c *contents) Close() error {
	C.free(unsafe.Pointer(c.data))
	return nil
}

// A reader is an open table.
type reader struct {
	options *C.ldb_options
	table   *C.ldb_table
}

func (r *reader) NewCursor() (engine.Cursor, error) {
	return &cursor{C.ldb_cursor_new(r.table)}, nil
}

func (r *reader) Counts() (engine.Counts, error) {
	return engine.Counts{Blocks: int64(C.ldb_reads(r.table)), FalsePositives: -1}, nil
}

func (r *reader) Close() error {
	C.ldb_close(r.table)
	C.ldb_options_free(r.options)
	return nil
}

type cursor struct{ c *C.ldb_cursor }

func (c *cursor) Get(keys engine.Packed, present bool) error {
	want := C.int(0)
	if present {
		want = 1
	}
	return goError(C.ldb_get(c.c, packed(keys), want))
}

func (c *cursor) Scan(backward bool) (bytes int64, err error) {
	direction := C.int(0)
	if backward {
		direction = 1
	}
	var n C.size_t
	err = goError(C.ldb_scan(c.c, direction, &n))
	return int64(n), err
}

func (c *cursor) SeekGE(keys engine.Packed) error {
	return goError(C.ldb_seek(c.c, packed(keys)))
}

func (c *cursor) Close() error {
	C.ldb_cursor_free(c.c)
	return nil
}
