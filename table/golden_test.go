package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

const goldenDir = "../testdata"

// The manifest lists every file.
func TestManifestIsComplete(t *testing.T) {
	t.Parallel()
	tables, err := manifest.Read(goldenDir)
	noError(t, err)
	listed := []string{manifest.FiltersDir + "/goleveldb.jsonl", manifest.FiltersDir + "/leveldb.jsonl"} // package filter's
	for _, g := range tables {
		listed = append(listed, g.File)
		if g.Version == "" {
			t.Errorf("%s: no version", g.File)
		}
	}
	var there []string
	size := int64(0)
	noError(t, fs.WalkDir(os.DirFS(goldenDir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		if path != manifest.Name {
			there = append(there, path)
		}
		return nil
	}))
	slices.Sort(listed)
	slices.Sort(there)
	checkDiff(t, "files in "+manifest.Name, there, listed)
	if size > 8e6 {
		t.Errorf("testdata has %d bytes, want at most 8 MB", size)
	}
}

// There are tables of each engine with all relevant options and datasets.
func TestManifestCovers(t *testing.T) {
	t.Parallel()
	tables, err := manifest.Read(goldenDir)
	noError(t, err)
	want := map[string]string{
		"block size":       "1 1024 16384 256 4096 65536",
		"restart interval": "1 128 16 2 3",
		"bits per key":     "-1 0 1 10 100 20 43 44 5",
		"compression":      "none snappy",
		"dataset":          "100k byte-edges empty empty-key empty-values long-prefix many-blocks mixed one one-mib",
	}
	seen := map[string][]string{} // by producer and option
	for _, g := range tables {
		for option, value := range map[string]any{
			"block size": g.BlockSize, "restart interval": g.RestartInterval, "bits per key": g.BitsPerKey, "compression": g.Compression, "dataset": g.Dataset,
		} {
			seen[g.Producer+option] = append(seen[g.Producer+option], fmt.Sprint(value))
		}
	}
	for _, producer := range []string{"goleveldb", "leveldb"} {
		for option, values := range want {
			got := slices.Compact(slices.Sorted(slices.Values(seen[producer+option])))
			checkDiff(t, producer+": "+option, values, strings.Join(got, " "))
		}
	}
}

// Every way to read a golden table returns its entries, and its filter is in use.
func TestGoldenReads(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	golden.Each(t, goldenDir, func(t *testing.T, g golden.Loaded) {
		if testing.Short() && len(g.Want) > 10_000 {
			t.Skip("takes minutes where a processor is emulated")
		}
		var m table.Metrics
		checkTable(t, open(t, g.Contents, &table.ReaderOptions{Metrics: &m}), g.Want)
		if asked := m.FilterChecks.Load() > 0; asked != (g.BitsPerKey != manifest.NoFilter && len(g.Want) > 0) {
			t.Errorf("filter asked: %v, with %d bits per key", asked, g.BitsPerKey)
		}
	})
}

// policyOf returns a policy with the single filter name that the table's producer lists.
func policyOf(g manifest.Table) filter.Policy {
	switch {
	case g.BitsPerKey == manifest.NoFilter:
		return nil
	case g.Producer == "goleveldb" || g.Producer == "leveldb-1.17":
		return filter.Rename(filter.NewBloom(g.BitsPerKey), "leveldb.BuiltinBloomFilter")
	case g.Producer == "leveldb":
		return filter.Rename(filter.NewBloom(g.BitsPerKey), "leveldb.BuiltinBloomFilter2")
	default:
		return filter.NewBloom(g.BitsPerKey)
	}
}

// Each table written again has the same bytes, with these exceptions. Other engines' compressed tables differ, since
// Snappy encoders do. Empty tables are written like C++ LevelDB's; goleveldb's have an empty data block. LevelDB
// 1.17's tables have filters with another hash. iq80's have a metaindex without a restart point, and more restart
// points.
func TestGoldenRewrites(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	golden.Each(t, goldenDir, func(t *testing.T, g golden.Loaded) {
		o := &table.WriterOptions{
			FilterPolicy:    policyOf(g.Table),
			BlockSize:       g.BlockSize,
			RestartInterval: g.RestartInterval,
			Compression:     table.NoCompression,
		}
		if g.Compression == "snappy" {
			o.Compression = table.Snappy
		}
		got := build(t, o, g.Want)
		same := bytes.Equal(got, g.Contents)
		switch {
		case g.Producer == "goleveldb" && g.Dataset == "empty":
			if same {
				t.Error("same bytes: goleveldb no longer writes an empty data block?")
			}
		case g.Producer == "iq80":
			if same {
				t.Error("same bytes: it no longer writes empty blocks of its own?")
			}
		case g.Producer == "leveldb-1.17":
			end := open(t, g.Contents, nil).Filters().BlocksEntry.Offset
			if same || len(got) != len(g.Contents) || !bytes.Equal(got[:end], g.Contents[:end]) {
				t.Error("written again: want the same data blocks, and filters of the same size and other bits")
			}
		case g.Compression == "none" || g.Producer == "sievetable":
			if !same {
				t.Errorf("written again: %d bytes that differ from the %d by %s", len(got), len(g.Contents), g.Producer)
			}
		}
	})
}

// Tables from databases of both engines, which kept all versions of their keys since snapshots were held. They are
// read as they were written, and writing them again gives the same bytes. Command bench/peers/goldens has written
// them.
func TestDatabaseTables(t *testing.T) {
	rounds := workload.FewWrites()
	want := workload.Versions(rounds)
	order := table.InternalComparer(table.BytewiseComparer)
	for _, engine := range []struct{ name, filterName string }{
		{"goleveldb", "leveldb.BuiltinBloomFilter"},
		{"leveldb", "leveldb.BuiltinBloomFilter2"},
	} {
		contents, err := os.ReadFile("testdata/databases/" + engine.name + ".ldb")
		noError(t, err)
		r := open(t, contents, &table.ReaderOptions{Comparer: order, FilterKey: internalkey.UserKey})
		checkSound(t, engine.name, r)
		checkPairs(t, engine.name, want, forward(t, r.NewIter(nil)))
		checkSnapshots(t, engine.name, r, rounds)
		again := build(t, &table.WriterOptions{
			Comparer: order, FilterKey: internalkey.UserKey, Compression: table.NoCompression,
			FilterPolicy: filter.Rename(filter.NewBloom(10), engine.filterName),
		}, want)
		if !bytes.Equal(again, contents) {
			t.Errorf("%s: written again, its %d bytes are %d others", engine.name, len(contents), len(again))
		}
	}
}

// checkSnapshots checks the value of each key after each round of writes.
func checkSnapshots(t *testing.T, name string, r *table.Reader, rounds [][]workload.Write) {
	t.Helper()
	sequence := uint64(0)
	state := map[string]*workload.Write{}
	for _, w := range slices.Concat(rounds...) {
		state[string(w.Key)] = nil
	}
	check := func() {
		for user, w := range state {
			k, v, err := r.Find(internalkey.SearchKey(nil, []byte(user), sequence))
			if w == nil {
				if !errors.Is(err, table.ErrNotFound) {
					t.Fatalf("%s: %q at %d: %q, %v; want ErrNotFound", name, user, sequence, k, err)
				}
				continue
			}
			key, ok := internalkey.Parse(k)
			if err != nil || !ok || (key.Kind == internalkey.Delete) != w.Delete || !bytes.Equal(v, w.Value) {
				t.Fatalf("%s: %q at %d: %q = %q, %v; want %+v", name, user, sequence, k, v, err, w)
			}
		}
	}
	check()
	for _, writes := range rounds {
		for _, w := range writes {
			sequence++
			state[string(w.Key)] = &w
		}
		check()
	}
}
