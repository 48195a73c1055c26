package main

import (
	"errors"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

var bucketName = []byte("urls")

// bboltFile returns the file of the database in dir.
func bboltFile(dir string) string { return filepath.Join(dir, "db") }

// writeBbolt writes the keys into a database, in transactions of 100,000 keys.
func writeBbolt(dir string, k *keyFile) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	db, err := bbolt.Open(bboltFile(dir), 0o666, nil)
	if err != nil {
		return err
	}
	for err == nil && k.left > 0 {
		err = db.Update(func(tx *bbolt.Tx) error { return putBbolt(tx, k) })
	}
	return errors.Join(err, db.Close())
}

func putBbolt(tx *bbolt.Tx, k *keyFile) error {
	b, err := tx.CreateBucketIfNotExists(bucketName)
	if err != nil {
		return err
	}
	b.FillPercent = 1
	return k.each(100_000, func(key []byte) error { return b.Put(key, nil) })
}

// A bboltDB is a database with a read transaction.
type bboltDB struct {
	db     *bbolt.DB
	tx     *bbolt.Tx
	bucket *bbolt.Bucket
}

func openBbolt(dir string, _ int) (database, error) {
	db, err := bbolt.Open(bboltFile(dir), 0o666, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	tx, err := db.Begin(false)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	b := tx.Bucket(bucketName)
	if b == nil {
		return nil, errors.Join(errors.New("bbolt: the database has no bucket of URLs"), tx.Rollback(), db.Close())
	}
	return &bboltDB{db, tx, b}, nil
}

func (b *bboltDB) Has(key []byte) (bool, error) { return b.bucket.Get(key) != nil, nil }

func (b *bboltDB) Close() error { return errors.Join(b.tx.Rollback(), b.db.Close()) }
