package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/bench/peers/internal/rocksdb"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

var cxxRocksDB = compiled(rocksdb.Build)

// external returns options for a table that a RocksDB database can ingest.
func external(o table.WriterOptions) *table.WriterOptions {
	o.Comparer, o.Properties = table.InternalComparer(nil), true
	return &o
}

// versionsOf returns entries of sequence number 0 that set the pairs, and delete those with a nil value.
func versionsOf(pairs []workload.Pair) (entries []workload.Pair) {
	for _, p := range pairs {
		k := internalkey.Key{UserKey: p.Key, Kind: internalkey.Set}
		if p.Value == nil {
			k.Kind = internalkey.Delete
		}
		entries = append(entries, workload.Pair{Key: k.Append(nil), Value: p.Value})
	}
	return entries
}

// ingest has the database in dir ingest our table of the entries.
func ingest(t *testing.T, db *rocksdb.Tool, dir string, o *table.WriterOptions, entries []workload.Pair) error {
	t.Helper()
	return db.Ingest(dir, file(t, tabletest.Build(t, o, entries)))
}

// A RocksDB database that has ingested our table contains the table's pairs, and no deleted ones. A table filter
// rules out most absent keys.
func TestRocksDBTakesOurTable(t *testing.T) {
	t.Parallel()
	db := must(t, cxxRocksDB)
	set := workload.W1(20_000)
	pairs, absent := set.Pairs(), set.Absent
	var want []workload.Pair
	for i := range pairs {
		if i%100 == 7 {
			pairs[i].Value = nil
		} else {
			want = append(want, pairs[i])
		}
	}
	for name, tt := range map[string]struct {
		o        table.WriterOptions
		ruledOut int // at least, of the absent keys
	}{
		"no filter":        {table.WriterOptions{}, 0},
		"LevelDB's filter": {table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, 0},
		"TableBloom":       {table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, len(absent) * 98 / 100},
		"both filters, raw, FilterKey": {table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterPolicy: filter.NewBloom(10),
			FilterKey: internalkey.UserKey, Compression: table.NoCompression, RestartInterval: 3}, len(absent) * 98 / 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			noError(t, ingest(t, db, dir, external(tt.o), versionsOf(pairs)))
			got, err := db.Scan(dir)
			if diff := tabletest.DiffPairs(want, got); err != nil || diff != "" {
				t.Errorf("scan: %v (-want +got):\n%s", err, diff)
			}
			found, err := db.Get(dir, set.Keys)
			if err != nil || found.Got != len(want) || found.Sought != len(want) || found.Denied > 0 {
				t.Errorf("keys of the table: %+v, %v; want %d", found, err, len(want))
			}
			found, err = db.Get(dir, absent)
			if err != nil || found.Got > 0 || found.Sought > 0 || found.Denied < tt.ruledOut || (tt.ruledOut == 0) != (found.Denied == 0) {
				t.Errorf("absent keys: %+v, %v; want none, and ≥ %d ruled out", found, err, tt.ruledOut)
			}
			t.Logf("%d of %d absent keys ruled out by the filter", found.Denied, len(absent))
		})
	}
}

// Tables that are ingested one after the other have the effect of writes in this order, before and after
// compaction.
func TestRocksDBTakesTablesInTurn(t *testing.T) {
	t.Parallel()
	db := must(t, cxxRocksDB)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng, dir := rand.New(rand.NewPCG(seed, 32)), t.TempDir()
			live := map[string][]byte{"put before": []byte("1"), "": []byte("2"), "\xff": []byte("3")}
			noError(t, db.Put(dir, sortedPairs(live)))
			for range 4 {
				pairs := someWrites(rng)
				noError(t, ingest(t, db, dir, external(someOptions(rng)), versionsOf(pairs)))
				for _, p := range pairs {
					if live[string(p.Key)] = p.Value; p.Value == nil {
						delete(live, string(p.Key))
					}
				}
				checkRocksDB(t, db, dir, live)
			}
			noError(t, db.Compact(dir))
			checkRocksDB(t, db, dir, live)
		})
	}
}

func checkRocksDB(t *testing.T, db *rocksdb.Tool, dir string, want map[string][]byte) {
	t.Helper()
	got, err := db.Scan(dir)
	if diff := tabletest.DiffPairs(sortedPairs(want), got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// sortedPairs returns pairs in the order of their keys.
func sortedPairs[V string | []byte](values map[string]V) (pairs []workload.Pair) {
	for _, k := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, workload.Pair{Key: []byte(k), Value: []byte(values[k])})
	}
	return pairs
}

// someWrites returns sets and deletions of up to 1500 keys, many of which are the same in each call.
func someWrites(rng *rand.Rand) []workload.Pair {
	values := map[string][]byte{}
	for range 1 + rng.IntN(1500) {
		key := make([]byte, rng.IntN(5))
		for i := range key {
			key[i] = "\x00\x01a\xfe\xff"[rng.IntN(5)]
		}
		values[string(key)] = nil
		if rng.IntN(4) > 0 {
			values[string(key)] = bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(300))
		}
	}
	return sortedPairs(values)
}

// someOptions returns random options.
func someOptions(rng *rand.Rand) table.WriterOptions {
	o := table.WriterOptions{BlockSize: 1 << rng.IntN(14), RestartInterval: 1 + rng.IntN(20), Concurrency: 1 + rng.IntN(3)}
	if rng.IntN(2) == 0 {
		o.Compression = table.NoCompression
	}
	if rng.IntN(2) == 0 {
		o.FilterPolicy = filter.NewBloom(rng.IntN(20))
	}
	if rng.IntN(4) > 0 {
		o.TableFilterPolicy = filter.NewTableBloom(1 + rng.IntN(20))
	}
	return o
}

// RocksDB would read other contents from these tables. So they lack a property that it requires, and it refuses
// them.
func TestRocksDBRefusesOtherTables(t *testing.T) {
	t.Parallel()
	db := must(t, cxxRocksDB)
	pairs := workload.W1(1000).Pairs()
	newer := versionsOf(pairs)
	newer[500].Key = internalkey.Key{UserKey: pairs[500].Key, Sequence: 1, Kind: internalkey.Set}.Append(nil)
	twice := slices.Insert(versionsOf(pairs), 501, versionsOf([]workload.Pair{{Key: pairs[500].Key}})...)
	parts := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterKey: func(key []byte) []byte { return key[:8] }}
	for name, tt := range map[string]struct {
		o       *table.WriterOptions
		entries []workload.Pair
	}{
		"a sequence number of 1":     {external(table.WriterOptions{}), newer},
		"a user key set and deleted": {external(table.WriterOptions{}), twice},
		"a filter of parts of keys":  {external(parts), versionsOf(pairs)},
		"keys that are not internal": {&table.WriterOptions{Properties: true}, pairs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := ingest(t, db, t.TempDir(), tt.o, tt.entries)
			if err == nil || !strings.Contains(err.Error(), "External file version not found") {
				t.Errorf("%v, want \"External file version not found\"", err)
			}
		})
	}
}
