package main

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"

	cockroach "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/ours"
	"github.com/sievetable/sievetable/bench/peers/internal/pebble"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// lookupCache is the size of a block cache that has room for the whole table.
const lookupCache = 512 << 20

// BenchmarkLookups looks up keys of W1, all of them present or all absent, in random order. With cache=full, all
// blocks are in a block cache. With cache=none, each is read from memory, checked and decompressed. Each engine
// reads a table that it wrote itself, with blocks of 4 KiB and filters of 10 bits per key. They take turns of
// 20,000 keys. Metrics are per lookup. The command in this directory draws the results.
func BenchmarkLookups(b *testing.B) {
	set := workload.W1(long.Size(10_000, 1_000_000))
	printVersions(b)
	for _, compression := range []string{"none", "snappy"} {
		b.Run("compression="+compression, func(b *testing.B) {
			t := writeLookupTables(b, set, compression)
			for _, keys := range []string{"absent", "present"} {
				for _, blocks := range []string{"full", "none"} {
					b.Run("keys="+keys+"/cache="+blocks, func(b *testing.B) { t.benchmark(b, set, keys == "present", blocks == "full") })
				}
			}
		})
	}
}

// printVersions prints the versions of the engines.
func printVersions(b *testing.B) {
	b.Helper()
	list := exec.Command("go", "list", "-m", "-f", "{{.Path}}: {{.Version}}",
		"github.com/syndtr/goleveldb", "github.com/cockroachdb/pebble/v2")
	out, err := list.Output()
	noError(b, err)
	fmt.Printf("%s", out)
	if tool, err := cxx(); err == nil {
		fmt.Printf("leveldb: %s\n", tool.Version)
	}
}

// lookupTables is W1's table, as written by each engine.
type lookupTables struct {
	shape                                  manifest.Table
	ours, tableFilter, noFilter, goleveldb []byte
	pebble                                 vfs.FS // with a database of one table
	levelDB                                string // file name; "" without C++ LevelDB
}

func writeLookupTables(t testing.TB, set workload.Set, compression string) *lookupTables {
	t.Helper()
	pairs := set.Pairs()
	l := &lookupTables{shape: manifest.Table{BlockSize: 4096, RestartInterval: 16, BitsPerKey: 10, Compression: compression}}
	o := ours.Options(l.shape)
	l.ours = tabletest.Build(t, o, pairs)
	o.FilterPolicy = nil
	l.noFilter = tabletest.Build(t, o, pairs)
	o.TableFilterPolicy = filter.NewTableBloom(l.shape.BitsPerKey)
	l.tableFilter = tabletest.Build(t, o, pairs)
	var err error
	l.goleveldb, err = goleveldb.Write(goleveldb.Options(l.shape), pairs)
	noError(t, err)
	noError(t, l.writePebble(pairs))
	tool, err := cxx()
	if errors.Is(err, cxxtool.ErrMissing) {
		return l
	}
	noError(t, err)
	contents, err := tool.Write(l.shape, pairs)
	noError(t, err)
	l.levelDB = file(t, contents)
	return l
}

// pebbleOptions returns options for databases in fs whose tables have the given shape.
func pebbleOptions(fs vfs.FS, shape manifest.Table, cacheBytes int64) *cockroach.Options {
	profile := sstable.NoCompression
	if shape.Compression == "snappy" {
		profile = sstable.SnappyCompression
	}
	return pebble.Options(fs, cockroach.LevelOptions{
		BlockSize: shape.BlockSize, BlockRestartInterval: shape.RestartInterval,
		Compression: func() *sstable.CompressionProfile { return profile },
	}, shape.BitsPerKey, cacheBytes)
}

// writePebble creates a database with one table, on its last level.
func (l *lookupTables) writePebble(pairs []workload.Pair) error {
	l.pebble = vfs.NewMem()
	o := pebbleOptions(l.pebble, l.shape, 0)
	if err := pebble.WriteTable(o.FS, "table", pebble.LastLevel(o), setAll(pairs)); err != nil {
		return err
	}
	return pebble.Ingest(o, "db", []string{"table"})
}

// setAll returns a function that sets the pairs.
func setAll(pairs []workload.Pair) func(set func(key, value []byte) error) error {
	return func(set func(key, value []byte) error) (err error) {
		for i := 0; i < len(pairs) && err == nil; i++ {
			err = set(pairs[i].Key, pairs[i].Value)
		}
		return err
	}
}

// benchmark has all engines look up the keys.
func (l *lookupTables) benchmark(b *testing.B, set workload.Set, present, cached bool) {
	keys := set.Absent
	if present {
		keys = nil
		for _, i := range set.Hits {
			keys = append(keys, set.Keys[i])
		}
	}
	workload.Pack(keys)
	chunk := min(20_000, len(keys))
	inTurns(b, 5, chunk, l.contenders(b, set, keys, chunk, present, cached)...)
	if !present && !cached {
		b.ReportMetric(l.reads(b, keys), "sievetable-reads")
	}
}

// reads returns the number of data blocks read per lookup.
func (l *lookupTables) reads(b *testing.B, keys [][]byte) float64 {
	b.Helper()
	var m table.Metrics
	get := getOurs(b, l.ours, &table.ReaderOptions{Metrics: &m})
	for _, k := range keys {
		if _, err := get(k); err != nil {
			b.Fatal(err)
		}
	}
	return float64(m.BlocksRead.Load()) / float64(len(keys))
}

// contenders opens the tables. Each part of the work looks up chunk keys.
func (l *lookupTables) contenders(t testing.TB, set workload.Set, keys [][]byte, chunk int, present, cached bool) (all []*contender) {
	t.Helper()
	rangeOf := func(i int) (from, to int) {
		from = i % (len(keys) / chunk) * chunk
		return from, from + chunk
	}
	o := &table.ReaderOptions{}
	if cached {
		o.Cache = table.NewCache(lookupCache)
	}
	for _, e := range []struct {
		name string
		has  func(key []byte) (bool, error)
	}{
		{"sievetable", getOurs(t, l.ours, o)},
		{"sievetable-table-filter", getOurs(t, l.tableFilter, o)},
		{"sievetable-no-filter", getOurs(t, l.noFilter, o)},
		{"goleveldb", l.getGoleveldb(t, cached)},
		{"Pebble", l.getPebble(t, cached, len(keys))},
	} {
		for i := 0; cached && i < len(set.Keys); i += 8 { // some of each block
			if _, err := e.has(set.Keys[i]); err != nil {
				t.Fatal(e.name, err)
			}
		}
		all = append(all, &contender{name: e.name, do: func(i int) error {
			from, to := rangeOf(i)
			return lookUp(keys[from:to], e.has, present)
		}})
	}
	if l.levelDB != "" {
		get := l.getLevelDB(t, keys, present, cached)
		all = append(all, &contender{name: "C++LevelDB", do: func(i int) error { return get(rangeOf(i)) }})
	}
	return all
}

// lookUp looks up the keys. All must be present, or all absent.
func lookUp(keys [][]byte, has func(key []byte) (bool, error), present bool) error {
	for _, k := range keys {
		if found, err := has(k); err != nil || found != present {
			return fmt.Errorf("key %q: found is %v, error %v", k, found, err)
		}
	}
	return nil
}

// Each contender reports wrong results. Otherwise, lookups that find nothing would pass as fast ones.
func TestLookupsCheckAnswers(t *testing.T) {
	t.Parallel()
	set := workload.W1(2000)
	l := writeLookupTables(t, set, "snappy")
	for _, c := range []struct {
		keys             [][]byte
		present, isWrong bool
	}{{set.Keys, true, false}, {set.Absent, false, false}, {set.Keys, false, true}, {set.Absent, true, true}} {
		for _, cached := range []bool{true, false} {
			t.Run("", func(t *testing.T) {
				for _, e := range l.contenders(t, set, c.keys, len(c.keys), c.present, cached) {
					if err := e.do(0); (err != nil) != c.isWrong {
						t.Errorf("%s: keys like %q, expected present: %v: error %v", e.name, c.keys[0], c.present, err)
					}
				}
			})
		}
	}
}
