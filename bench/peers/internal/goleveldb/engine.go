package goleveldb

import (
	"bytes"
	"fmt"
	"io"

	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// An Engine is goleveldb's table package, its blocks' memory pooled as by its
// database. With Cache it reads as that does: all blocks, index and filter too,
// are in a block cache. It then only reads, and only warm. Without Cache it is never warm.
type Engine struct {
	Version string
	Cache   bool
}

// Info says which of both it is.
func (e Engine) Info() engine.Info {
	name := "goleveldb"
	if e.Cache {
		name += " with cache"
	}
	return engine.Info{Name: name, Version: e.Version, Go: true}
}

// options returns the options of writers and readers, as goleveldb's database sets them.
// Blocks are checked when they are read.
func options(o engine.Options) *opt.Options {
	l := &opt.Options{
		BlockSize:            engine.BlockSize,
		BlockRestartInterval: engine.RestartInterval,
		Compression:          opt.NoCompression,
		Strict:               opt.StrictBlockChecksum,
	}
	if o.BitsPerKey > 0 {
		l.Filter = filter.NewBloomFilter(o.BitsPerKey)
	}
	if o.Snappy {
		l.Compression = opt.SnappyCompression
	}
	return l
}

// Write writes the pairs' table and discards it.
func (e Engine) Write(p engine.Pairs, o engine.Options) error {
	if e.Cache || o.Cores > 1 {
		return engine.ErrNone
	}
	return write(io.Discard, p, o)
}

// Build writes the pairs' table to memory.
func (e Engine) Build(p engine.Pairs, o engine.Options) (engine.Table, error) {
	var out bytes.Buffer
	if err := write(&out, p, o); err != nil {
		return nil, err
	}
	t := contents{bytes: bytes.Clone(out.Bytes()), options: options(o)}
	if e.Cache {
		return cachedContents{t}, nil
	}
	return t, nil
}

func write(out io.Writer, p engine.Pairs, o engine.Options) error {
	w := table.NewWriter(out, options(o), nil, 0)
	if err := p.Append(w.Append); err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	return w.Close()
}

// contents are a table that the Engine wrote.
type contents struct {
	bytes   []byte
	options *opt.Options
}

func (c contents) open(m engine.Mode, blocks *cache.Cache, pool *util.BufferPool) (*reader, error) {
	src, counts := engine.Source(c.bytes, m)
	var namespace *cache.NamespaceGetter
	if blocks != nil {
		namespace = &cache.NamespaceGetter{Cache: blocks, NS: 1}
	}
	r, err := table.NewReader(src, int64(len(c.bytes)), storage.FileDesc{}, namespace, pool, c.options)
	return &reader{Reader: r, cache: blocks, counts: counts}, err
}

func (c contents) Open(m engine.Mode) (engine.Reader, error) {
	if m == engine.Warm {
		return nil, engine.ErrNone
	}
	return c.open(m, nil, pool())
}

func (c contents) OpenClose() error {
	r, err := c.open(engine.Cold, nil, nil)
	if err != nil {
		return err
	}
	return r.Close()
}

func (c contents) Resident() (int64, error) {
	return engine.HeapOf(func() (io.Closer, error) { return c.open(engine.Cold, nil, nil) })
}

func (c contents) Close() error { return nil }

// cachedContents are a table that is read with a block cache.
type cachedContents struct{ contents }

func (c cachedContents) Open(m engine.Mode) (engine.Reader, error) {
	if m != engine.Warm {
		return nil, engine.ErrNone
	}
	return c.open(m, cache.NewCache(cache.NewLRU(engine.CacheBytes)), pool())
}

func pool() *util.BufferPool { return util.NewBufferPool(engine.BlockSize + 5) }

func (cachedContents) OpenClose() error         { return engine.ErrNone }
func (cachedContents) Resident() (int64, error) { return 0, engine.ErrNone }
