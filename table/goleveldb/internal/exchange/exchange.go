// Package exchange runs the same workload with goleveldb's engine on any table package.
package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// keys is the number of keys in the workload.
const keys = 20_000

// cacheSize is the capacity of the block cache in bytes. The database is larger.
const cacheSize = 1 << 20

// options returns the options of a database with many small tables.
func options(seed uint64) *opt.Options {
	return &opt.Options{
		Filter:              filter.NewBloomFilter(10),
		WriteBuffer:         256 << 10,
		CompactionTableSize: 256 << 10,
		BlockCacheCapacity:  cacheSize,
		Compression:         []opt.Compression{opt.SnappyCompression, opt.NoCompression}[seed%2],
		Strict:              opt.StrictAll,
	}
}

// key returns key number i, and value returns the value that it gets in a round.
func key(i int) []byte { return fmt.Appendf(nil, "key%08d", i) }

func value(i int, round uint64) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "value %d of round %d, ", i, round), 1+i%5)
}

// model returns the contents of the database after Write with that seed: the round of each key, or 0 if it is
// absent.
func model(seed uint64, put func(i int, round uint64) error, remove func(i int) error) (rounds []uint64, err error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	rounds = make([]uint64, keys)
	for n := range 3 * keys {
		i, round := rng.IntN(keys), uint64(n+1)
		if rng.IntN(5) == 0 {
			rounds[i], err = 0, remove(i)
		} else {
			rounds[i], err = round, put(i, round)
		}
		if err != nil {
			return nil, err
		}
	}
	return rounds, nil
}

// Write writes to the database in dir, and compacts the first half of its keys.
func Write(dir string, seed uint64) error {
	db, err := leveldb.OpenFile(dir, options(seed))
	if err != nil {
		return err
	}
	defer db.Close()
	put := func(i int, round uint64) error { return db.Put(key(i), value(i, round), nil) }
	if _, err := model(seed, put, func(i int) error { return db.Delete(key(i), nil) }); err != nil {
		return err
	}
	if err := db.CompactRange(util.Range{Limit: key(keys / 2)}); err != nil {
		return err
	}
	return db.Close()
}

// Check checks that the database in dir contains the entries that Write with that seed has written.
func Check(dir string, seed uint64) error {
	none := func(int) error { return nil }
	rounds, err := model(seed, func(int, uint64) error { return nil }, none)
	if err != nil {
		return err
	}
	db, err := leveldb.OpenFile(dir, options(seed))
	if err != nil {
		return err
	}
	defer db.Close()
	for i, round := range rounds {
		if err := checkGet(db, i, round); err != nil {
			return err
		}
	}
	if err := errors.Join(checkScan(db, rounds), checkStatistics(db)); err != nil {
		return err
	}
	return db.Close()
}

// checkGet looks a key up.
func checkGet(db *leveldb.DB, i int, round uint64) error {
	got, err := db.Get(key(i), nil)
	switch {
	case round == 0 && err == leveldb.ErrNotFound:
		return nil
	case round == 0:
		return fmt.Errorf("exchange: Get(%s) = %.40q, %v, want ErrNotFound", key(i), got, err)
	case err != nil || !bytes.Equal(got, value(i, round)):
		return fmt.Errorf("exchange: Get(%s) = %.40q, %v, want %.40q", key(i), got, err, value(i, round))
	}
	return nil
}

// checkStatistics checks the engine's statistics of its caches after everything was read.
func checkStatistics(db *leveldb.DB) error {
	for _, p := range []struct {
		name        string
		least, most int
	}{
		{"leveldb.cachedblock", cacheSize / 2, cacheSize + cacheSize/32},
		{"leveldb.openedtables", 2, 100},
	} {
		s, err := db.GetProperty(p.name)
		if err != nil {
			return err
		}
		if n, err := strconv.Atoi(s); err != nil || n < p.least || n > p.most {
			return fmt.Errorf("exchange: %s is %s, want %d to %d", p.name, s, p.least, p.most)
		}
	}
	return nil
}

// checkScan iterates over the database, forward and then backward.
func checkScan(db *leveldb.DB, rounds []uint64) error {
	it := db.NewIterator(nil, nil)
	defer it.Release()
	for i, round := range rounds {
		if round == 0 {
			continue
		}
		if !it.Next() || !bytes.Equal(it.Key(), key(i)) || !bytes.Equal(it.Value(), value(i, round)) {
			return fmt.Errorf("exchange: Next: %s, %.40q, %v, want %s, %.40q", it.Key(), it.Value(), it.Error(), key(i), value(i, round))
		}
	}
	if it.Next() || it.Error() != nil {
		return fmt.Errorf("exchange: Next: %s, %v, want the end", it.Key(), it.Error())
	}
	for i := len(rounds) - 1; i >= 0; i-- {
		if rounds[i] != 0 && (!it.Prev() || !bytes.Equal(it.Key(), key(i))) {
			return fmt.Errorf("exchange: Prev: %s, %v, want %s", it.Key(), it.Error(), key(i))
		}
	}
	return it.Error()
}
