package command

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/long"
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

// goleveldb takes a database that sst builds for one of its own: it reads it, writes to it, compacts it
// and reads it again.
func TestBuiltDatabaseIsThatOfAnEngine(t *testing.T) {
	t.Parallel()
	inputs := 8
	if long.Enabled() {
		inputs = 100
	}
	for seed := range inputs {
		rng := rand.New(rand.NewPCG(uint64(seed), 32))
		want, lines := randomInput(rng)
		in, dir := filepath.Join(t.TempDir(), "in.tsv"), filepath.Join(t.TempDir(), "db")
		writeFile(t, in, lines)
		bits := []int{-1, 1 + rng.IntN(20)}[rng.IntN(2)]
		mustSST(t, "build", "--database", "-o", dir, fmt.Sprintf("--table-size=%d", 1+rng.IntN(100_000)), fmt.Sprintf("--bits=%d", bits),
			fmt.Sprintf("--block-size=%d", 1+rng.IntN(8000)), fmt.Sprintf("--compression=%s", []string{"none", "snappy"}[rng.IntN(2)]), in)
		o := &opt.Options{Strict: opt.StrictAll, ErrorIfMissing: true, Filter: filter.NewBloomFilter(10)}
		got, err := entriesOf(leveldb.OpenFile(dir, o))
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("seed %d: goleveldb reads %d entries, %v; want %d", seed, len(got), err, len(want))
		}
		db, err := leveldb.OpenFile(dir, o)
		for i := range 500 {
			key := fmt.Sprint(rng.IntN(1000))
			if want[key] = fmt.Sprint("new ", i); err == nil {
				err = db.Put([]byte(key), []byte(want[key]), nil)
			}
		}
		if err == nil {
			err = errors.Join(db.CompactRange(util.Range{}), db.Close())
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got, err = entriesOf(leveldb.OpenFile(dir, o)); err != nil || !maps.Equal(got, want) {
			t.Fatalf("seed %d: after writes goleveldb reads %d entries, %v; want %d", seed, len(got), err, len(want))
		}
		mustSST(t, "verify", dir)
	}
}
