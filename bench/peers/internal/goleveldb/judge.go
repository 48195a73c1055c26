package goleveldb

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/bench/peers/internal/history"
)

// Judge opens the database in dir with all checks, prints its pairs as sst scan -f hex does, does the
// Puts and Deletes, compacts it and closes it; then it opens it again, and prints a line "again" and
// the pairs that it has by then.
func Judge(dir string, order comparer.Comparer, ops []history.Op, out io.Writer) error {
	o := &opt.Options{
		Comparer: order, Filter: filter.NewBloomFilter(10), ErrorIfMissing: true, Strict: opt.StrictAll, WriteBuffer: 64 << 10,
	}
	if err := with(dir, o, func(db *leveldb.DB) error { return judge(db, ops, out) }); err != nil {
		return err
	}
	fmt.Fprintln(out, "again")
	return with(dir, o, func(db *leveldb.DB) error { return printAll(db, out) })
}

// with opens a database, does something with it, and closes it.
func with(dir string, o *opt.Options, do func(*leveldb.DB) error) error {
	db, err := leveldb.OpenFile(dir, o)
	if err != nil {
		return fmt.Errorf("goleveldb: %w", err)
	}
	if err := errors.Join(do(db), db.Close()); err != nil {
		return fmt.Errorf("goleveldb: %w", err)
	}
	return nil
}

// judge prints the database, writes to it and compacts it.
func judge(db *leveldb.DB, ops []history.Op, out io.Writer) error {
	if err := printAll(db, out); err != nil {
		return err
	}
	for _, op := range ops {
		var err error
		if op.Kind == history.Delete {
			err = db.Delete(op.Key, nil)
		} else {
			err = db.Put(op.Key, op.Value, nil)
		}
		if err != nil {
			return err
		}
	}
	return db.CompactRange(util.Range{})
}

// printAll prints all pairs, and checks that lookups find each key, and none that is longer.
func printAll(db *leveldb.DB, out io.Writer) error {
	it := db.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		if _, err := fmt.Fprintf(out, "%x\t%x\n", it.Key(), it.Value()); err != nil {
			return err
		}
		if v, err := db.Get(it.Key(), nil); err != nil || !bytes.Equal(v, it.Value()) {
			return fmt.Errorf("%q: Get returns a value of %d bytes, %w", it.Key(), len(v), err)
		}
		if v, err := db.Get(append(it.Key()[:len(it.Key()):len(it.Key())], "~~"...), nil); !errors.Is(err, leveldb.ErrNotFound) {
			return fmt.Errorf("%q, which is not there: Get returns a value of %d bytes, %w", it.Key(), len(v), err)
		}
	}
	return it.Error()
}
