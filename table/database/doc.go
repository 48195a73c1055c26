// Package database reads LevelDB databases, even while an engine such as C++ LevelDB or goleveldb writes to them, and
// writes new ones.
//
//	db, err := database.Open("chaindata", nil)
//	if err != nil { ... }
//	defer db.Close()
//	value, err := db.Get(key) // table.ErrNotFound if the key is absent
//	for e, err := range db.All(&table.IterOptions{Lower: from, Upper: to}) { ... }
//
// # Reading
//
// A [DB] is a snapshot of the database at the time of [Open]. To see later writes, open it again. Open takes no lock
// and writes nothing. It opens all tables, unless LazyTables of [Options] is set, and reads the logs into memory.
//
// Never read the tables of a database individually. Only the MANIFEST says which tables are current: others contain
// overwritten and deleted entries. Recent writes are only in a log.
//
// # Corrupt databases
//
// If a file is missing or corrupt, Open returns an error that names the file and offset. A corrupt data block is an
// error of the lookups and iterators that read it. Nothing is skipped by default, since overwritten and deleted
// entries could reappear. An unfinished record at the end of a log is normal: the engine is writing it, or has
// crashed. If a transaction of goleveldb follows a log, it can be unknown whether the log was cut. Open then returns
// an error that names the writes.
//
// To read what is left, set OnLoss of [Options] and of [table.IterOptions]. They are called with each [table.Loss],
// and decide whether reading continues without it. A lookup that needs a lost table returns a [*merge.HiddenError],
// which has the newest value in other tables. The commands "sst scan DIR" and "sst repair DIR -o NEW" recover even
// more.
//
// Memory is bounded by the sizes of the files: see package [table]. Get does not compare the first and last key of
// a table with the MANIFEST. Iterators do, and so does "sst verify DIR".
//
// # Writing
//
// [Create] returns a [Writer] of a new database, which LevelDB and goleveldb can open. Append keys in order, then
// call Close.
package database
