package main

import (
	"fmt"
	"path/filepath"

	cockroach "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sievetable/sievetable/bench/peers/internal/pebble"
)

// tableKeys is the number of keys in an ingested table. Our tables have the same number.
const tableKeys = 1_000_000

func pebbleOptions(n int) *cockroach.Options {
	o := pebble.Options(vfs.Default, cockroach.LevelOptions{BlockSize: blockSize}, bitsPerKey, cacheBytes(n))
	o.MaxOpenFiles = 16384
	return o
}

// writePebble writes the keys into tables, and has a database ingest these.
func writePebble(dir string, k *keyFile) error {
	o := pebbleOptions(k.n)
	if err := o.FS.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var tables []string
	for k.left > 0 {
		name := filepath.Join(dir, fmt.Sprint("ingested", len(tables)))
		err := pebble.WriteTable(o.FS, name, pebble.LastLevel(o), func(set func(key, value []byte) error) error {
			return k.each(tableKeys, func(key []byte) error { return set(key, nil) })
		})
		if err != nil {
			return err
		}
		tables = append(tables, name)
	}
	return pebble.Ingest(o, dir, tables)
}

// A pebbleDB is a database that counts the keys that its filters do not rule out.
type pebbleDB struct{ *pebble.DB }

func openPebble(dir string, n int) (database, error) {
	db, err := pebble.Open(pebbleOptions(n), dir)
	return pebbleDB{db}, err
}

func (p pebbleDB) FalsePositives(absent sample) (int, error) {
	before := p.FilterMisses()
	for i := range absent.len() {
		if _, err := p.Has(absent.at(i)); err != nil {
			return 0, err
		}
	}
	return int(p.FilterMisses() - before), nil
}
