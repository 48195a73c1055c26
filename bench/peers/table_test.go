package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/ours"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

const (
	goleveldbName = "leveldb.BuiltinBloomFilter"
	levelDBName   = "leveldb.BuiltinBloomFilter2"
)

// randomShape returns random values of the options that the engines share.
func randomShape(rng *rand.Rand) manifest.Table {
	return manifest.Table{
		BlockSize:       1 + rng.IntN(1<<rng.IntN(17)),
		RestartInterval: 1 + rng.IntN(1<<rng.IntN(8)),
		BitsPerKey:      rng.IntN(102) - 1,
		Compression:     "none",
	}
}

// oursAs returns our table, with its filter under the given name.
func oursAs(t testing.TB, name string, g manifest.Table, baseLg int, pairs []workload.Pair) []byte {
	t.Helper()
	o := ours.Options(g)
	o.FilterBaseLg = baseLg
	if o.FilterPolicy != nil {
		o.FilterPolicy = filter.Rename(o.FilterPolicy, name)
	}
	return tabletest.Build(t, o, pairs)
}

// randomPairs returns up to n pairs in ascending order. Their keys consist of few different bytes.
func randomPairs(rng *rand.Rand, n int) []workload.Pair {
	keys := randomKeys(rng, n)
	for _, k := range keys {
		for i := range k {
			k[i] = "\x00\x01ab\xfe\xff"[int(k[i])%6]
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	keys = slices.CompactFunc(keys, bytes.Equal)
	var pairs []workload.Pair
	for _, k := range keys {
		pairs = append(pairs, workload.Pair{Key: k, Value: workload.RandomBytes(rng, rng.IntN(1<<rng.IntN(9)))})
	}
	return pairs
}

// Our uncompressed tables equal goleveldb's byte for byte.
func TestTablesAreGoleveldbs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		s, baseLg, pairs := randomShape(rng), 1+rng.IntN(20), randomPairs(rng, 400)
		if len(pairs) == 0 {
			continue // written differently: see TestEmptyTables
		}
		checkAsGoleveldb(t, s, baseLg, pairs)
	}
}

// checkAsGoleveldb checks that our uncompressed table equals goleveldb's.
func checkAsGoleveldb(t *testing.T, s manifest.Table, baseLg int, pairs []workload.Pair) {
	t.Helper()
	o := goleveldb.Options(s)
	o.FilterBaseLg = baseLg
	want, err := goleveldb.Write(o, pairs)
	noError(t, err)
	if got := oursAs(t, goleveldbName, s, baseLg, pairs); !bytes.Equal(got, want) {
		t.Fatalf("%+v, base lg %d, %d pairs: %d bytes that differ from goleveldb's %d", s, baseLg, len(pairs), len(got), len(want))
	}
}

// Our uncompressed tables equal C++ LevelDB's byte for byte. LevelDB has no option for the base lg.
func TestTablesAreLevelDBs(t *testing.T) {
	t.Parallel()
	tool := levelDB(t)
	rng := rand.New(rand.NewPCG(4, 4))
	for range 100 {
		s, pairs := randomShape(rng), randomPairs(rng, 400)
		want, err := tool.Write(s, pairs)
		noError(t, err)
		if got := oursAs(t, levelDBName, s, filter.DefaultBaseLg, pairs); !bytes.Equal(got, want) {
			t.Fatalf("%+v, %d pairs: %d bytes that differ from LevelDB's %d", s, len(pairs), len(got), len(want))
		}
	}
}

// The engines still write the golden tables. C++ LevelDB with another version of Snappy may compress the same pairs
// to other bytes.
func TestGoldensAreUpToDate(t *testing.T) {
	t.Parallel()
	golden.Each(t, "../../testdata", func(t *testing.T, g golden.Loaded) {
		var got []byte
		var err error
		switch g.Producer {
		case "goleveldb":
			got, err = goleveldb.Write(goleveldb.Options(g.Table), g.Want)
		case "leveldb":
			got, err = levelDB(t).Write(g.Table, g.Want)
		default:
			return
		}
		noError(t, err)
		if manifest.SHA256(got) == g.SHA256 {
			return
		}
		if g.Producer == "goleveldb" || g.Compression == "none" {
			t.Fatalf("%s now writes other bytes", g.Producer)
		}
		there, _, err := openGoleveldb(t, got).Scan()
		if diff := tabletest.DiffPairs(g.Want, there); diff != "" || err != nil {
			t.Errorf("%v, other pairs (-want +got):\n%s", err, diff)
		}
	})
}

var (
	// defaults are the options of a new user.
	defaults = &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}

	// ofSets are the options for tables of sets.
	ofSets = &table.WriterOptions{FilterPolicy: filter.NewBloom(10), DataDigest: true}

	// withPrefixes adds prefixes to the filters, and sets a table filter and properties, as for RocksDB and
	// Pebble. withExceptions adds a block that other engines do not know.
	withPrefixes   = &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), FilterPrefix: filter.PrefixOfLength(8)}
	withExceptions = &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(2), Never: absentKeys}

	readByOthers = map[string]*table.WriterOptions{
		"defaults": defaults, "of sets": ofSets, "with prefixes": withPrefixes, "with exceptions": withExceptions,
	}
)

// absentKeys yields keys that the tables do not have, in order.
func absentKeys(yield func([]byte, error) bool) {
	absent := workload.W1(50_000).Absent
	slices.SortFunc(absent, bytes.Compare)
	for _, key := range absent {
		if !yield(key, nil) {
			return
		}
	}
}

// checkTheirFilter checks that a peer finds every key, and reads at most 0.02 blocks per absent key.
func checkTheirFilter(t *testing.T, set workload.Set, get func(keys [][]byte) ([]leveldb.Answer, error)) {
	t.Helper()
	found, err := get(set.Keys)
	noError(t, err)
	for i, a := range found {
		if !a.Found {
			t.Fatalf("key %q is not found", set.Keys[i])
		}
	}
	missed, err := get(set.Absent)
	noError(t, err)
	reads := 0
	for i, a := range missed {
		if a.Found {
			t.Fatalf("key %q is found", set.Absent[i])
		}
		reads += a.Reads
	}
	if perMiss := float64(reads) / float64(len(set.Absent)); perMiss > 0.02 {
		t.Errorf("%.4f reads per absent key, want at most 0.02", perMiss)
	} else {
		t.Logf("%.4f reads per absent key", perMiss)
	}
}

func TestGoleveldbReadsOurTables(t *testing.T) {
	t.Parallel()
	set := workload.W1(50_000)
	for name, o := range readByOthers {
		t.Run(name, func(t *testing.T) {
			r := openGoleveldb(t, tabletest.Build(t, o, set.Pairs()))
			checkPairs(t, "goleveldb", set.Pairs())(r.Scan())
			checkTheirFilter(t, set, func(keys [][]byte) (answers []leveldb.Answer, err error) {
				for _, k := range keys {
					before := r.Reads()
					found, err := r.FindFiltered(k)
					if err != nil {
						return nil, err
					}
					answers = append(answers, leveldb.Answer{Found: found, Reads: r.Reads() - before})
				}
				return answers, nil
			})
		})
	}
}

func TestLevelDBReadsOurTables(t *testing.T) {
	t.Parallel()
	tool, set := levelDB(t), workload.W1(50_000)
	for name, o := range readByOthers {
		t.Run(name, func(t *testing.T) {
			table := file(t, tabletest.Build(t, o, set.Pairs()))
			checkPairs(t, "LevelDB", set.Pairs())(tool.Scan(table, 10))
			checkTheirFilter(t, set, func(keys [][]byte) ([]leveldb.Answer, error) { return tool.Get(table, 10, keys) })
		})
	}
}

// Peers read our tables of every golden dataset.
func TestPeersReadOurDatasets(t *testing.T) {
	t.Parallel()
	golden.Each(t, "../../testdata", func(t *testing.T, g golden.Loaded) {
		if g.Producer == "sievetable" {
			checkPairs(t, "goleveldb", g.Want)(openGoleveldb(t, g.Contents).Scan())
			checkPairs(t, "LevelDB", g.Want)(levelDB(t).Scan(file(t, g.Contents), 10))
		}
	})
}

// sievetable and goleveldb read empty tables of each other as empty.
func TestEmptyTables(t *testing.T) {
	t.Parallel()
	empty, err := goleveldb.Write(&opt.Options{Filter: lfilter.NewBloomFilter(10)}, nil)
	noError(t, err)
	for i, contents := range [][]byte{empty, tabletest.Build(t, defaults, nil)} {
		r := tabletest.Open(t, contents, nil)
		it := r.NewIter(nil)
		if it.First() || it.Last() || it.Error() != nil || r.Verify() != nil || r.FilterErr() != nil {
			t.Errorf("table %d: not empty and sound", i)
		}
		if there, _, err := openGoleveldb(t, contents).Scan(); err != nil || len(there) > 0 {
			t.Errorf("table %d: goleveldb reads %d pairs, %v", i, len(there), err)
		}
	}
}
