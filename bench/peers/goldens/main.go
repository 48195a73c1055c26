// Command goldens writes the golden tables and their MANIFEST into testdata, each table with the engine that it is
// named after. It also writes filters of goleveldb and C++ LevelDB into testdata/filters, and tables of their
// databases into table/testdata/databases. It needs C++ LevelDB (Debian: libleveldb-dev). From the root:
//
//	go run ./bench/peers/goldens
//
// Two older engines wrote a few tables, too: C++ LevelDB 1.17, the last version whose filters treat the bytes at
// the end of a key as signed, and iq80's LevelDB for Java. These tables are kept, unless the engines are given by
// flags:
//
//	go run ./bench/peers/goldens -leveldb-1.17 TREE -iq80
//
// TREE is the source tree of LevelDB v1.17 in which make has run.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/machine"
	"github.com/sievetable/sievetable/bench/peers/internal/ours"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/workload"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("o", "testdata", "directory to write to")
	databases := flag.String("databases", "table/testdata/databases", "directory to write tables of databases to")
	var old oldEngines
	flag.StringVar(&old.leveldbTree, "leveldb-1.17", "", "source tree of LevelDB 1.17 in which make has run")
	flag.BoolVar(&old.iq80, "iq80", false, "write the tables of iq80's LevelDB for Java (Debian: default-jdk-headless libleveldb-java)")
	flag.Parse()
	if err := run(*dir, *databases, old); err != nil {
		log.Fatal("goldens: ", err)
	}
}

type producer struct {
	name, version string
	matrix        []manifest.Table                                              // tables to write, without their contents
	write         func(g manifest.Table, pairs []workload.Pair) ([]byte, error) // nil if the engine is missing: its tables are kept
}

func run(dir, databases string, old oldEngines) error {
	tmp, err := os.MkdirTemp("", "goldens")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	tool, err := leveldb.Build(tmp)
	if err != nil {
		return err
	}
	databaseTool, err := leveldb.BuildDatabase(tmp)
	if err != nil {
		return err
	}
	if err := writeDatabases(databases, tmp, databaseTool); err != nil {
		return err
	}
	if err := writeFilters(dir, tool); err != nil {
		return err
	}
	producers, err := old.producers(tmp)
	if err != nil {
		return err
	}
	return writeTables(dir, append(producers,
		producer{"goleveldb", machine.ModuleVersion("github.com/syndtr/goleveldb"), matrix(), func(g manifest.Table, pairs []workload.Pair) ([]byte, error) {
			return goleveldb.Write(goleveldb.Options(g), pairs)
		}},
		producer{"leveldb", tool.Version, matrix(), tool.Write},
		producer{"sievetable", "this module", slices.DeleteFunc(matrix(), isLarge), func(g manifest.Table, pairs []workload.Pair) ([]byte, error) {
			return ours.Write(ours.Options(g), pairs)
		}},
	))
}

// isLarge reports whether a table is large. Then ours is not stored: tests rebuild it from the engines' tables.
func isLarge(g manifest.Table) bool {
	return slices.Contains([]string{"many-blocks", "one-mib", "100k"}, g.Dataset)
}

// writeTables has the producers write their tables, and writes the MANIFEST.
func writeTables(dir string, producers []producer) error {
	before, err := manifest.Read(dir)
	if err != nil {
		return err
	}
	var tables []manifest.Table
	for _, p := range producers {
		if p.write == nil {
			tables = append(tables, slices.DeleteFunc(slices.Clone(before), func(g manifest.Table) bool { return g.Producer != p.name })...)
			continue
		}
		written, err := p.writeAll(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		tables = append(tables, written...)
	}
	return manifest.Write(dir, tables)
}

// writeAll writes the producer's tables, and removes everything else from its directory.
func (p producer) writeAll(dir string) ([]manifest.Table, error) {
	if err := os.RemoveAll(filepath.Join(dir, p.name)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, p.name), 0o777); err != nil {
		return nil, err
	}
	var tables []manifest.Table
	for _, g := range p.matrix {
		g.File, g.Producer, g.Version = p.name+"/"+g.File, p.name, p.version
		pairs, err := workload.Dataset(g.Dataset)
		if err != nil {
			return nil, err
		}
		contents, err := p.write(g, pairs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.File, err)
		}
		g.Pairs, g.PairsSHA256, g.SHA256 = len(pairs), workload.Digest(pairs), manifest.SHA256(contents)
		if err := os.WriteFile(filepath.Join(dir, g.File), contents, 0o666); err != nil {
			return nil, err
		}
		tables = append(tables, g)
	}
	return tables, nil
}

// matrix returns the tables that every producer writes. Each differs from the usual one in an option or the
// dataset.
func matrix() []manifest.Table {
	usual := manifest.Table{
		BlockSize: 4096, RestartInterval: 16, BitsPerKey: 10, Compression: "none", Dataset: "mixed",
	}
	var tables []manifest.Table
	add := func(name string, change func(*manifest.Table)) {
		g := usual
		change(&g)
		g.File = name + ".ldb"
		tables = append(tables, g)
	}
	for _, n := range []int{256, 1024, 4096, 16 << 10, 64 << 10} {
		add(fmt.Sprintf("block-%d", n), func(g *manifest.Table) { g.BlockSize, g.Dataset = n, "many-blocks" })
	}
	for _, n := range []int{1, 2, 3, 128} {
		add(fmt.Sprintf("restart-%d", n), func(g *manifest.Table) { g.RestartInterval = n })
	}
	for _, n := range []int{0, 1, 5, 20, 43, 44, 100} {
		add(fmt.Sprintf("bits-%d", n), func(g *manifest.Table) { g.BitsPerKey = n })
	}
	add("no-filter", func(g *manifest.Table) { g.BitsPerKey = manifest.NoFilter })
	add("snappy", func(g *manifest.Table) { g.Compression = "snappy" })
	add("snappy-block-256", func(g *manifest.Table) { g.Compression, g.BlockSize = "snappy", 256 })
	add("snappy-100k", func(g *manifest.Table) { g.Compression, g.Dataset = "snappy", "100k" })
	for _, d := range []string{"empty", "one", "empty-key", "empty-values", "one-mib", "long-prefix", "byte-edges", "100k"} {
		add(d, func(g *manifest.Table) { g.Dataset = d })
	}
	add("byte-edges-block-1", func(g *manifest.Table) { g.Dataset, g.BlockSize = "byte-edges", 1 })
	return tables
}
