package main

import (
	"strings"

	"github.com/sievetable/sievetable/bench/peers/internal/bbolt"
	"github.com/sievetable/sievetable/bench/peers/internal/engine"
	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldbcgo"
	"github.com/sievetable/sievetable/bench/peers/internal/measure"
	"github.com/sievetable/sievetable/bench/peers/internal/ours"
	"github.com/sievetable/sievetable/bench/peers/internal/pebble"
	"github.com/sievetable/sievetable/bench/peers/internal/rocksdbcgo"
)

// columns are the engines, ours first.
func columns() []measure.Column {
	goleveldbVersion := engine.ModuleVersion("github.com/syndtr/goleveldb")
	pebbleVersion := engine.ModuleVersion("github.com/cockroachdb/pebble/v2")
	var all []measure.Column
	for _, e := range []engine.Engine{
		ours.Engine{},
		ours.Engine{TableFilter: true},
		goleveldb.Engine{Version: goleveldbVersion},
		goleveldb.Engine{Version: goleveldbVersion, Cache: true},
		pebble.Engine{Version: pebbleVersion},
		pebble.Engine{Version: pebbleVersion, DBGet: true},
		bbolt.Engine{Version: engine.ModuleVersion("go.etcd.io/bbolt")},
	} {
		all = append(all, measure.Column{Name: e.Info().Name, Engine: e})
	}
	for _, c := range libraries {
		all = append(all, c.column())
	}
	return all
}

// A library is an engine of C++, which programs built with the tag have.
type library struct {
	name, tag string
	engine    func() (engine.Engine, error)
}

var libraries = []library{{"C++ LevelDB", "leveldb", leveldbcgo.New}, {"RocksDB", "rocksdb", rocksdbcgo.New}}

func (c library) column() measure.Column {
	e, err := c.engine()
	if err != nil {
		return measure.Column{Name: c.name, Err: err}
	}
	return measure.Column{Name: e.Info().Name, Engine: e}
}

// command returns what was run, so that it can be run again.
func command(args []string) string {
	words := []string{"go", "run"}
	var tags []string
	for _, c := range libraries {
		if c.column().Err == nil {
			tags = append(tags, c.tag)
		}
	}
	if tags != nil {
		words = append(words, "-tags", strings.Join(tags, ","))
	}
	words = append(words, "./bench/peers")
	for _, a := range args {
		if strings.ContainsAny(a, " |()*$?[]\\") {
			a = "'" + a + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}
