// Package merge has iterators over many tables, and a [Sorter] for pairs that do not fit in memory. Each iterator is
// an [Iterator], so they can be combined:
//
//   - A [LevelIter] iterates over the tables of a database's level, one after another.
//   - An [Iter] merges Iterators, such as all levels.
//   - A [MemoryIter] iterates over entries in memory, such as a memtable.
//   - A [SnapshotIter] turns internal keys into user keys, as a snapshot sees them.
//
// The example "Engine" of package [table] is an LSM engine built on them.
package merge
