package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// tableKeys is how many keys an ingested table has, as ours have.
const tableKeys = 1_000_000

func pebbleOptions(n int) *pebble.Options {
	o := &pebble.Options{FormatMajorVersion: pebble.FormatNewest, CacheSize: cacheBytes(n), MaxOpenFiles: 16384, Logger: quiet{}}
	for i := range o.Levels {
		o.Levels[i] = pebble.LevelOptions{BlockSize: blockSize, FilterPolicy: bloom.FilterPolicy(bitsPerKey)}
	}
	o.EnsureDefaults()
	return o
}

// quiet logs nothing. What ends the process panics.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf("pebble: "+format, args...)) }

// buildPebble writes tables, and has a new database take them over.
func buildPebble(dir string, k *keyFile) (err error) {
	db, err := pebble.Open(dir, pebbleOptions(k.n))
	if err != nil {
		return err
	}
	return errors.Join(ingest(db, dir, k), db.Close())
}

// updatePebble has a database take more tables over. It returns when nothing is compacted any more.
func updatePebble(dir string, k *keyFile) error {
	db, err := pebble.Open(dir, pebbleOptions(k.n))
	if err != nil {
		return err
	}
	err = ingest(db, dir, k)
	for db.Metrics().Compact.NumInProgress > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	return errors.Join(err, db.Close())
}

// ingest writes the keys into tables, and has the database take these over.
func ingest(db *pebble.DB, dir string, k *keyFile) error {
	var files []string
	for k.left > 0 {
		name := filepath.Join(dir, fmt.Sprint("ingested", len(files)))
		if err := writeTable(name, k); err != nil {
			return err
		}
		files = append(files, name)
	}
	return db.Ingest(context.Background(), files)
}

// writeTable writes a table of the next keys.
func writeTable(name string, k *keyFile) error {
	f, err := vfs.Default.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	o := pebbleOptions(k.n)
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), o.MakeWriterOptions(len(o.Levels)-1, o.FormatMajorVersion.MaxTableFormat()))
	err = k.each(tableKeys, func(key []byte) error { return w.Set(key, nil) })
	return errors.Join(err, w.Close())
}

// A pebbleDB is a database that is only read. It looks keys up by an iterator, which checks the
// filters of the last level.
type pebbleDB struct {
	db *pebble.DB
	it *pebble.Iterator
}

func openPebble(dir string, n int) (database, error) {
	o := pebbleOptions(n)
	o.ReadOnly = true
	o.MemTableSize = 64 << 10 // it is taken from the cache
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	it, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &pebbleDB{db, it}, nil
}

func (p *pebbleDB) Has(key []byte) (bool, error) {
	found := p.it.SeekPrefixGE(key) && bytes.Equal(p.it.Key(), key)
	return found, p.it.Error()
}

func (p *pebbleDB) NotDenied(absent sample) (int, error) {
	before := p.db.Metrics().Filter.Misses
	for i := range absent.len() {
		if _, err := p.Has(absent.at(i)); err != nil {
			return 0, err
		}
	}
	return int(p.db.Metrics().Filter.Misses - before), nil
}

func (p *pebbleDB) Close() error { return errors.Join(p.it.Close(), p.db.Close()) }
