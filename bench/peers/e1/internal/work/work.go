// Package work does what E1 measures, in a database of goleveldb's engine. Which tables the engine
// has is decided where the program is built.
package work

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/workload"
)

// A bench is a database and what is asked of it.
type bench struct {
	db  *leveldb.DB
	set workload.Set
	rng *rand.Rand
}

// A work is one row of E1.
type work struct {
	Name string
	run  func(b *bench) (Count, error)
}

// A Count is what a work has done. Engines that do the same have the same Count.
type Count struct {
	Ops int    // operations: puts, lookups, seeks, or entries of a scan
	Sum uint64 // of bytes that were found
}

// works are the works of E1 in their order. The first two fill the database; the others can be
// repeated.
var works = []work{
	{"fillrandom", (*bench).fillRandom},
	{"CompactRange", (*bench).compactRange},
	{"readrandom", func(b *bench) (Count, error) { return b.read(len(b.set.Keys)) }},
	{"readmissing", (*bench).readMissing},
	{"readhot", func(b *bench) (Count, error) { return b.read(max(1, len(b.set.Keys)/100)) }},
	{"seekrandom", (*bench).seekRandom},
	{"readseq", func(b *bench) (Count, error) { return b.scan((*bench).next) }},
	{"readreverse", func(b *bench) (Count, error) { return b.scan((*bench).prev) }},
}

// Names returns the names of all works: those that are done once, and those that can be repeated.
func Names() (once, repeated []string) {
	for i, w := range works {
		if i < 2 {
			once = append(once, w.Name)
		} else {
			repeated = append(repeated, w.Name)
		}
	}
	return once, repeated
}

// openBench opens a database in dir with E1's options.
func openBench(dir string, keys, cacheBytes int) (*bench, error) {
	db, err := leveldb.OpenFile(dir, &opt.Options{
		BlockCacheCapacity: cacheBytes,
		Compression:        opt.SnappyCompression,
		Filter:             filter.NewBloomFilter(10),
	})
	if err != nil {
		return nil, err
	}
	b := &bench{db: db, set: workload.W1(keys)}
	workload.Pack(b.set.Keys)
	workload.Pack(b.set.Values)
	return b, nil
}

// do does the work of that name. The same work asks for the same keys each time.
func (b *bench) do(name string) (Count, error) {
	b.rng = rand.New(rand.NewPCG(1, 1))
	for _, w := range works {
		if w.Name == name {
			return w.run(b)
		}
	}
	return Count{}, fmt.Errorf("work: no work %q", name)
}

func (b *bench) fillRandom() (c Count, err error) {
	for _, i := range b.set.Hits {
		if err := b.db.Put(b.set.Keys[i], b.set.Values[i], nil); err != nil {
			return c, err
		}
		c.Ops++
	}
	return c, nil
}

func (b *bench) compactRange() (Count, error) {
	return Count{Ops: len(b.set.Keys)}, b.db.CompactRange(util.Range{})
}

// read looks keys up, in a random order, of a number of keys that lie anywhere.
func (b *bench) read(keys int) (c Count, err error) {
	for range b.set.Keys {
		value, err := b.db.Get(b.set.Keys[b.set.Hits[b.rng.IntN(keys)]], nil)
		if err != nil {
			return c, err
		}
		c.add(value)
		c.Ops++
	}
	return c, nil
}

// add adds what was found to the Sum.
func (c *Count) add(value []byte) {
	c.Sum += uint64(len(value)) + uint64(value[0])<<8
}

func (b *bench) readMissing() (c Count, err error) {
	for range b.set.Absent {
		_, err := b.db.Get(b.set.Absent[b.rng.IntN(len(b.set.Absent))], nil)
		if !errors.Is(err, leveldb.ErrNotFound) {
			return c, fmt.Errorf("work: an absent key: %w", err)
		}
		c.Ops++
	}
	return c, nil
}

// seekRandom seeks a key and moves on by ten entries, each time by a new iterator.
func (b *bench) seekRandom() (c Count, err error) {
	for range max(1, len(b.set.Keys)/4) {
		it := b.db.NewIterator(nil, nil)
		ok := it.Seek(b.set.Keys[b.rng.IntN(len(b.set.Keys))])
		for i := 0; ok && i < 10; i++ {
			c.add(it.Value())
			ok = it.Next()
		}
		it.Release()
		if err := it.Error(); err != nil {
			return c, err
		}
		c.Ops++
	}
	return c, nil
}

// An iteratorMove moves an iterator over the whole database by one entry.
type iteratorMove func(b *bench, it mover) bool

type mover interface {
	Next() bool
	Prev() bool
	Last() bool
	Valid() bool
	Value() []byte
}

func (b *bench) next(it mover) bool { return it.Next() }

func (b *bench) prev(it mover) bool {
	if !it.Valid() {
		return it.Last()
	}
	return it.Prev()
}

// scan moves over all entries.
func (b *bench) scan(move iteratorMove) (c Count, err error) {
	it := b.db.NewIterator(nil, nil)
	defer it.Release()
	for c.Ops < len(b.set.Keys) && move(b, it) {
		c.add(it.Value())
		c.Ops++
	}
	if err := it.Error(); err != nil || c.Ops < len(b.set.Keys) {
		return c, fmt.Errorf("work: a scan of %d keys came to %d: %w", len(b.set.Keys), c.Ops, err)
	}
	return c, nil
}
