package pebble

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// A store is a database of one table.
type store struct {
	fs      vfs.FS
	options engine.Options
	dbGet   bool
	keys    int
}

const (
	dbDir     = "db"
	tableFile = "table.sst"
)

// build writes the table and has an empty database take it over. The file stays
// under its own name too.
func (s *store) build(p engine.Pairs) error {
	f, err := s.fs.Create(tableFile, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if err := write(objstorageprovider.NewFileWritable(f), p, s.options); err != nil {
		return err
	}
	const ingested = "ingested.sst"
	if err := s.fs.Link(tableFile, ingested); err != nil {
		return err
	}
	o := options(s.options)
	o.FS = s.fs
	db, err := pebble.Open(dbDir, o)
	if err != nil {
		return err
	}
	return errors.Join(db.Ingest(context.Background(), []string{ingested}), db.Close())
}

// Open opens the database. Pebble reads index and filter by way of its block
// cache, so there is no doing without: Cold is a cache for little more than
// these.
func (s *store) Open(m engine.Mode) (engine.Reader, error) {
	size := int64(engine.CacheBytes)
	if m != engine.Warm {
		size = s.coldCacheBytes()
	}
	blocks := pebble.NewCache(size)
	defer blocks.Unref()
	counting := &countingFS{FS: s.fs}
	o := options(s.options)
	o.FS = s.fs
	if m == engine.Counting {
		o.FS = counting
	}
	o.Cache = blocks
	o.ReadOnly = true
	o.MemTableSize = memTableBytes
	db, err := pebble.Open(dbDir, o)
	if err != nil {
		return nil, fmt.Errorf("opening a database: %w", err)
	}
	return &reader{db: db, dbGet: s.dbGet, counts: counting}, nil
}

// memTableBytes is what the memory for writes, of which there are none, takes of
// the cache.
const memTableBytes = 64 << 10

// coldCacheBytes returns the size of a cache that holds the filter and a few
// blocks. The cache is of four parts, and a block must fit into one.
func (s *store) coldCacheBytes() int64 {
	filter := int64(s.keys) * int64(s.options.BitsPerKey) / 8
	return memTableBytes + 4*(filter+filter/4+4*engine.BlockSize)
}

// OpenClose opens and closes the table alone.
func (s *store) OpenClose() error {
	if s.dbGet {
		return engine.ErrNone
	}
	f, err := s.fs.Open(tableFile)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return err
	}
	r, err := sstable.NewReader(context.Background(), readable, options(s.options).MakeReaderOptions())
	if err != nil {
		return err
	}
	return r.Close()
}

// Resident is not measured: index and filter are in the block cache, outside of
// Go's heap.
func (s *store) Resident() (int64, error) { return 0, engine.ErrNone }

// Close frees nothing but what the collector does.
func (s *store) Close() error { return nil }
