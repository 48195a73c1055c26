// Package merge has iterators over many tables, and a [Sorter] of pairs that do not fit into memory. Each iterator is an [Iterator],
// and is built on others:
//
//   - A [LevelIter] goes through the tables of a level of a database, one after the other.
//   - An [Iter] merges Iterators, such as all levels.
//   - A [MemoryIter] is over entries in memory, such as a memtable.
//   - A [SnapshotIter] turns internal keys into user keys, as a snapshot sees them.
//
// The example "Engine" of package [table] is an LSM engine that is built on them.
package merge
