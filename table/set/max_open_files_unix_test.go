//go:build unix

package set_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table/set"
)

// fewFilesEnv is the environment variable for the directory of a set. With it, the process may have few files open.
const fewFilesEnv = "SIEVETABLE_TEST_FEW_FILES"

// A set with more tables than the process may have open files works, without an option for it.
func TestMoreTablesThanFiles(t *testing.T) {
	long.NoRace(t)
	if dir := os.Getenv(fewFilesEnv); dir != "" {
		askWithFewFiles(t, dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	writeTables(t, dir, filtered, 600, perTable)
	cmd := tabletest.Self(t, fewFilesEnv+"="+dir, "-test.run=^TestMoreTablesThanFiles$")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

func askWithFewFiles(t *testing.T, dir string) {
	const most = 256 // opening more files fails
	noError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most}))
	for name, test := range map[string]struct {
		o     set.Options
		files int
	}{
		"default":                 {set.Options{}, most / 4},
		"OpenAll":                 {set.Options{OpenAll: true}, most / 4},
		"MemorySize":              {set.Options{OpenAll: true, MemorySize: 40_000}, most / 4},
		"MaxOpenFiles 200":        {set.Options{MaxOpenFiles: 200}, 200},
		"MaxOpenFiles 2, OpenAll": {set.Options{MaxOpenFiles: 2, OpenAll: true}, 2},
		"MaxOpenFiles 1":          {set.Options{MaxOpenFiles: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := openDir(t, dir, &test.o)
			var lookups sync.WaitGroup
			for g := range 8 {
				lookups.Go(func() { askAtRandom(t, s, 500*perTable, rand.New(rand.NewPCG(28, uint64(g)))) })
			}
			all := s.Manifest()
			for range 5 { // the tables from 500 on are removed and added again
				noError(t, errors.Join(s.Swap(background, manifestOf(all.Tables[:500]...)), s.Swap(background, all)))
			}
			lookups.Wait()
			if got, want := openFiles(dir), test.files+1; got > want {
				t.Errorf("%d open files, want at most %d, and the directory", got-1, test.files)
			}
			noError(t, s.Verify(background, nil))
			checkEnd(t, s)
			checkNoFiles(t, dir)
		})
	}
}

// askAtRandom looks up keys of random numbers below n, in several ways.
func askAtRandom(t *testing.T, s *set.Set, n int, rng *rand.Rand) {
	for range rounds(100, 1000) {
		i := rng.IntN(n)
		checkGet(t, s, key(i), valueOf(i))
		checkGet(t, s, key(i)+"x", "")
		keys := bytesOf(key(rng.IntN(n)), key(rng.IntN(n)), key(rng.IntN(n)))
		if found, err := getMany(background, s, keys, nil); err != nil || len(found) < 1 {
			t.Errorf("GetMany = %v, %v", found, err)
		}
		it := s.NewIter(background, nil)
		for ok, j := it.SeekGE([]byte(key(i))), i; ok && j < min(i+55, n); ok, j = it.Next(), j+1 { // into another table
			if string(it.Key()) != key(j) || string(it.Value()) != valueOf(j) {
				t.Errorf("the Iter is at %q, want %q", it.Key(), key(j))
			}
		}
		if err := it.Close(); err != nil {
			t.Error(err)
		}
		runtime.Gosched()
	}
}
