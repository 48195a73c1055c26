package main

import (
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/bench/peers/internal/machine"
)

// A database is a set of keys that can be queried.
type database interface {
	Has(key []byte) (bool, error)
	Close() error
}

// A filtered database can count its filters' false positives among absent keys.
type filtered interface {
	FalsePositives(absent sample) (int, error)
}

// An engine creates sets of keys in one way.
type engine struct {
	name string
	ways []way

	sst    []string                           // flags of sst build; nil for a peer
	module string                             // of a peer
	write  func(dir string, k *keyFile) error // creates or extends a peer's database
}

// A way is a way to open a set.
type way struct {
	name string // "" if there is only one
	open func(dir string, n int) (database, error)
}

// row returns the name of a row of the engine.
func (e engine) row(w way) string {
	if w.name == "" {
		return e.name
	}
	return e.name + ", " + w.name
}

// blockSize and bitsPerKey apply to all engines that have blocks and filters.
const (
	blockSize  = 32 << 10
	bitsPerKey = 10
)

// cacheBytes returns the memory for filters, indexes and cached blocks of n keys. It is about twice the size of
// filters and indexes. All engines but bbolt get this much. Pebble and goleveldb use all of it as a block cache.
func cacheBytes(n int) int64 { return max(16<<20, 3*int64(n)) }

// filterOnly is the name of the set that consists only of filters.
const filterOnly = "set, fuse:8, filter only"

// engines returns all engines, ours first.
func engines() []engine {
	ours := []way{{"read", openSet(false)}, {"mapped", openSet(true)}}
	blocks := []string{"--block-size", fmt.Sprint(blockSize), "--bits", fmt.Sprint(bitsPerKey)}
	return []engine{
		{name: "set, bloom:10", ways: ours, sst: blocks},
		{name: "set, bloom:10+table-bloom:10", ways: ours, sst: slices.Concat(blocks, []string{"--table-filter", "table-bloom:10"})},
		{name: filterOnly, ways: ours, sst: []string{"--filter-only", "--table-filter", "fuse:8"}},
		{name: "Pebble", module: "github.com/cockroachdb/pebble/v2", ways: []way{{"", openPebble}}, write: writePebble},
		{name: "goleveldb", module: "github.com/syndtr/goleveldb", ways: []way{{"", openGoleveldb}}, write: writeGoleveldb},
		{name: "bbolt", module: "go.etcd.io/bbolt", ways: []way{{"", openBbolt}}, write: writeBbolt},
	}
}

// peers returns the names and versions of the peers.
func peers() (all [][2]string) {
	for _, e := range engines() {
		if e.module != "" {
			all = append(all, [2]string{e.name, machine.ModuleVersion(e.module)})
		}
	}
	return all
}

// findEngine returns the engine of that name.
func findEngine(name string) (engine, error) {
	all := engines()
	i := slices.IndexFunc(all, func(e engine) bool { return e.name == name })
	if i < 0 {
		return engine{}, fmt.Errorf("no engine %q", name)
	}
	return all[i], nil
}
