package table_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// internalOrder is the order of the engine's tables: internal keys, the newest
// version of each user key first.
var internalOrder = table.InternalComparer(table.BytewiseComparer)

// engine is a small storage engine. It keeps writes in memory and flushes them to tables.
// A lookup searches the memory, and then the tables, the newest first. The filters save
// most reads of tables that do not have the key. A real engine also has a log, so that the
// memory survives a crash, a manifest of its tables, and a lock.
type engine struct {
	dir      string
	sequence uint64             // of the last write
	memory   map[string][]entry // versions of each key, the newest last
	tables   []engineTable      // the newest first
	made     int                // number of tables made so far
	cache    *table.Cache       // of all tables
	metrics  table.Metrics      // of all tables
}

// engineTable is a table and the name of its file.
type engineTable struct {
	name string
	*table.Reader
}

// entry is an internal key and its value.
type entry struct{ key, value []byte }

func (e *engine) put(key, value string) { e.write(key, value, table.KindSet) }

// delete writes a deletion, which hides older versions in the tables.
func (e *engine) delete(key string) { e.write(key, "", table.KindDelete) }

func (e *engine) write(key, value string, kind table.Kind) {
	e.sequence++
	k := table.InternalKey{UserKey: []byte(key), Sequence: e.sequence, Kind: kind}
	e.memory[key] = append(e.memory[key], entry{k.Append(nil), []byte(value)})
}

// get returns the value of key as of the write with that sequence number.
func (e *engine) get(key string, sequence uint64) (string, error) {
	for _, v := range slices.Backward(e.memory[key]) {
		if k, _ := table.ParseInternalKey(v.key); k.Sequence <= sequence {
			return answer(k, v.value)
		}
	}
	seek := table.SeekKey(nil, []byte(key), sequence)
	for _, t := range e.tables {
		found, value, err := t.Find(seek)
		if err != nil && !errors.Is(err, table.ErrNotFound) {
			return "", err
		}
		if k, ok := table.ParseInternalKey(found); ok && string(k.UserKey) == key {
			return answer(k, value)
		}
	}
	return "", table.ErrNotFound
}

func answer(k table.InternalKey, value []byte) (string, error) {
	if k.Kind == table.KindDelete {
		return "", table.ErrNotFound
	}
	return string(value), nil
}

// flush writes the memory to a new table.
func (e *engine) flush() error {
	var all []entry
	for _, versions := range e.memory {
		all = append(all, versions...)
	}
	slices.SortFunc(all, func(a, b entry) int { return internalOrder.Compare(a.key, b.key) })
	t, err := e.newTable(func(yield func(key, value []byte) error) error {
		for _, v := range all {
			if err := yield(v.key, v.value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.tables = slices.Insert(e.tables, 0, t)
	clear(e.memory)
	return nil
}

// newTable writes a table and opens it.
func (e *engine) newTable(entries func(yield func(key, value []byte) error) error) (t engineTable, err error) {
	e.made++
	t.name = filepath.Join(e.dir, fmt.Sprintf("%06d.ldb", e.made))
	w, err := table.Create(t.name, &table.WriterOptions{
		Comparer:          internalOrder,
		FilterPolicy:      filter.NewBloom(10),      // LevelDB and goleveldb check this one,
		TableFilterPolicy: filter.NewTableBloom(10), // RocksDB and Pebble check this one; a Reader checks both
		FilterKey:         table.InternalFilterKey,
		Properties:        true,
	})
	if err != nil {
		return t, err
	}
	defer w.Abort() // does nothing after Close
	if err = entries(w.Append); err == nil {
		err = w.Close()
	}
	if err != nil {
		return t, err
	}
	t.Reader, err = table.Open(t.name, &table.ReaderOptions{
		Comparer: internalOrder, Cache: e.cache, Metrics: &e.metrics,
	})
	return t, err
}

// compact merges all tables into one. It keeps only the newest version of each key, and no
// deletions, so there must be no snapshots. A real engine keeps the versions that its
// snapshots see.
func (e *engine) compact() error {
	var its []table.Iterator
	for _, t := range e.tables {
		its = append(its, t.NewIter(&table.IterOptions{ReadAhead: 256 << 10, NoFill: true}))
	}
	all := table.NewMergingIter(internalOrder, its...)
	merged, err := e.newTable(func(yield func(key, value []byte) error) error {
		return newest(all, yield)
	})
	if err = cmp.Or(err, all.Close()); err != nil {
		return err
	}
	old := e.tables
	e.tables = []engineTable{merged}
	err = closeAll(old)
	for _, t := range old {
		err = errors.Join(err, os.Remove(t.name))
	}
	return err
}

// newest yields the newest version of each key, unless it is a deletion.
func newest(it table.Iterator, yield func(key, value []byte) error) error {
	var last []byte
	for ok := it.First(); ok; ok = it.Next() {
		k, _ := table.ParseInternalKey(it.Key())
		if last != nil && bytes.Equal(k.UserKey, last) {
			continue
		}
		last = append([]byte{}, k.UserKey...)
		if k.Kind == table.KindDelete {
			continue
		}
		if err := yield(it.Key(), it.Value()); err != nil {
			return err
		}
	}
	return it.Error()
}

func (e *engine) close() error { return closeAll(e.tables) }

func closeAll(tables []engineTable) (err error) {
	for _, t := range tables {
		err = errors.Join(err, t.Close())
	}
	return err
}

// Example_engine is a storage engine that stores its data in tables. It has versions of
// keys, deletions, snapshots, compaction, and filters that save reads.
func Example_engine() {
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	e := &engine{dir: dir, memory: map[string][]entry{}, cache: table.NewCache(8 << 20)}
	defer e.close()

	// Ten tables: each has a thousand keys of its own, and a version of the key "shared".
	for round := range 10 {
		e.put("shared", fmt.Sprint("version ", round))
		for i := range 1000 {
			e.put(fmt.Sprintf("key-%d-%04d", round, i), "some value")
		}
		if round == 7 {
			e.delete("key-3-0500")
		}
		if err := e.flush(); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(e.get("shared", e.sequence))
	fmt.Println(e.get("shared", 2500)) // as of the write 2500
	fmt.Println(e.get("key-3-0500", e.sequence))

	for i := range 1000 {
		e.get(fmt.Sprintf("key-0-%04d", i), e.sequence) // in the oldest table
		e.get(fmt.Sprintf("no-key-%04d", i), e.sequence)
	}
	m := &e.metrics
	fmt.Printf("%d lookups in tables: filters saved the search of a block in %d of them\n", m.Lookups.Load(), m.FilterNegatives.Load())
	fmt.Printf("%d blocks read, %d false positives\n", m.DataBlocks.Load(), m.FilterFalsePositives.Load())

	fmt.Println(e.compact())
	p, err := e.tables[0].Properties()
	fmt.Println(len(e.tables), "table of", p.Entries, "entries", err)
	// Output:
	// version 9 <nil>
	// version 2 <nil>
	//  table: key not found
	// 20012 lookups in tables: filters saved the search of a block in 19000 of them
	// 16 blocks read, 9 false positives
	// <nil>
	// 1 table of 10000 entries <nil>
}
