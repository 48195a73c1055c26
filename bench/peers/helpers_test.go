package main

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/ours"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// cxx compiles the C++ side once for all tests.
var cxx = sync.OnceValues(func() (*leveldb.Tool, error) {
	dir, err := os.MkdirTemp("", "ldbtool")
	if err != nil {
		return nil, err
	}
	cxxDir = dir
	return leveldb.Build(dir)
})

var cxxDir string

func TestMain(m *testing.M) {
	code := m.Run()
	if cxxDir != "" {
		os.RemoveAll(cxxDir)
	}
	os.Exit(code)
}

// levelDB returns C++ LevelDB, and skips the test where there is none.
func levelDB(t *testing.T) *leveldb.Tool {
	t.Helper()
	tool, err := cxx()
	if errors.Is(err, leveldb.ErrMissing) && os.Getenv("SIEVETABLE_LEVELDB") != "required" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// diffPairs returns the difference between pairs as text, "" if there is none.
func diffPairs(want, got []workload.Pair) string {
	if workload.Digest(want) == workload.Digest(got) {
		return ""
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}

func reversed(pairs []workload.Pair) []workload.Pair {
	var r []workload.Pair
	for i := range pairs {
		r = append(r, pairs[len(pairs)-1-i])
	}
	return r
}

// write returns our table of pairs.
func write(t testing.TB, o *table.WriterOptions, pairs []workload.Pair) []byte {
	t.Helper()
	contents, err := ours.Write(o, pairs)
	if err != nil {
		t.Fatal(err)
	}
	return contents
}

// file writes contents to a file of its own.
func file(t *testing.T, contents []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "table.ldb")
	if err := os.WriteFile(name, contents, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// w1 returns the W1 workload of n entries as pairs, and as many absent keys.
func w1(n int) (pairs []workload.Pair, absent [][]byte) {
	set := workload.W1(n)
	for i, k := range set.Keys {
		pairs = append(pairs, workload.Pair{Key: k, Value: set.Values[i]})
	}
	return pairs, set.Absent
}
