package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/bench/peers/internal/iq80"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/internal/manifest"
)

// oldEngines are engines that few machines have.
type oldEngines struct {
	leveldbTree string // of LevelDB 1.17; "": not here
	iq80        bool
}

// writeTables returns the tables of the old engines. It writes those of the engines that are
// here. The others stay as they are.
func (o oldEngines) writeTables(dir, tmp string) ([]manifest.Table, error) {
	before, err := manifest.Read(dir)
	if err != nil {
		return nil, err
	}
	var tables []manifest.Table
	for _, e := range []struct {
		name  string
		here  bool
		build func(tmp string) (producer, error)
	}{
		{"leveldb-1.17", o.leveldbTree != "", o.leveldb117},
		{"iq80", o.iq80, iq80Producer},
	} {
		if !e.here {
			for _, g := range before {
				if g.Producer == e.name {
					tables = append(tables, g)
				}
			}
			continue
		}
		tmp := filepath.Join(tmp, e.name)
		if err := os.Mkdir(tmp, 0o777); err != nil {
			return nil, err
		}
		p, err := e.build(tmp)
		if err != nil {
			return nil, err
		}
		p.name = e.name
		written, err := p.writeAll(dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
		tables = append(tables, written...)
	}
	return tables, nil
}

// leveldb117 returns LevelDB 1.17. Its filters differ from those of today for keys that end in
// bytes ≥ 0x80, which the dataset byte-edges has.
func (o oldEngines) leveldb117(tmp string) (producer, error) {
	tool, err := leveldb.BuildWith(o.leveldbTree, tmp)
	if err != nil {
		return producer{}, err
	}
	matrix := []manifest.Table{
		{File: "byte-edges.ldb", BlockSize: 4096, RestartInterval: 16, BitsPerKey: 10, Compression: "none", Dataset: "byte-edges"},
		{File: "bits-20.ldb", BlockSize: 256, RestartInterval: 16, BitsPerKey: 20, Compression: "none", Dataset: "byte-edges"},
	}
	return producer{version: tool.Version, matrix: matrix, write: tool.Write}, nil
}

// iq80Producer returns iq80's LevelDB. Its empty blocks have no restart point, as the metaindex
// of each table has.
func iq80Producer(tmp string) (producer, error) {
	tool, err := iq80.Build(tmp)
	if err != nil {
		return producer{}, err
	}
	var matrix []manifest.Table
	for _, dataset := range []string{"empty", "one", "mixed", "byte-edges"} {
		matrix = append(matrix, manifest.Table{
			File: dataset + ".ldb", BlockSize: 4096, RestartInterval: 16, BitsPerKey: manifest.NoFilter, Compression: "none", Dataset: dataset,
		})
	}
	return producer{version: tool.Version, matrix: matrix, write: tool.Write}, nil
}
