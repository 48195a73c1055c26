package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// internalOrder is the order of the engine's memory and tables: internal keys, the newest
// version of each user key first.
var internalOrder = table.InternalComparer(table.BytewiseComparer)

// engine is a small storage engine. It keeps writes in memory and flushes them to tables. A lookup searches the
// memory, and then the tables, the newest first. The filters save most reads of tables that do not contain the key.
// Lookups and scans do not wait for a flush or a compaction, which replace the tables under them. A real engine also
// has a log, so that the memory survives a crash, a manifest of its tables, and a lock of its directory, and writes
// do not wait either.
type engine struct {
	dir      string
	current  atomic.Pointer[version] // for lookups; nil after close
	changing sync.Mutex              // held by writes, flushes and compactions
	sequence uint64                  // of the last write
	made     int                     // number of tables made so far
	cache    *table.Cache            // of all tables
	metrics  table.Metrics           // of all tables
}

// version is a memory and the tables with all earlier writes. A flush and a compaction create a new version. The old
// one remains for the lookups and scans that use it.
type version struct {
	memory *memory
	tables []engineTable // the newest first
}

func newEngine(dir string) *engine {
	e := &engine{dir: dir, cache: table.NewCache(8 << 20)}
	e.current.Store(&version{memory: new(memory)})
	return e
}

func (e *engine) put(key, value string) { e.write(key, value, internalkey.Set) }

// delete writes a deletion, which hides older versions in the tables.
func (e *engine) delete(key string) { e.write(key, "", internalkey.Delete) }

func (e *engine) write(key, value string, kind internalkey.Kind) {
	e.changing.Lock()
	defer e.changing.Unlock()
	e.sequence++
	k := internalkey.Key{UserKey: []byte(key), Sequence: e.sequence, Kind: kind}
	e.current.Load().memory.add(entry{k.Append(nil), []byte(value)})
}

// acquire returns the current version, with a handle on each of its tables. Until release, these
// stay open.
func (e *engine) acquire() (*version, error) {
	for {
		v := e.current.Load()
		if v == nil {
			return nil, table.ErrClosed
		}
		if acquireAll(v.tables) {
			return v, nil
		}
		// A table is being closed, so there is a newer version.
	}
}

// acquireAll takes a handle on each table. If one is being closed, it takes none and returns false.
func acquireAll(tables []engineTable) bool {
	for i, t := range tables {
		if !t.users.TryRLock() { // once close has the lock, forever
			release(tables[:i])
			return false
		}
	}
	return true
}

func release(tables []engineTable) {
	for _, t := range tables {
		t.users.RUnlock()
	}
}

// get returns the value of key as of the write with that sequence number.
func (e *engine) get(key string, sequence uint64) (string, error) {
	v, err := e.acquire()
	if err != nil {
		return "", err
	}
	defer release(v.tables)
	seek := internalkey.SearchKey(nil, []byte(key), sequence)
	if found, value := v.memory.find(seek); found != nil && sameUser(found, seek) {
		return answer(found, value)
	}
	for _, t := range v.tables {
		found, value, err := t.Find(seek)
		if err != nil && !errors.Is(err, table.ErrNotFound) {
			return "", err
		}
		if err == nil && sameUser(found, seek) {
			return answer(found, value)
		}
	}
	return "", table.ErrNotFound
}

func sameUser(a, b []byte) bool {
	return bytes.Equal(internalkey.UserKey(a), internalkey.UserKey(b))
}

func answer(key, value []byte) (string, error) {
	if k, _ := internalkey.Parse(key); k.Kind == internalkey.Delete {
		return "", table.ErrNotFound
	}
	return string(value), nil
}

// scan calls f for all keys and values, in order, as of the write with that sequence number.
func (e *engine) scan(sequence uint64, f func(key, value []byte)) error {
	v, err := e.acquire()
	if err != nil {
		return err
	}
	defer release(v.tables)
	its := []merge.Iterator{v.memory.iter()}
	for _, t := range v.tables {
		its = append(its, t.NewIter(nil))
	}
	it := merge.NewSnapshotIter(table.BytewiseComparer, merge.New(internalOrder, its...), sequence)
	for it.Next() {
		f(it.Key(), it.Value())
	}
	return it.Close()
}

// close waits for running lookups and scans. Writes must have ended.
func (e *engine) close() (err error) {
	for _, t := range e.current.Swap(nil).tables {
		err = errors.Join(err, t.close())
	}
	return err
}

// memory holds the writes that are not in a table yet. A real engine has a skip list here.
type memory struct {
	mu      sync.RWMutex
	entries []entry // in the order of internalOrder
}

// entry is an internal key and its value.
type entry struct{ key, value []byte }

func (m *memory) add(e entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = slices.Insert(m.entries, m.search(e.key), e)
}

// search returns the index of the first entry that is ≥ key.
func (m *memory) search(key []byte) int {
	i, _ := slices.BinarySearchFunc(m.entries, key, func(e entry, key []byte) int { return internalOrder.Compare(e.key, key) })
	return i
}

// find returns the first entry that is ≥ key. If there is none, both are nil.
func (m *memory) find(key []byte) (found, value []byte) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if i := m.search(key); i < len(m.entries) {
		return m.entries[i].key, m.entries[i].value
	}
	return nil, nil
}

// iter returns an Iterator over the current entries.
func (m *memory) iter() merge.Iterator {
	m.mu.RLock()
	defer m.mu.RUnlock()
	now := slices.Clone(m.entries)
	return merge.NewMemoryIter(internalOrder, len(now), func(i int) (key, value []byte) { return now[i].key, now[i].value })
}

// Example_engine is a storage engine that stores its data in tables. It has versions of
// keys, deletions, snapshots, scans, compaction, and filters that save reads.
func Example_engine() {
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	e := newEngine(dir)
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
	fmt.Println(e.get("shared", internalkey.MaxSequence))
	fmt.Println(e.get("shared", 2500)) // as of the write 2500
	fmt.Println(e.get("key-3-0500", internalkey.MaxSequence))

	for i := range 1000 {
		e.get(fmt.Sprintf("key-0-%04d", i), internalkey.MaxSequence) // in the oldest table
		e.get(fmt.Sprintf("no-key-%04d", i), internalkey.MaxSequence)
	}
	m := &e.metrics
	fmt.Printf("%d lookups in tables: filters saved the search of a block in %d of them\n", m.Lookups.Load(), m.FilterNegatives.Load())
	fmt.Printf("%d blocks read, %d false positives\n", m.BlocksRead.Load(), m.FilterFalsePositives.Load())

	fmt.Println(e.compact())
	e.put("shared", "in memory")
	keys := 0
	fmt.Println(e.scan(internalkey.MaxSequence, func(key, value []byte) { keys++ }), keys, "keys")
	v := e.current.Load()
	p, err := v.tables[0].Properties()
	fmt.Println(len(v.tables), "table of", p.Entries, "entries", err)
	// Output:
	// version 9 <nil>
	// version 2 <nil>
	//  table: key not found
	// 20012 lookups in tables: filters saved the search of a block in 19000 of them
	// 16 blocks read, 9 false positives
	// <nil>
	// <nil> 10000 keys
	// 1 table of 10000 entries <nil>
}
