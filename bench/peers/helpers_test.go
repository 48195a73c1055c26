package main

import (
	"errors"
	"log"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
)

var noError = errtest.NoError

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

// TestMain runs the tests. If a test has started this binary again, it is the process to be killed.
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

// levelDB returns a tool that reads and writes tables with C++ LevelDB. If that is not installed, the test is
// skipped.
func levelDB(t *testing.T) *leveldb.Tool { return must(t, cxx) }

// levelDBDatabase returns a tool that opens databases with C++ LevelDB, or skips the test.
func levelDBDatabase(t testing.TB) *leveldb.Database { return must(t, cxxDatabase) }

func must[T any](t testing.TB, build func() (T, error)) T {
	t.Helper()
	program, err := build()
	if errors.Is(err, cxxtool.ErrMissing) && os.Getenv("SIEVETABLE_LEVELDB") != "required" {
		t.Skip(err)
	}
	noError(t, err)
	return program
}

// checkPairs returns a check of the pairs that an engine reads forward and backward.
func checkPairs(t *testing.T, engine string, want []workload.Pair) func(forward, backward []workload.Pair, err error) {
	return func(forward, backward []workload.Pair, err error) {
		t.Helper()
		if diff := tabletest.DiffPairs(want, forward); err != nil || diff != "" {
			t.Errorf("%s forward: %v (-want +read):\n%s", engine, err, diff)
		}
		slices.Reverse(backward)
		if diff := tabletest.DiffPairs(want, backward); diff != "" {
			t.Errorf("%s backward, in ascending order (-want +read):\n%s", engine, diff)
		}
	}
}

// openGoleveldb opens a table with all of goleveldb's checks, and its filter.
func openGoleveldb(t testing.TB, contents []byte) *goleveldb.Reader {
	t.Helper()
	r, err := goleveldb.Open(contents, &opt.Options{Filter: lfilter.NewBloomFilter(10)})
	noError(t, err)
	t.Cleanup(r.Release)
	return r
}

// file writes contents to a new file. RocksDB's sst_dump reads only files with the extension .sst.
func file(t testing.TB, contents []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "table.sst")
	noError(t, os.WriteFile(name, contents, 0o666))
	return name
}

// filesOf returns the files in dir that match the pattern. If there are fewer than least, the test fails.
func filesOf(t *testing.T, dir, pattern string, least int) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) < least {
		t.Fatalf("%s: %v, %v; want at least %d", pattern, names, err, least)
	}
	return names
}

// copyOf returns a copy of a directory.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy")
	noError(t, os.CopyFS(copied, os.DirFS(dir)))
	return copied
}
