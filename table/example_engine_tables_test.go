package table_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// This file has the part of the example engine that writes its tables and replaces them.

// engineTable is a table and the name of its file.
type engineTable struct {
	name string
	*table.Reader
	users *sync.RWMutex // held by lookups and scans
}

// close waits until no lookup or scan uses the table. It keeps the lock, so that none uses it again.
func (t engineTable) close() error {
	t.users.Lock()
	return t.Close()
}

// flush writes the memory to a new table.
func (e *engine) flush() error {
	e.changing.Lock()
	defer e.changing.Unlock()
	v := e.current.Load()
	t, err := e.newTable(v.memory.iter(), func([]byte) bool { return true })
	if err != nil {
		return err
	}
	e.current.Store(&version{new(memory), append([]engineTable{t}, v.tables...)})
	return nil
}

// newTable writes a table of the wanted entries, and opens it. It closes the Iterator.
func (e *engine) newTable(it merge.Iterator, wanted func(key []byte) bool) (t engineTable, err error) {
	defer func() { err = cmp.Or(err, it.Close()) }()
	e.made++
	t.users, t.name = new(sync.RWMutex), filepath.Join(e.dir, fmt.Sprintf("%06d.ldb", e.made))
	w, err := table.Create(t.name, &table.WriterOptions{
		Comparer:          internalOrder,
		FilterPolicy:      filter.NewBloom(10),      // LevelDB and goleveldb check this one,
		TableFilterPolicy: filter.NewTableBloom(10), // RocksDB and Pebble check this one; a Reader checks both
		FilterKey:         internalkey.UserKey,
		Properties:        true,
	})
	if err != nil {
		return t, err
	}
	defer w.Abort() // does nothing after Close
	for it.Next() {
		if !wanted(it.Key()) {
			continue
		}
		if err := w.Append(it.Key(), it.Value()); err != nil {
			return t, err
		}
	}
	if err := it.Error(); err != nil {
		return t, err
	}
	if err := w.Close(); err != nil {
		return t, err
	}
	t.Reader, err = table.Open(t.name, &table.ReaderOptions{
		Comparer: internalOrder, Cache: e.cache, Metrics: &e.metrics,
	})
	return t, err
}

// compact merges all tables into one. Then it removes the old ones, once no lookup or scan uses them.
func (e *engine) compact() error {
	old, err := e.merge()
	for _, t := range old {
		err = errors.Join(err, t.close(), os.Remove(t.name))
	}
	return err
}

// merge replaces all tables by one, and returns the old ones. It keeps only the newest version of each key, and no
// deletions, so older snapshots than the last write's can no longer be read. A real engine keeps the versions that
// its snapshots see.
func (e *engine) merge() (old []engineTable, err error) {
	e.changing.Lock()
	defer e.changing.Unlock()
	v := e.current.Load()
	var its []merge.Iterator
	for _, t := range v.tables {
		its = append(its, t.NewIter(&table.IterOptions{ReadAhead: 256 << 10, DontFillCache: true}))
	}
	t, err := e.newTable(merge.New(internalOrder, its...), newest())
	if err != nil {
		return nil, err
	}
	e.current.Store(&version{v.memory, []engineTable{t}})
	return v.tables, nil
}

// newest returns a function that reports, for each key in order, whether it is the newest version of its user key,
// and not a deletion.
func newest() func(key []byte) bool {
	var last []byte
	return func(key []byte) bool {
		k, _ := internalkey.Parse(key)
		if last != nil && bytes.Equal(k.UserKey, last) {
			return false
		}
		last = append([]byte{}, k.UserKey...)
		return k.Kind != internalkey.Delete
	}
}
