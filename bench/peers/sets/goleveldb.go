package main

import (
	"errors"
	"time"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

func goleveldbOptions(n int) *opt.Options {
	return &opt.Options{
		BlockCacheCapacity:     int(cacheBytes(n)),
		BlockSize:              blockSize,
		CompactionTableSize:    32 << 20,
		Filter:                 filter.NewBloomFilter(bitsPerKey),
		OpenFilesCacheCapacity: 16384,
		WriteBuffer:            32 << 20,
	}
}

// writeGoleveldb writes the keys into a database in batches. It opens the database again, so that the log becomes a
// table.
func writeGoleveldb(dir string, k *keyFile) error {
	for _, write := range []func(*leveldb.DB) error{func(db *leveldb.DB) error { return putGoleveldb(db, k) }, settle} {
		db, err := leveldb.OpenFile(dir, goleveldbOptions(k.n))
		if err != nil {
			return err
		}
		if err := errors.Join(write(db), db.Close()); err != nil {
			return err
		}
	}
	return nil
}

func putGoleveldb(db *leveldb.DB, k *keyFile) error {
	var batch leveldb.Batch
	for k.left > 0 {
		batch.Reset()
		err := k.each(1000, func(key []byte) error { batch.Put(key, nil); return nil })
		if err != nil {
			return err
		}
		if err := db.Write(&batch, nil); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until level 0 has too few tables for a compaction.
func settle(db *leveldb.DB) error {
	for {
		var s leveldb.DBStats
		if err := db.Stats(&s); err != nil {
			return err
		}
		if len(s.LevelTablesCounts) == 0 || s.LevelTablesCounts[0] < opt.DefaultCompactionL0Trigger {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A goleveldbDB is a read-only database.
type goleveldbDB struct{ *leveldb.DB }

func openGoleveldb(dir string, n int) (database, error) {
	o := goleveldbOptions(n)
	o.ReadOnly = true
	db, err := leveldb.OpenFile(dir, o)
	return goleveldbDB{db}, err
}

func (g goleveldbDB) Has(key []byte) (bool, error) { return g.DB.Has(key, nil) }
