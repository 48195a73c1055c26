// Package pebble has Pebble write tables, ingest them into databases, and read those.
package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options returns options for databases in fs. All levels have the same options.
func Options(fs vfs.FS, level pebble.LevelOptions, bitsPerKey int, cacheBytes int64) *pebble.Options {
	o := &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatNewest, CacheSize: cacheBytes, Logger: quiet{}}
	level.FilterPolicy = bloom.FilterPolicy(bitsPerKey)
	for i := range o.Levels {
		o.Levels[i] = level
	}
	o.EnsureDefaults()
	return o
}

// quiet is a logger that discards messages. Fatal errors panic.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf("pebble: "+format, args...)) }

// LastLevel returns the options for tables on the last level.
func LastLevel(o *pebble.Options) sstable.WriterOptions {
	return o.MakeWriterOptions(len(o.Levels)-1, o.FormatMajorVersion.MaxTableFormat())
}

// WriteTable writes a table. pairs passes the pairs to its argument.
func WriteTable(
	fs vfs.FS, name string, o sstable.WriterOptions, pairs func(set func(key, value []byte) error) error,
) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), o)
	return errors.Join(pairs(w.Set), w.Close())
}

// Ingest has the database in dir ingest the tables. It creates the database if there is none, and returns when no
// compaction is in progress.
func Ingest(o *pebble.Options, dir string, tables []string) error {
	db, err := pebble.Open(dir, o)
	if err != nil {
		return err
	}
	err = db.Ingest(context.Background(), tables)
	for db.Metrics().Compact.NumInProgress > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	return errors.Join(err, db.Close())
}

// A DB is a read-only database. Lookups use an iterator, since it checks the filters of the last level, and
// Pebble's Get does not.
type DB struct {
	db *pebble.DB
	it *pebble.Iterator
}

// Open opens the database in dir.
func Open(o *pebble.Options, dir string) (*DB, error) {
	o.ReadOnly = true
	o.MemTableSize = MemTableBytes
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	it, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &DB{db, it}, nil
}

// MemTableBytes is the part of the cache that is reserved for writes, though there are none.
const MemTableBytes = 64 << 10

// Has looks up the key, and reads its value.
func (d *DB) Has(key []byte) (bool, error) {
	if !d.it.SeekPrefixGE(key) || !bytes.Equal(d.it.Key(), key) {
		return false, d.it.Error()
	}
	_, err := d.it.ValueAndErr()
	return err == nil, err
}

// FilterMisses returns the number of keys that the filters did not rule out.
func (d *DB) FilterMisses() int64 { return d.db.Metrics().Filter.Misses }

// Close closes the database.
func (d *DB) Close() error { return errors.Join(d.it.Close(), d.db.Close()) }
