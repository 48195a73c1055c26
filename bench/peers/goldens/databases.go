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
)

// writeDatabases writes into dir the one table that each engine's database of few
// writes has, compacted while snapshots were held.
func writeDatabases(dir, tmp string, tool *leveldb.Database) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	ops, _ := history.Of(workload.FewWrites(), nil)
	for _, engine := range []struct {
		name string
		live func(dir string) ([]history.Answer, error)
	}{
		{"goleveldb", func(dir string) ([]history.Answer, error) {
			return goleveldb.Live(dir, &opt.Options{Filter: lfilter.NewBloomFilter(10), Compression: opt.NoCompression}, ops)
		}},
		{"leveldb", func(dir string) ([]history.Answer, error) { return tool.Live(dir, ops) }},
	} {
		db := filepath.Join(tmp, engine.name)
		if _, err := engine.live(db); err != nil {
			return err
		}
		tables, err := filepath.Glob(filepath.Join(db, "*.ldb"))
		if err != nil || len(tables) != 1 {
			return fmt.Errorf("%s: %d tables, want 1: %v", engine.name, len(tables), err)
		}
		contents, err := os.ReadFile(tables[0])
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, engine.name+".ldb"), contents, 0o666); err != nil {
			return err
		}
	}
	return nil
}
