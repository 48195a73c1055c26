package database_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// For any database, and any missing or corrupt tables, lookups and iterators of several goroutines have the same
// results with LazyTables as without, including errors and losses. Keys outside of corrupt tables' ranges have the
// written values.
func TestLazyTablesChangeNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(long.Rounds(40, 1500)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 71))
			r := newRandom(rng, 1+rng.IntN(150))
			if rng.IntN(4) == 0 {
				r.extension = "sst"
			}
			dir := onDisk(t, r.build(t))
			damaged := damageTables(t, rng, dir)
			eager, lazy := openBoth(t, rng, dir)
			if diff := cmp.Diff(eager.Tables(), lazy.Tables()); diff != "" || eager.LastSequence() != lazy.LastSequence() {
				t.Errorf("last sequence numbers %d and %d; tables (-eager +lazy):\n%s", eager.LastSequence(), lazy.LastSequence(), diff)
			}
			keys := append(r.keys, "absent", "key5\x00", "key")
			sequences := []uint64{internalkey.MaxSequence, r.writes[rng.IntN(len(r.writes))].Sequence}
			var readers sync.WaitGroup
			for script := range uint64(4) {
				readers.Go(func() {
					sequence := sequences[script%2]
					got := transcript(lazy.At(sequence), keys, script)
					if diff := cmp.Diff(transcript(eager.At(sequence), keys, script), got); diff != "" {
						t.Errorf("as of %d (-eager +lazy):\n%s", sequence, diff)
					}
				})
			}
			readers.Wait()
			checkUndamaged(t, r, lazy, keys, damaged)
		})
	}
}

// damageTables damages some tables of a database, and returns the numbers of their files.
func damageTables(t *testing.T, rng *rand.Rand, dir string) (damaged []uint64) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.[ls][ds][bt]"))
	noError(t, err)
	for _, path := range paths {
		if rng.IntN(4) > 0 {
			continue
		}
		_, _, err := dbdamage.Apply(rng, path, dbdamage.Kinds[rng.IntN(len(dbdamage.Kinds))])
		noError(t, err)
		number, err := strconv.ParseUint(filepath.Base(path)[:6], 10, 64)
		noError(t, err)
		damaged = append(damaged, number)
	}
	return damaged
}

// openBoth opens a database without LazyTables, accepting all losses, and with it. The options are random.
func openBoth(t *testing.T, rng *rand.Rand, dir string) (eager, lazy *database.DB) {
	t.Helper()
	eagerly := randomOptions(rng)
	lazily := eagerly
	eagerly.OnLoss, lazily.LazyTables = isTrue, true
	if rng.IntN(2) == 0 {
		return openFS(t, os.DirFS(dir), &eagerly), openFS(t, os.DirFS(dir), &lazily)
	}
	return openDir(t, dir, &eagerly), openDir(t, dir, &lazily)
}

// transcript returns a View's results for random keys, from lookups and moves of iterators. script is the seed.
func transcript(v database.View, keys []string, script uint64) (all []string) {
	rng := rand.New(rand.NewPCG(script, 72))
	key := func() []byte { return []byte(keys[rng.IntN(len(keys))]) }
	asked := make([][]byte, 30)
	for i := range asked {
		asked[i] = key()
		value, err := v.Get(asked[i])
		appended, appendErr := v.AppendGet(nil, asked[i])
		all = append(all, fmt.Sprintf("Get(%q) = %q, %v; AppendGet %q, %v", asked[i], value, err, appended, appendErr))
	}
	many := make([]string, len(asked))
	o := &table.GetManyOptions{NoAnswer: func(i int, err error) { many[i] = err.Error() }}
	v.GetMany(context.Background(), asked, o, func(i int, value []byte) error { // NoAnswer gets its errors
		many[i] = fmt.Sprintf("%q", value)
		return nil
	})
	all = append(all, many...)
	lower, upper := key(), key()
	for _, o := range []table.IterOptions{{}, {Lower: lower}, {Upper: upper}, {Lower: lower, Upper: upper}, {OnLoss: isTrue}} {
		if o.OnLoss != nil {
			o.OnLoss = func(l table.Loss) bool {
				all = append(all, fmt.Sprintf("loss of %s at %d, keys %q to %q: %v", l.File, l.Offset, l.From, l.To, l.Err))
				return true
			}
		}
		it := v.NewIter(&o)
		for range 40 {
			move, ok, _ := tabletest.Step(rng, it, new(tabletest.Model), key())
			all = append(all, fmt.Sprintf("%s: %t, %q, %q, %v", move, ok, it.Key(), it.Value(), it.Error()))
		}
		all = append(all, fmt.Sprint("Close: ", it.Close()))
	}
	return all
}

// checkUndamaged checks the keys outside of corrupt tables' ranges.
func checkUndamaged(t *testing.T, r *random, db *database.DB, keys []string, damaged []uint64) {
	t.Helper()
	want := asOf(r.writes, internalkey.MaxSequence)
	for _, key := range keys {
		canHave := func(m database.Table) bool {
			return r.order().Compare(m.Smallest.UserKey, []byte(key)) <= 0 && r.order().Compare([]byte(key), m.Largest.UserKey) <= 0
		}
		if !slices.ContainsFunc(db.Tables(), func(m database.Table) bool { return slices.Contains(damaged, m.Number) && canHave(m) }) {
			value, there := want[key]
			checkGet(t, db.View, key, value, there)
		}
	}
}
