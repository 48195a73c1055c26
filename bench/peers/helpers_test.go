package main

import (
	"errors"
	"log"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/ours"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// The C++ programs, compiled once for all tests, each in its own directory of cxxDir.
var (
	cxxDir      string // TestMain creates and removes it
	cxx         = compiled(leveldb.Build)
	cxxDatabase = compiled(leveldb.BuildDatabase)
)

func compiled[T any](build func(dir string) (T, error)) func() (T, error) {
	return sync.OnceValues(func() (program T, err error) {
		dir, err := os.MkdirTemp(cxxDir, "")
		if err != nil {
			return program, err
		}
		return build(dir)
	})
}

// TestMain runs the tests or, where a test runs this binary again, is the process that
// is to be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(churnEnv); dir != "" {
		if err := goleveldb.Churn(dir, os.Stdin, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	var err error
	if cxxDir, err = os.MkdirTemp("", "leveldb"); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	os.RemoveAll(cxxDir)
	os.Exit(code)
}

// levelDB returns what reads and writes tables with C++ LevelDB, and skips the test
// where there is none.
func levelDB(t *testing.T) *leveldb.Tool { return must(t, cxx) }

// levelDBDatabase does so for databases.
func levelDBDatabase(t testing.TB) *leveldb.Database { return must(t, cxxDatabase) }

func must[T any](t testing.TB, build func() (T, error)) T {
	t.Helper()
	program, err := build()
	if errors.Is(err, cxxtool.ErrMissing) && os.Getenv("SIEVETABLE_LEVELDB") != "required" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return program
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
func file(t testing.TB, contents []byte) string {
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
