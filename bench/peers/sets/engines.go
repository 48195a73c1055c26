package main

import (
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/bench/peers/internal/machine"
)

// A database has keys, and is asked for them.
type database interface {
	Has(key []byte) (bool, error)
	Close() error
}

// A denier is a database that tells how many lookups it could not answer from filters alone. For a set of
// filters these are the keys that may be present.
type denier interface {
	NotDenied(absent sample) (int, error)
}

// An engine makes sets of keys in one way.
type engine struct {
	name string
	ways []way

	sst    []string                           // the flags of sst build that make it; nil: it is a peer
	module string                             // the peer's
	write  func(dir string, k *keyFile) error // creates its database or adds to it
}

// A way is one of those to open a set.
type way struct {
	name string // "" if there is but one
	open func(dir string, n int) (database, error)
}

// row returns the name of the engine's row.
func (e engine) row(w way) string {
	if w.name == "" {
		return e.name
	}
	return e.name + ", " + w.name
}

// blockSize and bitsPerKey are those of all engines that have blocks and filters.
const (
	blockSize  = 32 << 10
	bitsPerKey = 10
)

// cacheBytes returns how much memory filters, indexes and cached blocks of n keys may take, about twice
// what filters and indexes take. All but bbolt have so much. Pebble and goleveldb have all of it in a
// block cache.
func cacheBytes(n int) int64 { return max(16<<20, 3*int64(n)) }

// filterOnly is the set that has no keys.
const filterOnly = "set, fuse:8, filter only"

// engines are all engines, ours first.
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

// peers returns names and versions of the peers.
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
