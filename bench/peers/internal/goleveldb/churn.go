package goleveldb

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/bench/peers/internal/history"
)

// Churn opens the database in dir, or a new one, with what makes tables and logs small,
// prints a line when that is done, and does with it what the Ops of in say.
func Churn(dir string, in io.Reader, out io.Writer) (err error) {
	db, err := leveldb.OpenFile(dir, &opt.Options{
		Filter: filter.NewBloomFilter(10), WriteBuffer: 32 << 10, BlockSize: 1 << 10,
		CompactionTableSize: 64 << 10, CompactionTotalSize: 256 << 10,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	c := churner{db: db}
	for r := bufio.NewReader(in); err == nil; {
		var op history.Op
		if op, err = history.Read(r); err == nil {
			err = c.do(op)
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// churner has a database, snapshots of it, and the writes that wait for their commit.
type churner struct {
	db        *leveldb.DB
	snapshots []*leveldb.Snapshot
	batch     leveldb.Batch
}

func (c *churner) do(op history.Op) error {
	switch op.Kind {
	case history.Put:
		c.batch.Put(op.Key, op.Value)
	case history.Delete:
		c.batch.Delete(op.Key)
	case history.Commit:
		err := c.db.Write(&c.batch, &opt.WriteOptions{Sync: op.Snapshot == 1})
		c.batch.Reset()
		return err
	case history.CompactRange:
		return c.db.CompactRange(util.Range{Start: op.Key, Limit: op.Value})
	case history.Snapshot:
		s, err := c.db.GetSnapshot()
		c.snapshots = append(c.snapshots, s)
		return err
	case history.Release:
		for _, s := range c.snapshots {
			s.Release()
		}
		c.snapshots = nil
	default:
		return fmt.Errorf("goleveldb: kind %d is no part of churning", op.Kind)
	}
	return nil
}

// Dump recovers the database in dir, and prints its pairs as sst scan -f hex does.
func Dump(dir string, out io.Writer) (err error) {
	db, err := leveldb.OpenFile(dir, &opt.Options{ErrorIfMissing: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	it := db.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		if _, err := fmt.Fprintf(out, "%x\t%x\n", it.Key(), it.Value()); err != nil {
			return err
		}
	}
	return it.Error()
}
