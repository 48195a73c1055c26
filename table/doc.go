// Package table writes and reads SSTables, LevelDB's table files: immutable, sorted key-value pairs, with Bloom filters
// that rule out most absent keys before a data block is read. goleveldb and C++ LevelDB read these files, and this
// package reads theirs.
//
//	w, err := table.Create("users.ldb", &table.WriterOptions{FilterPolicy: filter.NewBloom(10)})
//	if err != nil { ... }
//	defer w.Abort()        // a no-op after Close
//	... w.Append(key, value) ... // in ascending key order
//	return w.Close()       // the file now exists, complete and synced
//
//	r, err := table.Open("users.ldb", nil)
//	if err != nil { ... }
//	defer r.Close()
//	value, err := r.Get(key) // ErrNotFound if key is absent
//
// A Reader is safe for concurrent use. Whatever bytes a file has, methods return its contents or an error, and never
// panic. table/README.md describes the file format and what makes lookups fast, SECURITY.md the limits.
//
// Tables of a LevelDB database have internal keys: open them with an [InternalComparer], and look up user keys with
// [Reader.Find] and [internalkey.SearchKey]. Package table/database reads whole databases, table/merge iterates over
// many tables, and table/set queries many tables as if they were one.
package table
