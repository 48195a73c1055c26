package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// A merged is an iterator over several tables.
type merged struct {
	db *pebble.DB // or nil
	it *pebble.Iterator
}

// Merge has a database take over the tables one by one. They overlap, so each gets a level or a
// sublevel of its own. They are not compacted.
func (Engine) Merge(parts []engine.Pairs, o engine.Options) (_ engine.Merged, err error) {
	blocks := pebble.NewCache(engine.CacheBytes)
	defer blocks.Unref()
	po := options(o)
	po.FS = vfs.NewMem()
	po.Cache = blocks
	po.DisableAutomaticCompactions = true
	po.L0StopWritesThreshold = 1 + len(parts)
	m := &merged{}
	if m.db, err = pebble.Open(dbDir, po); err != nil {
		return nil, err
	}
	for i, p := range parts {
		name := fmt.Sprint(i, ".sst")
		err := create(po.FS, name, p, o)
		if err == nil {
			err = m.db.Ingest(context.Background(), []string{name})
		}
		if err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	if m.it, err = m.db.NewIter(nil); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// create writes a table to a file.
func create(fs vfs.FS, name string, p engine.Pairs, o engine.Options) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return write(objstorageprovider.NewFileWritable(f), p, o)
}

func (m *merged) Scan(backward bool) (bytes int64, err error) {
	return (&cursor{scan: m.it}).Scan(backward)
}

func (m *merged) SeekScan(keys engine.Packed, n int) (sum int64, err error) {
	for i := range keys.N {
		if !m.it.SeekGE(keys.At(i)) || !bytes.Equal(m.it.Key(), keys.At(i)) {
			return 0, seekError(m.it, keys.At(i), true)
		}
		for range n {
			if !m.it.Next() {
				break
			}
			sum += int64(len(m.it.Key()) + len(m.it.Value()))
		}
	}
	return sum, m.it.Error()
}

func (m *merged) Close() (err error) {
	if m.it != nil {
		err = m.it.Close()
	}
	if m.db != nil {
		err = errors.Join(err, m.db.Close())
	}
	return err
}

// External is Pebble's merging of tables that are in no database. It has no cache of blocks.
type External struct{}

// Merge opens the tables as files, each as a level of its own.
func (External) Merge(parts []engine.Pairs, o engine.Options) (engine.Merged, error) {
	fs := vfs.NewMem()
	var levels [][]sstable.ReadableFile
	for i, p := range parts {
		name := fmt.Sprint(i, ".sst")
		if err := create(fs, name, p, o); err != nil {
			return nil, err
		}
		f, err := fs.Open(name)
		if err != nil {
			return nil, err
		}
		levels = append(levels, []sstable.ReadableFile{f})
	}
	it, err := pebble.NewExternalIter(options(o), nil, levels)
	if err != nil {
		return nil, err
	}
	return &merged{it: it}, nil
}
