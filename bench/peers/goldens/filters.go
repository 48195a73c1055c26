package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/machine"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/workload"
)

// A filterer builds a filter of keys, and looks up others in it.
type filterer func(bitsPerKey int, keys, sought [][]byte) (filter []byte, answers []bool, err error)

// writeFilters writes the golden filters of both engines.
func writeFilters(dir string, tool *leveldb.Tool) error {
	if err := os.MkdirAll(filepath.Join(dir, manifest.FiltersDir), 0o777); err != nil {
		return err
	}
	for _, p := range []struct {
		name, version string
		build         filterer
	}{
		{"goleveldb", machine.ModuleVersion("github.com/syndtr/goleveldb"), goleveldbFilter},
		{"leveldb", tool.Version, tool.Filter},
	} {
		filters, err := goldenFilters(p.build)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for i := range filters {
			filters[i].Producer, filters[i].Version = p.name, p.version
		}
		if err := manifest.WriteFilters(dir, p.name, filters); err != nil {
			return err
		}
	}
	return nil
}

// goldenFilters returns filters with few and with many keys. The keys end in bytes of all values, since LevelDB's
// hash processes the bytes after the last group of 4 one by one.
func goldenFilters(build filterer) ([]manifest.Filter, error) {
	rng := rand.New(rand.NewPCG(51, 51))
	sets := []struct {
		name string
		keys [][]byte
	}{
		{"the empty key", [][]byte{{}}},
		{"one key", [][]byte{[]byte("hello")}},
		{"last bytes", lastBytes(rng)},
		{"random", randomKeys(rng, 100, 24)},
	}
	sought := append(randomKeys(rng, 60, 12), lastBytes(rng)...)
	var filters []manifest.Filter
	for _, bits := range []int{0, 1, 2, 5, 10, 16, 20, 44, 100} {
		for _, set := range sets {
			filter, answers, err := build(bits, set.keys, sought)
			if err != nil {
				return nil, err
			}
			f := manifest.Filter{Name: set.name, BitsPerKey: bits, Filter: filter}
			for _, key := range set.keys {
				f.Keys = append(f.Keys, key)
			}
			for i, key := range sought {
				f.Answers = append(f.Answers, manifest.Answer{Key: key, MayContain: answers[i]})
			}
			filters = append(filters, f)
		}
	}
	return filters, nil
}

// lastBytes returns keys of 1 to 7 bytes whose last bytes are < and ≥ 0x80.
func lastBytes(rng *rand.Rand) [][]byte {
	var keys [][]byte
	for n := 1; n <= 7; n++ {
		for _, c := range []byte{0, 0x7f, 0x80, 0xff} {
			key := workload.RandomBytes(rng, n)
			key[n-1] = c
			keys = append(keys, key)
		}
	}
	return keys
}

func randomKeys(rng *rand.Rand, n, most int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = workload.RandomBytes(rng, rng.IntN(most+1))
	}
	return keys
}

func goleveldbFilter(bitsPerKey int, keys, sought [][]byte) (filter []byte, answers []bool, err error) {
	p := lfilter.NewBloomFilter(bitsPerKey)
	g := p.NewGenerator()
	for _, k := range keys {
		g.Add(k)
	}
	var b util.Buffer
	g.Generate(&b)
	for _, k := range sought {
		answers = append(answers, p.Contains(b.Bytes(), k))
	}
	return b.Bytes(), answers, nil
}
