package goleveldb

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/bench/peers/internal/history"
)

// with opens a database, calls do, and closes it.
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

// A liver performs Ops on a database. It holds the snapshots, the uncommitted writes and the answers.
type liver struct {
	db        *leveldb.DB
	snapshots []*leveldb.Snapshot
	batch     leveldb.Batch
	answers   []history.Answer
}

// live opens or creates the database in dir, calls do, and closes the database.
func live(dir string, o *opt.Options, do func(l *liver) error) error {
	return with(dir, o, func(db *leveldb.DB) error {
		l := &liver{db: db}
		defer l.release()
		return do(l)
	})
}

func (l *liver) release() {
	for _, s := range l.snapshots {
		s.Release()
	}
	l.snapshots = nil
}

func (l *liver) do(op history.Op) error {
	switch op.Kind {
	case history.Put:
		l.batch.Put(op.Key, op.Value)
	case history.Delete:
		l.batch.Delete(op.Key)
	case history.Commit:
		err := l.db.Write(&l.batch, &opt.WriteOptions{Sync: op.Snapshot == 1})
		l.batch.Reset()
		return err
	case history.Compact:
		return l.db.CompactRange(util.Range{})
	case history.CompactRange:
		return l.db.CompactRange(util.Range{Start: op.Key, Limit: op.Value})
	case history.Snapshot:
		s, err := l.db.GetSnapshot()
		l.snapshots = append(l.snapshots, s)
		return err
	case history.Release:
		l.release()
	case history.Get:
		value, err := l.snapshots[op.Snapshot].Get(op.Key, nil)
		l.answers = append(l.answers, history.Answer{Found: err == nil, Value: value})
		if !errors.Is(err, leveldb.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Live creates a database in dir and performs the ops.
func Live(dir string, o *opt.Options, ops []history.Op) (answers []history.Answer, err error) {
	err = live(dir, o, func(l *liver) error {
		for _, op := range ops {
			if err := l.do(op); err != nil {
				return err
			}
		}
		answers = l.answers
		return nil
	})
	return answers, err
}

// Churn opens or creates the database in dir, with options for small tables and logs. Then it prints a line, and
// performs the Ops that it reads from in.
func Churn(dir string, in io.Reader, out io.Writer) error {
	o := &opt.Options{
		Filter: filter.NewBloomFilter(10), WriteBuffer: 32 << 10, BlockSize: 1 << 10,
		CompactionTableSize: 64 << 10, CompactionTotalSize: 256 << 10,
	}
	return live(dir, o, func(l *liver) error {
		_, err := fmt.Fprintln(out, "ready")
		for r := bufio.NewReader(in); err == nil; {
			var op history.Op
			if op, err = history.Read(r); err == nil {
				err = l.do(op)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	})
}

// Dump recovers the database in dir, and prints its pairs in the format of sst scan -f hex.
func Dump(dir string, out io.Writer) error {
	return with(dir, &opt.Options{ErrorIfMissing: true}, func(db *leveldb.DB) error {
		return printEach(db, out, func(_, _ []byte) error { return nil })
	})
}

// Repair has goleveldb repair the database in dir, and prints all readable pairs in the format of sst scan -f hex.
func Repair(dir string, out io.Writer) error {
	db, err := leveldb.RecoverFile(dir, nil)
	if err == nil {
		err = db.Close()
	}
	return errors.Join(err, Dump(dir, out))
}

// Judge opens the database in dir with all checks, prints its pairs in the format of sst scan -f hex, performs the
// Puts and Deletes, compacts the database, and closes it. Then it opens it again, and prints a line "again" and the
// pairs.
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

// judge prints the database, writes to it and compacts it.
func judge(db *leveldb.DB, ops []history.Op, out io.Writer) error {
	if err := printAll(db, out); err != nil {
		return err
	}
	l := liver{db: db}
	for _, op := range ops {
		if err := errors.Join(l.do(op), l.do(history.Op{Kind: history.Commit})); err != nil {
			return err
		}
	}
	return db.CompactRange(util.Range{})
}

// printAll prints all pairs. It checks that lookups find each key, but not the key followed by "~~".
func printAll(db *leveldb.DB, out io.Writer) error {
	return printEach(db, out, func(key, value []byte) error {
		if v, err := db.Get(key, nil); err != nil || !bytes.Equal(v, value) {
			return fmt.Errorf("%q: Get returns a value of %d bytes, %v", key, len(v), err)
		}
		if v, err := db.Get(append(slices.Clip(key), "~~"...), nil); !errors.Is(err, leveldb.ErrNotFound) {
			return fmt.Errorf("%q followed by ~~, which is absent: Get returns a value of %d bytes, %v", key, len(v), err)
		}
		return nil
	})
}

// printEach prints all pairs, and calls check with each.
func printEach(db *leveldb.DB, out io.Writer, check func(key, value []byte) error) error {
	it := db.NewIterator(nil, nil)
	defer it.Release()
	for it.Next() {
		_, err := fmt.Fprintf(out, "%x\t%x\n", it.Key(), it.Value())
		if err := errors.Join(err, check(it.Key(), it.Value())); err != nil {
			return err
		}
	}
	return it.Error()
}
