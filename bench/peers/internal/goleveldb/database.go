package goleveldb

import (
	"errors"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/bench/peers/internal/history"
)

// Live makes a database in dir and does the ops with it.
func Live(dir string, o *opt.Options, ops []history.Op) (answers []history.Answer, err error) {
	db, err := leveldb.OpenFile(dir, o)
	if err != nil {
		return nil, fmt.Errorf("goleveldb: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var snapshots []*leveldb.Snapshot
	for _, op := range ops {
		var err error
		switch op.Kind {
		case history.Put:
			err = db.Put(op.Key, op.Value, nil)
		case history.Delete:
			err = db.Delete(op.Key, nil)
		case history.Compact:
			err = db.CompactRange(util.Range{})
		case history.Snapshot:
			var s *leveldb.Snapshot
			s, err = db.GetSnapshot()
			snapshots = append(snapshots, s)
		case history.Get:
			var a history.Answer
			if a.Value, err = snapshots[op.Snapshot].Get(op.Key, nil); errors.Is(err, leveldb.ErrNotFound) {
				err = nil
			} else {
				a.Found = true
			}
			answers = append(answers, a)
		}
		if err != nil {
			return nil, fmt.Errorf("goleveldb: %w", err)
		}
	}
	for _, s := range snapshots {
		s.Release()
	}
	return answers, nil
}
