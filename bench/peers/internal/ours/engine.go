package ours

import (
	"bytes"
	"fmt"
	"io"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// An Engine is this module. Its tables have LevelDB's filters by data blocks or,
// with TableFilter, one filter of the whole table instead.
type Engine struct{ TableFilter bool }

// Info says that it is this module.
func (e Engine) Info() engine.Info {
	name := "sievetable"
	if e.TableFilter {
		name = "sievetable, table filter"
	}
	return engine.Info{Name: name, Version: "this tree", Go: true}
}

// writerOptions returns what a measured table is written with.
func (e Engine) writerOptions(o engine.Options) *table.WriterOptions {
	w := &table.WriterOptions{
		BlockSize:       engine.BlockSize,
		RestartInterval: engine.RestartInterval,
		Compression:     table.NoCompression,
		Concurrency:     o.Cores,
	}
	switch {
	case o.BitsPerKey == 0:
	case e.TableFilter:
		w.TableFilterPolicy = filter.NewTableBloom(o.BitsPerKey)
	default:
		w.FilterPolicy = filter.NewBloom(o.BitsPerKey)
	}
	if o.Snappy {
		w.Compression = table.Snappy
	}
	return w
}

// readerOptions returns what a measured table is read with.
func readerOptions(m engine.Mode, counts *table.Metrics) *table.ReaderOptions {
	o := &table.ReaderOptions{}
	switch m {
	case engine.Warm:
		o.Cache = table.NewCache(engine.CacheBytes)
	case engine.Counting:
		o.Metrics = counts
	}
	return o
}

// Write writes the pairs' table and discards it.
func (e Engine) Write(p engine.Pairs, o engine.Options) error {
	return e.write(io.Discard, p, o)
}

// Build writes the pairs' table to memory.
func (e Engine) Build(p engine.Pairs, o engine.Options) (engine.Table, error) {
	var out bytes.Buffer
	if err := e.write(&out, p, o); err != nil {
		return nil, err
	}
	return contents(bytes.Clone(out.Bytes())), nil
}

func (e Engine) write(out io.Writer, p engine.Pairs, o engine.Options) error {
	w, err := table.NewWriter(out, e.writerOptions(o))
	if err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	if err := p.Append(w.Append); err != nil {
		return fmt.Errorf("writing a table: %w", err)
	}
	return w.Close()
}

// contents are a table that the Engine wrote.
type contents []byte

func (c contents) open(m engine.Mode) (*reader, error) {
	r := &reader{}
	var err error
	r.Reader, err = table.NewReader(bytes.NewReader(c), int64(len(c)), readerOptions(m, &r.counts))
	return r, err
}

func (c contents) Open(m engine.Mode) (engine.Reader, error) { return c.open(m) }

func (c contents) OpenClose() error {
	r, err := c.open(engine.Cold)
	if err != nil {
		return err
	}
	return r.Close()
}

func (c contents) Resident() (int64, error) {
	return engine.HeapOf(func() (io.Closer, error) { return c.open(engine.Cold) })
}

func (c contents) Close() error { return nil }
