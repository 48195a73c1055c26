package table_test

import (
	"bytes"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/table"
)

const goldenDir = "../testdata"

// The manifest lists every file, and covers what engines can be asked for.
func TestManifestIsComplete(t *testing.T) {
	tables, err := golden.ReadManifest(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, g := range tables {
		listed = append(listed, g.File)
		if g.Producer != "sievetable" && g.Version == "" {
			t.Errorf("%s: no version", g.File)
		}
	}
	var there []string
	size := int64(0)
	err = fs.WalkDir(os.DirFS(goldenDir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		if path != golden.ManifestName {
			there = append(there, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	slices.Sort(there)
	if diff := cmp.Diff(there, listed); diff != "" {
		t.Errorf("files (-in testdata +in %s):\n%s", golden.ManifestName, diff)
	}
	if size > 8e6 {
		t.Errorf("testdata has %d bytes, want at most 8 MB", size)
	}
	for _, producer := range []string{"goleveldb", "leveldb"} {
		n := 0
		for _, g := range tables {
			if g.Producer == producer {
				n++
			}
		}
		if n < 25 {
			t.Errorf("%d tables by %s, want 25 at least", n, producer)
		}
	}
}

// Every golden table reads back equal in every way, and its filter is in use.
func TestGoldenReads(t *testing.T) {
	golden.Each(t, goldenDir, func(t *testing.T, g golden.Loaded) {
		var m table.Metrics
		r := open(t, g.Contents, &table.ReaderOptions{Metrics: &m})
		if err := r.FilterErr(); err != nil {
			t.Errorf("FilterErr = %v", err)
		}
		if err := r.Verify(); err != nil {
			t.Errorf("Verify = %v", err)
		}
		if diff := diffPairs(g.Want, forward(t, r.NewIter(nil))); diff != "" {
			t.Errorf("forward (-want +got):\n%s", diff)
		}
		if diff := diffPairs(g.Want, backward(t, r.NewIter(nil))); diff != "" {
			t.Errorf("backward (-want +got):\n%s", diff)
		}
		checkLookups(t, r, g.Want)
		if asked := m.FilterQuestions.Load() > 0; asked != (g.BitsPerKey != golden.NoFilter && len(g.Want) > 0) {
			t.Errorf("filter asked: %v, with %d bits per key", asked, g.BitsPerKey)
		}
	})
}

// policyOf returns the one filter name that the table's producer lists.
func policyOf(g golden.Table) filter.Policy {
	switch {
	case g.BitsPerKey == golden.NoFilter:
		return nil
	case g.Producer == "goleveldb":
		return filter.Rename(filter.NewBloom(g.BitsPerKey), "leveldb.BuiltinBloomFilter")
	case g.Producer == "leveldb":
		return filter.Rename(filter.NewBloom(g.BitsPerKey), "leveldb.BuiltinBloomFilter2")
	default:
		return filter.NewBloom(g.BitsPerKey)
	}
}

// Each table written again is the same bytes. Other engines' compressed tables
// are not, since Snappy encoders differ. An empty table is written as C++
// LevelDB does; goleveldb's has an empty data block.
func TestGoldenRewrites(t *testing.T) {
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
		case g.Compression == "none" || g.Producer == "sievetable":
			if !same {
				t.Errorf("written again: %d bytes that differ from the %d by %s", len(got), len(g.Contents), g.Producer)
			}
		}
	})
}
