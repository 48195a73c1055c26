package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/merge"
)

// randomInput returns pairs as lines, in any order.
func randomInput(rng *rand.Rand) (pairs map[string]string, lines string) {
	pairs = map[string]string{}
	var b strings.Builder
	for range rng.IntN(3000) {
		key, value := fmt.Sprintf("%0*d", 1+rng.IntN(20), rng.IntN(100_000)), strings.Repeat("v", rng.IntN(200))
		if _, twice := pairs[key]; twice {
			continue
		}
		pairs[key] = value
		fmt.Fprintf(&b, "%s\t%s\n", key, value)
	}
	return pairs, b.String()
}

// goleveldb accepts a database that sst builds: it reads it, writes to it, compacts it and reads it again.
func TestBuiltDatabaseIsThatOfAnEngine(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed, rng := range seeds(rounds(8, 100), 32) {
		want, lines := randomInput(rng)
		in, dir := tempFile(t, "in.tsv", lines), filepath.Join(t.TempDir(), "db")
		bits := []string{"none", fmt.Sprint(1 + rng.IntN(20))}[rng.IntN(2)]
		mustSST(t, "build", "--database", "-o", dir, fmt.Sprintf("--table-size=%d", 1+rng.IntN(100_000)), "--bits="+bits,
			fmt.Sprintf("--block-size=%d", 1+rng.IntN(8000)), fmt.Sprintf("--compression=%s", []string{"none", "snappy"}[rng.IntN(2)]), in)
		o := &opt.Options{Strict: opt.StrictAll, ErrorIfMissing: true, Filter: filter.NewBloomFilter(10)}
		got, err := entriesOf(leveldb.OpenFile(dir, o))
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("seed %d: goleveldb reads %d entries, %v; want %d", seed, len(got), err, len(want))
		}
		writeTo(t, dir, o, func(db *leveldb.DB) (err error) {
			for i := range 500 {
				key := fmt.Sprint(rng.IntN(1000))
				want[key] = fmt.Sprint("new ", i)
				err = errors.Join(err, db.Put([]byte(key), []byte(want[key]), nil))
			}
			return errors.Join(err, db.CompactRange(util.Range{}))
		})
		if got, err = entriesOf(leveldb.OpenFile(dir, o)); err != nil || !maps.Equal(got, want) {
			t.Fatalf("seed %d: after writes goleveldb reads %d entries, %v; want %d", seed, len(got), err, len(want))
		}
		mustSST(t, "verify", dir)
	}
}

// With --on-duplicate count, the value of each key is its number of lines: for sorted and unsorted lines, for tables
// and sets, and for keys that are too long to be sorted in memory.
func TestCountIsThatOfAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	for range 6 {
		lines, counts := repeatedLines(rng, 1+rng.IntN(3000), 1+rng.IntN(300))
		var want bytes.Buffer
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&want, "%s\t%d\n", key, counts[key])
		}
		sorted := slices.Sorted(slices.Values(lines))
		for flags, input := range map[string][]string{"": lines, "--sorted": sorted} {
			for _, out := range []string{"table.ldb", "set"} {
				args := []string{"build", "--input-format", "raw-keys", "--on-duplicate", "count", "-o", filepath.Join(t.TempDir(), out)}
				if out == "set" {
					args = append(args, "--entries-per-table", strconv.Itoa(1+rng.IntN(100)))
				}
				args = append(args, strings.Fields(flags)...)
				mustSST(t, append(args, tempFile(t, "lines", strings.Join(input, "\n")+"\n"))...)
				checkPrints(t, want.String(), "scan", args[6])
			}
		}
	}
}

// repeatedLines returns n lines with at most that many distinct keys, and the number of lines of each key.
func repeatedLines(rng *rand.Rand, n, distinct int) (lines []string, counts map[string]int) {
	counts = map[string]int{}
	for range n {
		i := rng.IntN(distinct)
		key := fmt.Sprintf("key%d", i)
		if i%7 == 0 {
			key += strings.Repeat("long", 500)
		}
		lines = append(lines, key)
		counts[key]++
	}
	return lines, counts
}

// Whether progress is shown on a terminal is determined once, not for each pair.
func TestWritingAllocatesNothingForEachPair(t *testing.T) {
	const n = 10_000
	records := func(yield func(*merge.Sorted, error) bool) {
		var r merge.Sorted
		for r.Number = range uint64(n) {
			if !yield(&r, nil) {
				return
			}
		}
	}
	got := testing.AllocsPerRun(1, func() {
		c := &copier{targetFlags: new(targetFlags), bar: sync.OnceValue(func() *progress.Bar { return progress.Count(io.Discard, n, "writing", "pairs") })}
		err := c.fill(discardPairs{}, func(c *copier) error {
			_, err := appendChosen(c, records, ruleFirst, false)
			return err
		}, func() error { return nil })
		if err != nil || c.pairs != n {
			t.Error(c.pairs, err)
		}
	})
	if got > n/10 {
		t.Errorf("%v allocations for %d pairs", got, n)
	}
}

type discardPairs struct{}

func (discardPairs) Append(_, _ []byte) error { return nil }
