// Package database reads the databases of LevelDB: those of C++ LevelDB and goleveldb, with their
// logs, also while an engine has them open and writes to them. And it writes new ones, which these
// engines open: see [Writer].
//
//	db, err := database.Open("chaindata", nil)
//	if err != nil { … }
//	defer db.Close()
//	value, err := db.Get(key) // table.ErrNotFound if the database does not have the key
//	for e, err := range db.All(&table.IterOptions{Lower: from, Upper: to}) { … }
//
// A database is a directory. Its file CURRENT names a MANIFEST, which lists the tables that count,
// by levels. Other tables there are obsolete, and have keys that were deleted since. The newest writes
// are in no table yet: they are in a log. So a program that reads all the tables by itself, as
// package [table] can, shows old values and deleted keys.
//
// # What is read
//
// A [DB] is the database as it was when [Open] read it, and never changes. What the engine writes
// later is seen by the next Open. Open takes no lock, and does not write. It opens all tables and reads
// the logs into memory: see Open for what that takes. If LazyTables of [Options] is set, each table is opened at its
// first use.
//
// [DB.At] shows the database as of a sequence number. An engine numbers its writes from 1 on.
//
// # Trust
//
// If a file is missing or corrupt, that is an error, which names the file, the part and the offset. By default no
// lookup and no iterator passes over it, since that would show what was overwritten or deleted.
//
// Open fails if CURRENT or the MANIFEST is missing or corrupt, if the MANIFEST lists what no engine would, if a live
// log is missing or has lost a write, and if a table is missing, too short, or has a corrupt footer or index.
// With LazyTables, such a table is an error of the lookups and moves that need it.
// A corrupt data block is an error of the lookups and moves that read it. An unfinished record at the end of a log or
// of the MANIFEST is normal: the engine is writing it, or has crashed.
//
// To read what is left of a damaged database, set OnLoss of [Options] and of [table.IterOptions]: they are called
// with each [table.Loss], and decide whether reading goes on without it. A lookup never does: its error is a
// [*merge.HiddenError], which has the newest value in the other tables. Keys that are out of their table's range, or
// of a kind that LevelDB lacks, fail iterators all the same. The command "sst scan DIR" passes over them, and
// "sst repair DIR -o NEW" finds even more.
//
// Package table says what else holds of the tables. The bounds of memory that it has for hostile files
// hold here too, with the sum of the sizes of all files. That a table has the keys that the MANIFEST
// says is checked by iterators, but not by Get: sst verify DIR compares all.
package database
