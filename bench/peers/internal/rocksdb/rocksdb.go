// Package rocksdb has RocksDB databases ingest tables and read them. It compiles a small program against the
// installed library (Debian: librocksdb-dev).
package rocksdb

import (
	"embed"
	"fmt"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/internal/workload"
)

//go:embed cxx
var sources embed.FS

// A Tool is the compiled program. Each method opens the database in dir, or creates it, and closes it.
type Tool struct{ path string }

// Build compiles the program into dir.
func Build(dir string) (*Tool, error) {
	path, err := cxxtool.Compile(dir, cxxtool.Source{
		Files: sources, Name: "rocksdbtool", Header: "rocksdb/db.h", Package: "librocksdb-dev", Library: []string{"-lrocksdb"},
	})
	return &Tool{path}, err
}

// Put writes pairs.
func (t *Tool) Put(dir string, pairs []workload.Pair) error {
	_, err := cxxtool.Run(t.path, cxxtool.Pairs(pairs), "put", dir)
	return err
}

// Ingest ingests a copy of a table, after verifying all of its checksums.
func (t *Tool) Ingest(dir, file string) error {
	_, err := cxxtool.Run(t.path, nil, "ingest", dir, file)
	return err
}

// Compact rewrites all tables.
func (t *Tool) Compact(dir string) error {
	_, err := cxxtool.Run(t.path, nil, "compact", dir)
	return err
}

// Scan returns all pairs.
func (t *Tool) Scan(dir string) ([]workload.Pair, error) {
	out, err := cxxtool.Run(t.path, nil, "scan", dir)
	if err != nil {
		return nil, err
	}
	return cxxtool.ParsePairs(out), nil
}

// Found is the number of keys that lookups found or ruled out.
type Found struct {
	Got    int // by Get
	Sought int // by Seek, within the prefix of 3 bytes
	Denied int // times that a table filter ruled out a key for Get (BLOOM_FILTER_USEFUL)
}

// Get looks up keys.
func (t *Tool) Get(dir string, keys [][]byte) (f Found, err error) {
	out, err := cxxtool.Run(t.path, cxxtool.Keys(keys), "get", dir)
	if err != nil {
		return f, err
	}
	if _, err := fmt.Sscan(string(out), &f.Got, &f.Sought, &f.Denied); err != nil {
		return f, fmt.Errorf("rocksdb: get prints %q: %w", out, err)
	}
	return f, nil
}
