// Package pebble has Pebble write and read single tables, for measuring. A
// table is read as its database reads it: it is the only one of a database in
// memory, on the last level.
package pebble

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// format is the newest, as a new database would have it.
const format = pebble.FormatNewest

// An Engine is Pebble. It looks keys up by an iterator with the option to check the last
// level's filter. With DBGet it uses the database's Get, which does not check that filter,
// and can do nothing but look keys up.
type Engine struct {
	Version string
	DBGet   bool
}

// Info says which of both it is.
func (e Engine) Info() engine.Info {
	name := "Pebble iterator"
	if e.DBGet {
		name = "Pebble DB.Get"
	}
	return engine.Info{Name: name, Version: e.Version, Go: true}
}

// options are those of the database and, by way of MakeWriterOptions, of its
// tables.
func options(o engine.Options) *pebble.Options {
	p := &pebble.Options{
		FormatMajorVersion: format,
		Logger:             quiet{},
	}
	profile := sstable.NoCompression
	if o.Snappy {
		profile = sstable.SnappyCompression
	}
	for i := range p.Levels {
		p.Levels[i] = pebble.LevelOptions{
			BlockSize:            engine.BlockSize,
			BlockRestartInterval: engine.RestartInterval,
			Compression:          func() *sstable.CompressionProfile { return profile },
			FilterPolicy:         bloom.FilterPolicy(o.BitsPerKey),
		}
	}
	p.EnsureDefaults()
	return p
}

// Write writes the pairs' table and discards it.
func (e Engine) Write(p engine.Pairs, o engine.Options) error {
	if e.DBGet || o.Cores > 1 {
		return engine.ErrNone
	}
	return write(discard{}, p, o)
}

func write(out objstorage.Writable, p engine.Pairs, o engine.Options) error {
	w := sstable.NewWriter(out, options(o).MakeWriterOptions(len(pebble.Options{}.Levels)-1, format.MaxTableFormat()))
	if err := p.Append(w.Set); err != nil {
		w.Close()
		return fmt.Errorf("writing a table: %w", err)
	}
	return w.Close()
}

// Build makes a database of one table.
func (e Engine) Build(p engine.Pairs, o engine.Options) (engine.Table, error) {
	t := &store{fs: vfs.NewMem(), options: o, dbGet: e.DBGet, keys: p.Keys.N}
	if err := t.build(p); err != nil {
		return nil, fmt.Errorf("making a database: %w", err)
	}
	return t, nil
}

// discard is a sink for a table.
type discard struct{}

func (discard) Write([]byte) error { return nil }
func (discard) Finish() error      { return nil }
func (discard) Abort()             {}

// quiet logs nothing but what ends the program.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}

func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf("pebble: "+format, args...)) }
