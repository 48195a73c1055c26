package table_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// For any table and keys, GetMany agrees with a loop of Get, with fewer reads.
func TestGetManyIsManyGets(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(16, 1))
	for round := range long.Rounds(8, 100) {
		wo := anyOptions(rng)
		pairs := anyPairs(rng, wo.Comparer)
		contents := build(t, &wo, pairs)
		o := anyBatch(rng)
		ro := table.ReaderOptions{Comparer: wo.Comparer, FilterKey: wo.FilterKey, Codecs: []table.Codec{deflate{}}, IgnoreFilter: rng.IntN(4) == 0}
		if size := pick(rng, 0, 10_000, 64<<20); size > 0 {
			ro.Cache = table.NewCache(int64(size))
		}
		name := fmt.Sprintf("round %d: %d entries, %s, %s, %+v", round, len(pairs), wo.Comparer.Name(), wo.FilterPolicy, o)
		keys := someKeys(rng, pairs)
		r, s := openStore(t, contents, &ro)
		if _, err := getMany(r, keys, &o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checkReads(t, name, r, s, keys, &o)
		checkGetMany(t, name+", then", r, keys, &o)
	}
}

func anyBatch(rng *rand.Rand) table.GetManyOptions {
	return table.GetManyOptions{Concurrency: 1 + rng.IntN(8), Gap: pick(rng, 0, 1, 5000, 1<<30)}
}

// someKeys returns keys that are among the pairs, some of them twice, and others.
func someKeys(rng *rand.Rand, pairs []workload.Pair) [][]byte {
	keys := [][]byte{nil, []byte("k")}
	for range rng.IntN(400) {
		if len(pairs) == 0 {
			break
		}
		key := pairs[rng.IntN(len(pairs))].Key
		if rng.IntN(3) == 0 {
			near := around(key)
			key = near[rng.IntN(len(near))]
		}
		keys = append(keys, key)
	}
	return keys
}

// In a corrupt table, GetMany finds no other values than Get, and fails only because of corruption.
func TestGetManyOfDamagedTables(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(16, 2))
	pairs, step := numbered(60), 5
	switch {
	case long.Enabled():
		step = 1
	case long.Race, testing.Short():
		step = 20
	}
	for name, contents := range smallTables(t, pairs) {
		for i := 0; i < len(contents); i += step {
			changed := bytes.Clone(contents)
			changed[i] ^= 1 << rng.IntN(8)
			if rng.IntN(2) == 0 {
				rawtable.Repair(changed)
			}
			checkDamaged(t, fmt.Sprintf("%s, byte %d", name, i), changed, someKeys(rng, pairs), anyBatch(rng))
		}
	}
	for _, tt := range damagedBlocks() {
		p := sound()
		p.data2 = tt.block
		checkDamaged(t, tt.name, p.build(), [][]byte{{'a'}, {'d'}, {'c'}, {'b'}, {'c'}}, anyBatch(rng))
	}
}

// checkDamaged compares GetMany with Get, without a cache and with one.
func checkDamaged(t *testing.T, name string, contents []byte, keys [][]byte, o table.GetManyOptions) {
	t.Helper()
	for _, size := range []int64{0, 10_000} {
		ro := table.ReaderOptions{Cache: table.NewCache(size)}
		r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), &ro)
		if err == nil {
			checkGetMany(t, name, r, keys, &o)
		}
	}
}

// The same for blocks of many entries, which GetMany checks once for all keys.
func TestGetManyOfLargeBlocks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(long.Size(5, 20)) {
		rng := rand.New(rand.NewPCG(32, seed))
		pairs := numbered(1 + rng.IntN(40_000))
		o := &table.WriterOptions{BlockSize: 1 << (15 + rng.IntN(6)), RestartInterval: 1 << rng.IntN(6)}
		checkGetMany(t, fmt.Sprintf("seed %d", seed), open(t, build(t, o, pairs), nil), someKeys(rng, pairs), nil)
	}
}
