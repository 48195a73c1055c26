package table_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// roundKeys is the number of keys in the test of the example engine. Each round writes all of them, in order, with
// the number of the round as the value.
const roundKeys = 40

func roundKey(i int) string { return fmt.Sprintf("key%02d", i) }

// While the example engine writes, flushes and compacts, 16 goroutines look up and scan. They get no errors, miss no
// key, and see only consistent snapshots. In the end, the files of replaced tables are gone.
func TestEngineReplacesTablesUnderReaders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := newEngine(dir)
	writeRound(t, e, 0)
	var written atomic.Int64 // the last complete round
	var done atomic.Bool
	var readers sync.WaitGroup
	for u := range 16 {
		rng := rand.New(rand.NewPCG(uint64(u), 19))
		readers.Go(func() {
			for !done.Load() && !t.Failed() {
				readEngine(t, e, rng, int(written.Load()))
			}
		})
	}
	const rounds = 24
	for round := 1; round <= rounds && !t.Failed(); round++ {
		writeRound(t, e, round)
		written.Store(int64(round))
	}
	done.Store(true)
	readers.Wait()
	noError(t, e.compact())
	if files, err := filepath.Glob(filepath.Join(dir, "*")); len(files) != 1 || err != nil {
		t.Errorf("files %v, %v; want one table", files, err)
	}
	noError(t, e.close())
	if n := openFiles(t, dir); n != 0 {
		t.Errorf("%d files are open after close, want 0", n)
	}
	if _, err := e.get(roundKey(0), internalkey.MaxSequence); err != table.ErrClosed {
		t.Errorf("get after close: %v, want ErrClosed", err)
	}
}

// writeRound writes a round, and flushes in the middle. Every third round, it compacts.
func writeRound(t *testing.T, e *engine, round int) {
	t.Helper()
	for i := range roundKeys {
		if i == round%roundKeys {
			if err := e.flush(); err != nil {
				t.Error(err)
			}
		}
		e.put(roundKey(i), strconv.Itoa(round))
	}
	if round%3 == 2 {
		if err := e.compact(); err != nil {
			t.Error(err)
		}
	}
}

// readEngine looks up a key, or scans. Values must be from the last complete round, or a later one.
func readEngine(t *testing.T, e *engine, rng *rand.Rand, written int) {
	t.Helper()
	if rng.IntN(4) > 0 {
		key := roundKey(rng.IntN(roundKeys))
		value, err := e.get(key, internalkey.MaxSequence)
		if round, _ := strconv.Atoi(value); err != nil || round < written {
			t.Errorf("get(%s) = %q, %v; want round %d or later", key, value, err, written)
		}
		return
	}
	var seen []string
	var rounds []int
	err := e.scan(internalkey.MaxSequence, func(key, value []byte) {
		round, _ := strconv.Atoi(string(value))
		seen, rounds = append(seen, string(key)), append(rounds, round)
	})
	if err != nil || len(seen) != roundKeys {
		t.Errorf("scan: %v, %d keys %q, want %d", err, len(seen), seen, roundKeys)
		return
	}
	// A snapshot has the first keys of a round, and the others of the previous round.
	first, last := rounds[0], rounds[roundKeys-1]
	for i, round := range rounds {
		if seen[i] != roundKey(i) || last < written || first-last > 1 || round > first || round < last || i > 0 && round > rounds[i-1] {
			t.Errorf("scan: rounds %v, want those of one snapshot, of round %d or later", rounds, written)
			return
		}
	}
}
