package main

import (
	"errors"
	"fmt"
	"testing"

	goleveldb "github.com/syndtr/goleveldb/leveldb"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table/database"
)

const smallTablesKeys = 141_400

func smallTablesKey(i int) []byte { return fmt.Appendf(nil, "key%08d", i) }

// BenchmarkOpenDatabase opens and closes a database of goleveldb with about 1,270 tables: ours without and with
// LazyTables, and goleveldb read-only, in turns. With get=true they also get a key. x- is how many times as long goleveldb
// took.
func BenchmarkOpenDatabase(b *testing.B) {
	dir := b.TempDir()
	tables := writeSmallTables(b, dir)
	for _, get := range []bool{false, true} {
		b.Run(fmt.Sprintf("get=%t", get), func(b *testing.B) {
			ours := func(name string, o *database.Options) *contender {
				return &contender{name: name, do: func(i int) error { return openOurDatabase(dir, o, i, get) }}
			}
			eager, lazy := ours("sievetable", nil), ours("sievetable-lazy", &database.Options{LazyTables: true})
			theirs := &contender{name: "goleveldb", do: func(i int) error { return openTheirDatabase(dir, i, get) }}
			inTurns(b, 1, 1, eager, lazy, theirs)
			b.ReportMetric(float64(tables), "tables")
			reportRatio(b, "sievetable", theirs, eager)
			reportRatio(b, "lazy", theirs, lazy)
		})
	}
}

func openOurDatabase(dir string, o *database.Options, i int, get bool) error {
	db, err := database.Open(dir, o)
	if err != nil {
		return err
	}
	if get {
		_, err = db.Get(smallTablesKey(i * 7919 % smallTablesKeys))
	}
	return errors.Join(err, db.Close())
}

func openTheirDatabase(dir string, i int, get bool) error {
	db, err := goleveldb.OpenFile(dir, &opt.Options{ReadOnly: true, Filter: lfilter.NewBloomFilter(10)})
	if err != nil {
		return err
	}
	if get {
		_, err = db.Get(smallTablesKey(i*7919%smallTablesKeys), nil)
	}
	return errors.Join(err, db.Close())
}

// writeSmallTables has goleveldb write a database in tables of about 100 keys, and returns how many these are.
func writeSmallTables(b *testing.B, dir string) (tables int) {
	b.Helper()
	o := &opt.Options{Filter: lfilter.NewBloomFilter(10), CompactionTableSize: 10_700, Compression: opt.NoCompression, NoSync: true}
	theirs, err := goleveldb.OpenFile(dir, o)
	for i := 0; i < smallTablesKeys && err == nil; i++ {
		err = theirs.Put(smallTablesKey(i), fmt.Appendf(nil, "%0100d", i), nil)
	}
	if err == nil {
		err = errors.Join(theirs.CompactRange(util.Range{}), theirs.Close())
	}
	noError(b, err)
	ours, err := database.Open(dir, nil)
	noError(b, err)
	defer ours.Close() // it was only read
	return len(ours.Tables())
}
