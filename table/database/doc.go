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
// the logs into memory: see Open for what that takes.
//
// [DB.At] shows the database as of a sequence number. An engine numbers its writes from 1 on.
//
// # Trust
//
// What is missing or damaged is an error, which names the file, and the part and the offset in it. No
// lookup passes over it, since that would show what was overwritten or deleted. To read what is left
// of a damaged database, use the command sst: sst scan DIR shows it, and says what was lost.
//
// These are errors of Open: a CURRENT, a MANIFEST or a live log that is missing or damaged, a lost
// write between two others, and a table that is missing, of another size than the MANIFEST says, or
// whose footer, index or filters cannot be read. Damage in a data block is an error of the lookups
// and moves that read it. An incomplete record at the end of a log or of the MANIFEST is no damage: the
// engine writes it right now, or was ended meanwhile.
//
// Package table says what else holds of the tables. The bounds of memory that it has for hostile files
// hold here too, with the sum of the sizes of all files. That a table has the keys that the MANIFEST
// says is checked by iterators, but not by Get: sst verify DIR compares all.
package database
