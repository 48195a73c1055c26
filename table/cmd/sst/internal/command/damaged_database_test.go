package command

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/long"
)

// writeOverwritten has goleveldb write a database of several levels and a live log: keys that are
// written again and again, of which many are deleted.
func writeOverwritten(t *testing.T, rng *rand.Rand, dir string) {
	t.Helper()
	o := &opt.Options{WriteBuffer: 16<<10 + rng.IntN(64<<10), CompactionTableSize: 8<<10 + rng.IntN(16<<10), BlockSize: 1 << 10, Filter: filter.NewBloomFilter(10)}
	writeTo(t, dir, o, func(db *leveldb.DB) (err error) {
		for i := range 6000 + rng.IntN(3000) {
			batch := new(leveldb.Batch)
			for range 1 + rng.IntN(3) {
				key := fmt.Appendf(nil, "key%04d", rng.IntN(2500))
				if rng.IntN(4) == 0 {
					batch.Delete(key)
				} else {
					batch.Put(key, fmt.Appendf(nil, "value %d %0*d", i, rng.IntN(100), 1))
				}
			}
			err = errors.Join(err, db.Write(batch, nil))
		}
		return err
	})
}

// Whatever is damaged of a database, what lies outside is shown, and nothing older in the place of
// what is lost without a message.
func TestDamagedDatabases(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	databases, damages := 1, 12
	if long.Enabled() {
		databases, damages = 5, 100
	}
	for seed := range databases {
		rng := rand.New(rand.NewPCG(uint64(seed), 28))
		dir := filepath.Join(t.TempDir(), "db")
		writeOverwritten(t, rng, dir)
		s, err := dbdamage.Read(sst, dir)
		noError(t, err)
		for _, err := range s.Try(rng, damages, t.TempDir) {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
