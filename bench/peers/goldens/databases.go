package main

import (
	"fmt"
	"os"
	"path/filepath"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/history"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table/database"
)

// writeDatabases has each engine perform a few writes, and compact its database while snapshots are held. It writes
// the one table of each database to dir.
func writeDatabases(dir, tmp string, tool *leveldb.Database) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, engine := range []struct {
		name string
		live func(dir string) ([]history.Answer, error)
	}{
		{"goleveldb", liveGoleveldb},
		{"leveldb", func(dir string) ([]history.Answer, error) { return tool.Live(dir, fewOps()) }},
	} {
		db := filepath.Join(tmp, engine.name)
		if _, err := engine.live(db); err != nil {
			return err
		}
		contents, err := onlyTable(db)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, engine.name+".ldb"), contents, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func fewOps() []history.Op {
	ops, _ := history.Of(workload.FewWrites(), nil)
	return ops
}

func liveGoleveldb(dir string) ([]history.Answer, error) {
	return goleveldb.Live(dir, &opt.Options{Filter: lfilter.NewBloomFilter(10), Compression: opt.NoCompression}, fewOps())
}

// onlyTable returns the only table of a database. dir may contain other files that goleveldb has not removed.
func onlyTable(dir string) ([]byte, error) {
	db, err := database.Open(dir, nil)
	if err != nil {
		return nil, err
	}
	tables := db.Tables()
	if err := db.Close(); err != nil || len(tables) != 1 {
		return nil, fmt.Errorf("%s: %d tables, want 1: %v", dir, len(tables), err)
	}
	return os.ReadFile(filepath.Join(dir, tables[0].Name))
}
